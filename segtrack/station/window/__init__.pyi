from .loop import DriveWindow as DriveWindow
from .loop import window_help as window_help
