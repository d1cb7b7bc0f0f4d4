"""What people look at: text on terminals, pictures, and pages."""
