"""What all widgets share: scripts and styles, parts, figures, pieces of markup."""
