from .command import run as run
