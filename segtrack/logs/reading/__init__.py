"""Files of any kind that logs come in, read into a `Log`, and written from a `Motion`."""
