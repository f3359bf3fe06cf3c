"""Files of bags: their messages in the order of the file, as far as there are any.

| module | what |
|---|---|
| `mcap`, `ros1`, `sqlite` | by the kind of file |
| `records` | what the first two have in common: records in a row, and going on behind a damaged place |
| `sqlite_rows` | rows of a damaged SQLite file, by what they look like |
| `unpacking` | what there is of compressed bytes |
"""
