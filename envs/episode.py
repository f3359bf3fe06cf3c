"""Episodes of N robots side by side: observations, rewards and ends."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from segtrack.engine import ActuatorState
from segtrack.envs.memory import Memories
from segtrack.envs.parameters import ROBOT_PARAMETERS, Number, Values
from segtrack.envs.sensors import Perception, not_finite
from segtrack.envs.setup import TaskSetup
from segtrack.envs.task import EpisodeCourse, PathPoint, Paths, outcomes_of
from segtrack.envs.view import (
    LOOK_AHEAD,
    CourseGrounds,
    GroundSampler,
    Readings,
    RobotHeights,
    RobotMotions,
    RobotReader,
    RobotReadings,
    Rows,
    TaskView,
)
from segtrack.errors import UnknownNameError
from segtrack.robot import RobotState, longitudinal_slip


def _longest_delay() -> int:
    delay = ROBOT_PARAMETERS["action_delay"]
    assert isinstance(delay, Number)
    return int(delay.high)


class TaskState(NamedTuple):
    """State of one robot in its episode, in plain numbers.

    Attributes:
        state: Pose and velocity of the robot.
        place: Place of the robot on the course's path.
        action: Latest action as given (n,), in [-1, 1].
        last_action: Action before that (n,), in [-1, 1].
        work: Work of the belt drives in this step, without regenerated work [J].
        course: Terrain and path.
        actuators: State of belts, flippers and joints.
        up: World z component of the body's z axis [-].
        forward: Body's x axis in the world (3,).
        heading_error: Angle by which the body must turn left to head along the path [rad].
    """

    state: RobotState
    place: PathPoint
    action: NDArray[np.float32]
    last_action: NDArray[np.float32]
    work: float
    course: EpisodeCourse
    actuators: ActuatorState
    up: float
    forward: tuple[float, float, float]
    heading_error: float

    @classmethod
    def of(cls, view: TaskView, course: EpisodeCourse, i: int = 0) -> TaskState:
        """Take one robot's state from a view."""
        motion, attitude = view.motion, (view.roll, view.pitch, view.yaw)
        poses = motion.position, motion.orientation, motion.velocity, motion.angular_velocity
        pose: Any = (tuple(array[i].tolist()) for array in poses)
        forward_x, forward_y, forward_z = view.forward[i].tolist()
        return cls(
            RobotState(*pose, *(float(angle[i]) for angle in attitude)),
            PathPoint(float(view.progress[i]), float(view.lateral[i]), float(view.path_heading[i])),
            view.action[i],
            view.last_action[i],
            float(view.work[i]),
            course,
            ActuatorState(*(array[i] for array in motion[5:])),
            float(view.up[i]),
            (forward_x, forward_y, forward_z),
            float(view.heading_error[i]),
        )


class Ends(NamedTuple):
    """Rewards and ends of n robots after a control step.

    Attributes:
        rewards: Rewards (n,).
        terminated: True for robots that succeeded or failed (n,).
        truncated: True for robots whose time is over, or whose simulation diverged (n,).
        terms: Weighted terms of the reward, by name (n,).
        slip: Longitudinal slip ratio: mean belt speed against the motion along the body's x axis (n,) [-].
    """

    rewards: NDArray[np.float64]
    terminated: NDArray[np.bool_]
    truncated: NDArray[np.bool_]
    terms: dict[str, NDArray[np.float64]]
    slip: NDArray[np.float64]


