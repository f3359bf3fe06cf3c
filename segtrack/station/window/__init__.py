"""A program's own window to drive in: keys and pad by pygame-ce, the same mapping as on the page.

| module | what |
|---|---|
| `controls` | pygame's events as `Controls` |
| `views` | what is shown: pictures of a camera, or PyBullet's window beside a small one that takes the keys |
| `hud` | how the vehicle is, in words |
| `loop` | all of it, paced to the clock |
"""

import os

os.environ.setdefault("PYGAME_HIDE_SUPPORT_PROMPT", "1")  # It would greet on standard output.
