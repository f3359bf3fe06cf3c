"""Clocks of a log's sources against each other, and how a sensor sits on its vehicle."""
