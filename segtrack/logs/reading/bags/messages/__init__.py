"""Messages of ROS: the numbers in them, read at once for all that are built alike.

| module | what |
|---|---|
| `types` | the fields of message types |
| `cursor` | a place in a message that goes from field to field |
| `layout` | where in a message its numbers are |
| `topic` | the messages of a topic as numbers |
| `source` | these put together, in the order of the file |
| `units` | units that standard message types prescribe |
"""
