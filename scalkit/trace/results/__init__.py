"""What an analysis returns: waits by metric, call path and location, and sums of them."""
