"""Pictures of runs in a store, and the store as one page."""
