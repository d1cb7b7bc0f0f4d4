"""What several releases leak together, and what a mechanism leaks under another prior."""
