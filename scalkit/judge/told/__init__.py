"""Verdicts in words: sentences, remarks, and the tables that notebooks show."""
