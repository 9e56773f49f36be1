"""Pictures of verdicts: one function, all functions, several parameters, and the rules between functions."""
