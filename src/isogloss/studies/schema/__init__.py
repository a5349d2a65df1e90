"""Study files: what may be written in them, how they are read and checked."""
