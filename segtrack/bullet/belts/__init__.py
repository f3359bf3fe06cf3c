"""The belts that PyBullet holds or carries, one module a track model."""
