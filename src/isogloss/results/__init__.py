"""Results as rows, and the tables and figures that are queries over them."""
