from .exported import ExportedVehicle as ExportedVehicle
from .exported import export_vehicle as export_vehicle
from .formats import FORMATS as FORMATS
from .formats import Format as Format
from .remarks import ExportRemark as ExportRemark
from .remarks import Fate as Fate
