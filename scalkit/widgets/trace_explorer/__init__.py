"""The explorer of waits in a trace and its panes."""
