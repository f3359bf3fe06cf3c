from .measure import machine as machine
from .measure import measure_station as measure_station
from .serve import StationOptions as StationOptions
from .serve import serve_station as serve_station
