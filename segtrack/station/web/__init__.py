"""Web process: clients, their requests, and the messages to them.

`guard` lets requests in, and ends idle or flooding connections. `hub` decides the effect of a message, `crew`
who drives; `client` is one socket's end with its limits and its link. `run` gives the simulation orders and
maps controls, `trials` are on it, `viewing` replays recordings, `catalogue` has the choices on offer and the
station's folder, `report_process` draws reports, and `app` puts them behind a page.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
