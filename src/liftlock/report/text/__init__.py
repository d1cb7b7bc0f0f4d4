"""What commands print on a terminal, one module for each."""
