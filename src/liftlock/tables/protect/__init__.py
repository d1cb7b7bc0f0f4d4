"""Protecting the columns of a table: learn, design, account, release, and say what was done."""
