from .clock_fit import ClockFit as ClockFit
from .clock_fit import Estimate as Estimate
from .clock_fit import SensorMounting as SensorMounting
from .clock_fit import fit_to_receive_times as fit_to_receive_times
from .motion_fit import fit_clock as fit_clock
from .views import SEEN as SEEN
from .views import Seen as Seen
