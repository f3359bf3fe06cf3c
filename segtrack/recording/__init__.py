"""Recorded drives: setup, commands, simulation tick by tick, and a file of them all.

| module | what |
|---|---|
| `setup` | setup of a drive, and a driver's command |
| `session` | the drive as it is simulated |
| `recorder` | writing it to a file meanwhile |
| `messages` | the file's messages |
| `storage` | how exact its numbers are, and its compression |
| `recording` | reading the file |
| `replay` | simulating it again, for comparison, films and tables |
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
