"""The explorer of a store and its lists."""
