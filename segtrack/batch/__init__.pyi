from .batch import TRACK_MODELS as TRACK_MODELS
from .batch import Batch as Batch
from .readings import BatchContacts as BatchContacts
from .readings import BatchState as BatchState
from .readings import BatchTracks as BatchTracks
from .readings import JointStates as JointStates
