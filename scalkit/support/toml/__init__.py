"""Reads and writes TOML: the lines of a file, and files with a layout of their own."""
