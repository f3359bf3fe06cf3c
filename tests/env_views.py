"""Views of robots that tests put somewhere, without an engine or after moving a robot in one."""

import numpy as np
from env_actions import STILL, robot_of

from segtrack import terrain
from segtrack.envs import TaskView
from segtrack.envs.task import Paths
from segtrack.envs.view import LOOK_AHEAD, RobotMotions
from segtrack.geometry import rotation_of


def view_at(path, x, y, z=0.1, roll=0.0, pitch=0.0, yaw=0.0, *, turning=(0.0, 0.0, 0.0), **given):
    """View of one robot beside a path; `given` replaces what follows the heading error."""
    none, place = np.zeros((1, 0)), np.array([[x, y, z]])
    motion = RobotMotions(
        position=place,
        orientation=np.array([[0.0, 0.0, 0.0, 1.0]]),
        rotation=rotation_of((roll, -pitch, yaw))[None],
        velocity=np.zeros((1, 3)),
        angular_velocity=np.array([turning]),
        belt_travels=none,
        belt_speeds=none,
        belt_forces=none,
        belt_energies=none,
        flipper_angles=none,
        flipper_speeds=none,
        flipper_torques=none,
        joint_positions=none,
        joint_speeds=none,
        joint_forces=none,
    )
    paths = Paths([path])
    progress, lateral, heading = paths.locate(place[:, :2])
    rest = {
        "action": STILL[None],
        "last_action": STILL[None],
        "work": np.zeros(1),
        "gained": np.zeros(1),
        "time": np.zeros(1),
        "acceleration": np.zeros((1, 3)),
        "outcome": np.array(["running"]),
        "period": 0.05,
        "height": lambda x, y: terrain.Plane().height_at(x, y),
        "parameter": lambda name: np.zeros(1),
        "readings": None,
        "memory": lambda name: np.zeros((1, 0)),
    }
    ahead = paths.at(progress + LOOK_AHEAD)
    return TaskView.of(motion, progress, lateral, heading, paths.length, ahead, **rest | given)


def view_now(env):
    """View of an environment's robot where a test has moved it since the last step."""
    view, names = env.view, TaskView._fields
    first, last = names.index("progress"), names.index("heading_error")
    rest = dict(zip(names[last + 1 :], view[last + 1 :], strict=True))
    return TaskView.of(RobotMotions.of_robot(robot_of(env)), *view[first:last], **rest)
