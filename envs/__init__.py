"""Gymnasium environments: tracked robots at steps, stairs, gaps, on rough ground and along paths.

Importing this registers them, so that `gymnasium.make("segtrack/StepClimb-v0")` works; without
an import of one's own, `gymnasium.make("segtrack.envs:segtrack/StepClimb-v0")` does.
"""

import gymnasium
import lazy_loader

from segtrack.envs.tasks import TASKS

__getattr__, _, __all__ = lazy_loader.attach_stub(__name__, __file__)

TASK_ID = "segtrack/Task-v0"
"""Environment of a task that is given: `gymnasium.make("segtrack/Task-v0", task=MyTask())`."""
IDS = tuple(f"segtrack/{name}-v0" for name in TASKS)
"""Environments of the tasks that come with segtrack."""
__all__ += ["IDS", "TASK_ID"]


def __dir__() -> list[str]:
    """Return the public names."""
    return __all__


_TASKS: dict[str, str | None] = {TASK_ID: None, **dict(zip(IDS, TASKS, strict=True))}
for _id, _task in _TASKS.items():
    if _id not in gymnasium.registry:
        gymnasium.register(
            _id,
            entry_point="segtrack.envs.environment:Environment",
            vector_entry_point="segtrack.envs.vector:VectorEnvironment",
            kwargs={"task": _task},
        )
