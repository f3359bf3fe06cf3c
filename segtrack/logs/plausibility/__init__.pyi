from .check import check_plausibility as check_plausibility
from .finding import Finding as Finding
from .finding import ImplausibleLogError as ImplausibleLogError
from .finding import Observation as Observation
from .finding import Plausibility as Plausibility
from .finding import Remedy as Remedy
from .finding import refuse as refuse