class Episodes:
    """Episodes of N robots, each with its own course, parameters and random generator.

    Methods take the indices (n,) of the robots that they are about, and rows for these alone.

    Attributes:
        courses: Terrain and path of each robot (N,).
        values: Parameter values of each robot (N,).
        view: View of the robots after their latest control step.
        perception: State of the sensors, with the latest observations.
        pushed: True if any robot may be pushed.
        outcome: Outcome of each robot, `running` until its end (N,).
        steps: Number of control steps so far (N,).
        elapsed: Wall time of the simulation so far (N,) [s].
        energy: Work of all belt drives so far (N,) [J].
    """

    view: TaskView

    def __init__(
        self, setup: TaskSetup, count: int, reader: RobotReader, grounds: GroundSampler | None = None
    ) -> None:
        """Allocate arrays for robots whose episodes have not begun.

        Args:
            setup: Task, robot and sensors.
            count: Number of robots.
            reader: Readings of the robots in their engine.
            grounds: Terrain heights below the robots; by default from their courses.
        """
        self._setup = setup
        self.courses: list[EpisodeCourse] = []
        self._grounds: GroundSampler = CourseGrounds(self.courses) if grounds is None else grounds
        self.values: list[Values] = []
        self._rngs: list[np.random.Generator] = []
        actions = len(setup.actuators.names)
        self._given = np.zeros((_longest_delay() + 1, count, actions), np.float32)
        self._readings, self._memories = Readings(reader), Memories(setup.memories, count)
        self._potentials = {name: np.zeros(count) for name in setup.reward.potential_names}
        self.perception = Perception(setup.groups, count)
        self.outcome = np.full(count, "running", dtype="<U10")
        self.steps = np.zeros(count, dtype=np.intp)
        self.elapsed, self.energy = np.zeros((2, count))
        self._over = np.zeros(count, np.intp)  # Control steps that were over at the start.
        self._delays, self._pushes = np.zeros(count, np.intp), np.zeros((count, 2))

    def __len__(self) -> int:
        """Number of robots."""
        return len(self.steps)

    def begin(
        self,
        chosen: Rows,
        courses: Sequence[EpisodeCourse],
        values: Sequence[Values],
        rngs: Sequence[np.random.Generator],
        motion: RobotMotions,
    ) -> None:
        """Begin episodes of robots where they stand; the first call must be for all.

        Args:
            chosen: Indices of the robots (n,).
            courses: Terrain and path of each robot (n,).
            values: Parameter values of each robot (n,).
            rngs: Random generator of each robot's sensors (n,).
            motion: Motions of the robots.

        Raises:
            InvalidValueError: NaN in a part of the observation.
        """
        setup = self._setup
        if not self.courses:
            self.courses[:], self.values, self._rngs = courses, list(values), list(rngs)
            self._paths = Paths([course.path for course in courses])
        for k, i in enumerate(chosen.tolist()):
            self.courses[i], self.values[i], self._rngs[i] = courses[k], values[k], rngs[k]
            self._paths.replace(i, courses[k].path)
        self._given[:, chosen] = 0.0
        self._delays[chosen] = [own["action_delay"] for own in values]
        fractions = np.array([own["initial_time"] for own in values], dtype=float)
        self._over[chosen] = fractions * setup.time_limit / setup.control_period
        self._pushes[chosen] = [(own["push"], own["push_interval"]) for own in values]
        self.pushed = bool(self._pushes[:, 0].any())
        noises = np.array([own["sensor_noise"] for own in values], dtype=float)
        self.perception.begin(chosen, noises, rngs)
        self.steps[chosen], self.elapsed[chosen], self.energy[chosen] = 0, 0.0, 0.0
        self.outcome[chosen] = "running"
        still = np.zeros_like(self._given[0, chosen])
        now = self._look(chosen, motion, still, still, motion.belt_energies, np.zeros_like(motion.velocity))
        self._memories.begin(chosen, now, rngs)
        if self._potentials:
            for name, potentials in setup.reward.potentials(now).items():
                self._potentials[name][chosen] = potentials
        self.view = self.view.put(chosen, now) if hasattr(self, "view") else now
        self.perception.look(chosen, now, self._rngs)

    def delayed(self, chosen: Rows, actions: NDArray[np.float32]) -> NDArray[np.float32]:
        """Store actions (n, A), and return the actions now due after the delay; 0 at first."""
        room, now = len(self._given), self.steps[chosen]
        self._given[now % room, chosen] = actions
        return self._given[(now - self._delays[chosen]) % room, chosen]

    def pushes(self, chosen: Rows) -> NDArray[np.float64] | None:
        """Draw changes of velocity by which robots are pushed in the next step (n, 3) [m/s]; None for none.

        A push comes with the probability of a step's length over the mean interval.
        """
        pushed, period = self._pushes[chosen], self._setup.control_period
        changes = np.zeros((len(chosen), 3))
        for k, (speed, interval) in enumerate(pushed.tolist()):
            rng = self._rngs[chosen[k]]
            if speed > 0.0 and rng.uniform() * interval < period:
                angle = rng.uniform(0.0, math.tau)
                changes[k, :2] = speed * math.cos(angle), speed * math.sin(angle)
        return changes if changes.any() else None

    def advance(self, chosen: Rows, motion: RobotMotions, actions: NDArray[np.float32]) -> Ends:
        """Update episodes after a control step of their robots.

        Args:
            chosen: Indices of the robots (n,).
            motion: Motions of the robots after the step.
            actions: Actions of the step (n, A).

        Raises:
            InvalidValueError: NaN in a part of the observation, or a term of the reward that is not finite.
        """
        setup, before = self._setup, self.view
        old = before.motion
        self.steps[chosen] += 1
        gained_speed = motion.velocity - old.velocity[chosen]
        now = self._look(
            chosen,
            motion,
            actions,
            before.action[chosen],
            old.belt_energies[chosen],
            gained_speed / setup.control_period,
        )
        gained = now.progress - before.progress[chosen]
        gained.setflags(write=False)
        now = now._replace(gained=gained)
        now = now._replace(outcome=outcomes_of(setup.task, now))
        self.energy[chosen] = np.add.reduce(motion.belt_energies, axis=1)
        travels = (
            np.add.reduce(motion.belt_travels - old.belt_travels[chosen], axis=1)
            / motion.belt_travels.shape[1]
        )
        way = np.add.reduce((motion.position - old.position[chosen]) * now.forward, axis=1)
        slip = np.asarray(longitudinal_slip(travels / setup.control_period, way / setup.control_period))
        potentials = {}
        for name, values in self._potentials.items():
            potentials[name] = values[chosen]
        terms = setup.reward.terms(now, potentials)
        rewards = sum(terms.values(), np.zeros(len(chosen)))
        if not np.isfinite(rewards).all():
            for name, term in terms.items():
                for k in np.flatnonzero(~np.isfinite(term)).tolist():
                    raise not_finite(f"reward term {name}", int(chosen[k]), len(self), float(term[k]))
        # The robot's own ending counts where it falls together with the end of the time.
        terminated = now.outcome != "running"
        truncated = now.time >= setup.time_limit - 1e-9
        self.outcome[chosen] = np.where(truncated & ~terminated, "timeout", now.outcome)
        if self._potentials:
            for name, values in setup.reward.potentials(now).items():
                self._potentials[name][chosen] = values
        if setup.memories:
            self._memories.update(chosen, now, [self._rngs[i] for i in chosen.tolist()])
        self.view = before.put(chosen, now)
        self.perception.look(chosen, now, self._rngs)
        return Ends(rewards, terminated, truncated, terms, slip)

    def diverge(self, chosen: Rows) -> Ends:
        """Truncate the episodes of diverged robots; their last observations are kept."""
        self.outcome[chosen] = "diverged"
        none, count = np.zeros(len(chosen)), len(chosen)
        terms = dict.fromkeys(self._setup.reward.weights, none)
        return Ends(none, np.zeros(count, np.bool_), np.ones(count, np.bool_), terms, none)

    def _look(
        self,
        chosen: Rows,
        motion: RobotMotions,
        action: NDArray[np.float32],
        last: NDArray[np.float32],
        energies: NDArray[np.float64],
        acceleration: NDArray[np.float64],
    ) -> TaskView:
        """View of robots; `energies` are the belts' work before the step (n, T) [J]."""
        self._readings.known.clear()
        paths = self._paths.rows(chosen)
        progress, lateral, heading = paths.locate(motion.position[:, :2])
        return TaskView.of(
            motion,
            progress,
            lateral,
            heading,
            paths.length.copy(),
            paths.at(progress + LOOK_AHEAD),
            action=action,
            last_action=last,
            work=np.add.reduce(np.maximum(motion.belt_energies - energies, 0.0), axis=1),
            gained=np.zeros(len(chosen)),
            time=(self.steps[chosen] + self._over[chosen]) * self._setup.control_period,
            acceleration=acceleration,
            outcome=np.full(len(chosen), "running", dtype="<U10"),
            period=self._setup.control_period,
            height=RobotHeights(self._grounds, chosen),
            parameter=partial(self._read_parameter, chosen),
            readings=RobotReadings(self._readings, chosen),
            memory=partial(self._memories.read, chosen),
        )

    def _read_parameter(self, chosen: Rows, name: str) -> NDArray[Any]:
        """Parameter values of robots (n,)."""
        if name not in self._setup.parameters:
            raise UnknownNameError(f"parameter of {self._setup.task.name}", name, self._setup.parameters)
        return np.array([self.values[i][name] for i in chosen.tolist()])
