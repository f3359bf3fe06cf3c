from .compare import compare as compare
from .compare import report as report
from .fit import climbs as climbs
from .fit import fit as fit
from .fit import turns as turns
from .listing import list_reports as list_reports
from .read import inspect as inspect
from .read import map_file as map_file
