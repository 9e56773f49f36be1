"""The one judge: what is chosen, what is judged by what, and the verdicts, of which only those that change are computed."""
