"""The vehicle file: where it is, its YAML, and the checks with every mistake of it."""
