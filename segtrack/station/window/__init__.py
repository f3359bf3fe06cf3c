"""Window for driving from a program: keys and gamepad by pygame-ce, mapped as on the page.

| module | what |
|---|---|
| `controls` | pygame's events as `Controls` |
| `loop` | views and instruments, paced to the clock: pictures, or PyBullet's window and one for keys |
"""

import os

import lazy_loader

os.environ.setdefault("PYGAME_HIDE_SUPPORT_PROMPT", "1")  # It would greet on standard output.

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
