"""The tables, the map and the band of Okada et al. 2020."""
