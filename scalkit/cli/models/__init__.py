"""The actions of `scalkit model`."""
