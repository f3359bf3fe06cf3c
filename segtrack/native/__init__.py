"""The engine of our own."""
