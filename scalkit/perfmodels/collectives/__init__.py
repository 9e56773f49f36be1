"""Models of collective operations, and measured operations beside them."""
