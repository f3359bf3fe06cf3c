"""Parameters of a vehicle fitted to logs: the best, how uncertain it is, and what cannot be told."""
