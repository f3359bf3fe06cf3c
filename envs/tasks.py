"""The tasks there are."""

from segtrack.envs.drive import Drive
from segtrack.envs.gap_cross import GapCross
from segtrack.envs.rough_terrain import RoughTerrain
from segtrack.envs.stair_climb import StairClimb
from segtrack.envs.step_climb import StepClimb
from segtrack.envs.task import Task
from segtrack.errors import UnknownNameError

TASKS: dict[str, type[Task]] = {
    task.name: task for task in (StepClimb, StairClimb, GapCross, RoughTerrain, Drive)
}


def find_task(name: str) -> type[Task]:
    """A task by its name.

    Raises:
        UnknownNameError: There is none of that name.
    """
    if name not in TASKS:
        raise UnknownNameError("task", name, TASKS)
    return TASKS[name]
