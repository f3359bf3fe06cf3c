"""A program's own window to drive in: keys and pad by pygame-ce, the same mapping as on the page.

| module | what |
|---|---|
| `controls` | pygame's events as `Controls` |
| `hud` | how the vehicle is, in words |
| `loop` | all of it, paced to the clock: camera pictures, or PyBullet's window and a small one for keys |
"""

import os

os.environ.setdefault("PYGAME_HIDE_SUPPORT_PROMPT", "1")  # It would greet on standard output.
