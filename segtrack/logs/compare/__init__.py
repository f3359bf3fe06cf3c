"""A logged motion beside a simulated one: phases, errors, and what is uncertain about each."""
