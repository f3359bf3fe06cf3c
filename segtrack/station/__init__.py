"""Operator's station: a page in a browser on which a person drives a robot in real time.

Built from the bottom up: `protocol`, the messages between page and station; `inputs`, what is held as a
command; `simulation` and `web`, the two processes; `serve`, both as a program; `measure`, its delays and
rates. `page` is the page's own code, `window` a window without a browser.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
