"""Pictures of performance models, of collective operations and of messages."""
