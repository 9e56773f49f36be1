"""Sections of reports: each function takes a page and returns the values of its template, or None for no section."""
