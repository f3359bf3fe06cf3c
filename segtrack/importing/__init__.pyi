from .findings import Certainty as Certainty
from .findings import ImportFinding as ImportFinding
from .imported import ImportedRobot as ImportedRobot
from .imported import import_robot as import_robot
from .settings import UNITS as UNITS
from .settings import Question as Question
from .trial import TrialDrive as TrialDrive
from .trial import drive_trial as drive_trial
