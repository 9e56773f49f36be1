"""Any program, any parameters: a command with placeholders, measured at every point."""
