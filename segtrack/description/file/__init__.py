"""Files in YAML: where vehicle files are, and how any file is read and checked, with every mistake of it."""
