"""A body that is a URDF: what is wrong with it, what mounts on it, and what it says of its links."""
