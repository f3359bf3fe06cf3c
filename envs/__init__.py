"""Gymnasium environments: tracked robots at steps, stairs, gaps, on rough ground and along paths.

Importing this registers them, so that `gymnasium.make("segtrack/StepClimb-v0")` works; without
an import of one's own, `gymnasium.make("segtrack.envs:segtrack/StepClimb-v0")` does.
"""

import gymnasium

from segtrack.envs.actuators import ActionMapping, Actuators
from segtrack.envs.course_task import CourseTask
from segtrack.envs.environment import Environment
from segtrack.envs.episode import TaskState
from segtrack.envs.observation import ObservationPart, ObservationSetup, Scan
from segtrack.envs.rewards import Term
from segtrack.envs.task import Task
from segtrack.envs.tasks import TASKS
from segtrack.envs.view import TaskView

__all__ = [
    "IDS",
    "TASKS",
    "TASK_ID",
    "ActionMapping",
    "Actuators",
    "CourseTask",
    "Environment",
    "ObservationPart",
    "ObservationSetup",
    "Scan",
    "Task",
    "TaskState",
    "TaskView",
    "Term",
]

TASK_ID = "segtrack/Task-v0"
"""Environment of a task that is given: `gymnasium.make("segtrack/Task-v0", task=MyTask())`."""
IDS = tuple(f"segtrack/{name}-v0" for name in TASKS)
"""Environments of the tasks that come with segtrack."""

_TASKS: dict[str, str | None] = {TASK_ID: None, **dict(zip(IDS, TASKS, strict=True))}
for _id, _task in _TASKS.items():
    if _id not in gymnasium.registry:
        gymnasium.register(
            _id,
            entry_point="segtrack.envs.environment:Environment",
            vector_entry_point="segtrack.envs.vector:VectorEnvironment",
            kwargs={"task": _task},
        )
