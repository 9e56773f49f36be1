"""The explorer of a validation and its parts."""
