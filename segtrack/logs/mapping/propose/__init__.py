"""A mapping file for a log whose message types or headers are known; what cannot be known is left to be said."""
