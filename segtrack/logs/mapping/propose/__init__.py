"""A mapping file for a log of known types or headers; what cannot be known is left to be said.

| module | what |
|---|---|
| `entry` | what is proposed of a quantity |
| `propose` | the text: what was found, and TODO where the user has to say something |
| `by_type` | topics by their message types |
| `by_header` | columns by their names and units |
| `words` | a name without its unit, and the unit |
"""

from segtrack.logs.mapping.propose.propose import propose

__all__ = ["propose"]
