"""Pictures of guidelines: all of them by size, one group of tests, one test."""
