"""Contact of a chain's shoes with the terrain; the laws are those of `segtrack.ground`."""
