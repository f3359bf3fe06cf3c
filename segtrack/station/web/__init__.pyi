from .app import create_app as create_app
from .catalogue import Catalogue as Catalogue
from .catalogue import Library as Library
from .catalogue import default_folder as default_folder
from .client import MAX_CONNECTIONS as MAX_CONNECTIONS
from .guard import CountedWebSocket as CountedWebSocket
from .guard import TimedHttp as TimedHttp
from .hub import Hub as Hub
