"""Mapping files: which channel of a log is which quantity; from a `Log` to a `Motion`."""
