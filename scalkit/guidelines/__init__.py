"""Guidelines: what must not be slower than what, judged on measurements of several runs."""
