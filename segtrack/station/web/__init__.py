"""Web process: clients, their requests, and the messages to them.

`guard` lets requests in, and `connections` ends idle or flooding ones. `hub` decides
the effect of a message, `seats` who drives; `client` is one socket's end with its limits, `status` what it is
told. `steering` maps controls, `run` gives the simulation orders, `viewing` replays recordings, `catalogue`
has the choices on offer and the station's folder, and `app` puts them behind a page.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
