from .actuators import ActionMapping as ActionMapping
from .actuators import Actuators as Actuators
from .codes import OUTCOMES as OUTCOMES
from .environment import Environment as Environment
from .episode import TaskState as TaskState
from .episode_world import EpisodeWorld as EpisodeWorld
from .observation import PARTS as PARTS
from .observation import ObservationPart as ObservationPart
from .observation import ObservationSetup as ObservationSetup
from .observation import Scan as Scan
from .parameters import Number as Number
from .rewards import TERMS as TERMS
from .rewards import Term as Term
from .setup import CourseTask as CourseTask
from .setup import EnvironmentOptions as EnvironmentOptions
from .setup import TaskSetup as TaskSetup
from .task import EpisodeCourse as EpisodeCourse
from .task import Task as Task
from .task import straight as straight
from .tasks import TASKS as TASKS
from .tasks import Traverse as Traverse
from .vector import VectorEnvironment as VectorEnvironment
from .view import RobotMotions as RobotMotions
from .view import TaskView as TaskView

TASK_ID: str
IDS: tuple[str, ...]
