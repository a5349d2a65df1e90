"""`isogloss serve`: a local web page over a store of studies. It reads the store and never writes to it."""
