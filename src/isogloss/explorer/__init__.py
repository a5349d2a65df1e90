"""`isogloss serve`: a local web application that shows a store of studies. It never writes to the store."""
