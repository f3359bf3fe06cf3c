"""The engine of our own: vehicles on described terrain, each a tree of links with belts or link chains.

A vehicle's steps are compiled (`step`) and go on for as long as a control step lasts in one call. Arrays have
room for N vehicles of one kind side by side; constants are shared. Vehicles touch the
ground, and not each other.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
