"""Belt paths, grouser placement and belt phase: pure numpy, no engine, no file format."""
