from .log import Channel as Channel
from .log import Log as Log
