"""`isogloss demo`: one study and one diagnosis in the laboratory, and the text printed about them."""
