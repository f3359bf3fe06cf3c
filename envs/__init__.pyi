from .actuators import ActionMapping as ActionMapping
from .actuators import Actuators as Actuators
from .codes import OUTCOMES as OUTCOMES
from .environment import Environment as Environment
from .episode import TaskState as TaskState
from .episode_world import EpisodeWorld as EpisodeWorld
from .memory import Memory as Memory
from .memory import memory_part as memory_part
from .memory import random_commands as random_commands
from .observation import EXTRA_PARTS as EXTRA_PARTS
from .observation import PARTS as PARTS
from .observation import ObservationPart as ObservationPart
from .observation import ObservationSetup as ObservationSetup
from .observation import Scan as Scan
from .observation import parameter_part as parameter_part
from .parameters import Distribution as Distribution
from .parameters import LogUniform as LogUniform
from .parameters import Number as Number
from .rays import ray_part as ray_part
from .rewards import TERMS as TERMS
from .rewards import Term as Term
from .sensors import Group as Group
from .sensors import SensorModel as SensorModel
from .setup import CourseTask as CourseTask
from .setup import EnvironmentOptions as EnvironmentOptions
from .setup import TaskSetup as TaskSetup
from .task import EpisodeCourse as EpisodeCourse
from .task import Task as Task
from .task import straight as straight
from .tasks import TASKS as TASKS
from .tasks import RoughTerrain as RoughTerrain
from .tasks import Traverse as Traverse
from .vector import VectorEnvironment as VectorEnvironment
from .view import RobotMotions as RobotMotions
from .view import TaskView as TaskView

TASK_ID: str
IDS: tuple[str, ...]
