"""A log driven again in simulation, from the same start, by commanded and by measured belts."""
