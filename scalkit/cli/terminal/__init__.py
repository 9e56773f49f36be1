"""What a terminal shows while something runs."""
