"""The web process: who is connected, what they ask for, and what they see.

`guard` lets requests in, and `connections` ends those that ask for nothing, or for too much. `hub` decides
what a message does, `seats` who drives; `client` is one socket's end with its limits, `status` what it is
told. `steering` maps controls, `run` gives the simulation orders, `viewing` replays recordings, `catalogue`
is what can be chosen and what lies in the station's folder, and `app` puts them behind a page.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
