"""Gymnasium environments: tracked robots at steps, stairs, gaps, on rough ground and along paths.

Importing this registers them, so that `gymnasium.make("segtrack/StepClimb-v0")` works; without
an import of one's own, `gymnasium.make("segtrack.envs:segtrack/StepClimb-v0")` does.
"""

import gymnasium

from segtrack.envs.curriculum import Curriculum
from segtrack.envs.environment import Environment
from segtrack.envs.observation import Scan
from segtrack.envs.task import Task, TaskState
from segtrack.envs.tasks import TASKS

__all__ = ["IDS", "TASKS", "Curriculum", "Environment", "Scan", "TaskState", "Task"]

IDS = tuple(f"segtrack/{name}-v0" for name in TASKS)
"""The registered environments."""

for _id, _name in zip(IDS, TASKS, strict=True):
    if _id not in gymnasium.registry:
        gymnasium.register(_id, entry_point="segtrack.envs.environment:Environment", kwargs={"task": _name})
