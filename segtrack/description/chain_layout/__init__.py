"""A track as a link chain: the design that a vehicle file asks for, or the belt suggests.

What the file leaves open is derived so that the chain stands for the same belt: as many shoes
as grousers, as heavy together as the belt, their outer faces on the belt's outer face. The
pins lie near the middle of the belt's thickness, where a whole number of teeth fits the
sprocket. The arc that turns most is the driven wheel, the one farthest from it the idler,
which slides on a tensioner; free rollers carry the straight pieces.

`loop` finds the pins' path, `shoes`, `wheels` and `contacts` what runs on it, `design` joins them.
"""

from segtrack.description.chain_layout.design import track_design

__all__ = ["track_design"]
