from .findings import Certainty as Certainty
from .findings import Finding as Finding
from .imported import ImportedRobot as ImportedRobot
from .imported import import_robot as import_robot
from .settings import UNITS as UNITS
from .settings import Question as Question
from .trial import Trial as Trial
from .trial import drive_trial as drive_trial
