"""A prior of their own for each person, and so a mechanism of their own."""
