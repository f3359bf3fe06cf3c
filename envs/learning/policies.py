"""Policies: scripted ones, baselines, random, learnt ones from small files, and others' own."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from segtrack.envs.actuators import Actuators
from segtrack.envs.environment import Environment
from segtrack.envs.learning.exchange import load_onnx, load_torchscript
from segtrack.envs.learning.network import Network, NetworkOrigin
from segtrack.envs.objects import load_object
from segtrack.errors import InvalidValueError, Phrase, UnknownNameError

if TYPE_CHECKING:
    from segtrack.envs.vector import VectorEnvironment  # With numba, which takes half a second to import.

CONSTANT = "constant"
"""Name of the best constant action, which evaluations find; with a colon and its entries of a given one."""
NAMES = (
    "scripted",
    "steered",
    CONSTANT,
    f"{CONSTANT}:ACTION",
    "random",
    "ppo",
    "ppo:TASK",
    "MODULE:FUNCTION",
    "or a file",
)
"""How policies are named."""
FILES = ".npz", ".onnx", ".pt", ".ts"
"""Suffixes of policies' files."""
BUNDLED = Path(__file__).parent / "trained"
"""Folder of the policies that come with segtrack, by task."""


class Policy(ABC):
    """Base class of policies, for one robot or for the N robots of a vector environment.

    Attributes:
        trained_for: Name of the training task; None for an untrained policy.
    """

    trained_for: str | None = None

    def begin(self, robot: int, seed: int) -> None:  # noqa: B027
        """Prepare for an episode of a robot with a seed; only random policies use it."""

    @abstractmethod
    def act(self, observation: Any) -> NDArray[np.float32]:
        """Return the action (n,) for an observation, or actions (N, n) for N observations, in [-1, 1]."""


class RandomPolicy(Policy):
    """Policy of uniformly random actions."""

    def __init__(self, env: Environment | VectorEnvironment, seed: int) -> None:
        """Prepare for an environment; robot i of a vector environment gets seed + i."""
        self._entries, self._robots = len(env.actuators.names), getattr(env, "num_envs", None)
        self._rngs: dict[int, np.random.Generator] = {}
        for robot in range(self._robots or 1):
            self.begin(robot, seed + robot)

    def begin(self, robot: int, seed: int) -> None:
        """Seed a robot's random actions for an episode."""
        # Not the stream from which an environment of that seed draws its episode.
        self._rngs[robot] = np.random.default_rng((seed, 1))

    def act(self, observation: Any) -> NDArray[np.float32]:
        """Return random actions."""
        actions = [rng.uniform(-1.0, 1.0, self._entries) for rng in self._rngs.values()]
        return np.array(actions if self._robots is not None else actions[0], dtype=np.float32)


class ConstantPolicy(Policy):
    """Baseline that takes the same action at every step."""

    def __init__(self, env: Environment | VectorEnvironment, name: str) -> None:
        """Prepare for an environment.

        Args:
            env: Environment in which it acts.
            name: `constant:` and the action's entries with commas, as `constant_name` makes it.

        Raises:
            InvalidValueError: No entries, another number of them than the environment's, or not in [-1, 1].
        """
        names, robots = env.actuators.names, getattr(env, "num_envs", None)
        try:
            entries = np.array([float(entry) for entry in name.removeprefix(f"{CONSTANT}:").split(",")])
        except ValueError:
            entries = np.array([np.nan])
        if len(entries) != len(names) or not (abs(entries) <= 1.0).all():
            expected = f"{CONSTANT}: and {len(names)} numbers from -1 to 1, of {', '.join(names)}"
            raise InvalidValueError("policy", expected, name)
        self._action = np.array(entries if robots is None else [entries] * robots, np.float32)

    def act(self, observation: Any) -> NDArray[np.float32]:
        """Return the action."""
        return self._action.copy()


def constant_name(action: Sequence[float]) -> str:
    """Return the name of the policy that takes an action (n,) at every step."""
    return f"{CONSTANT}:{','.join(f'{entry:g}' for entry in action)}"


class SteeredPolicy(Policy):
    """Baseline that drives along the path with its flippers at rest."""

    NAME = "steered"

    def __init__(self, env: Environment | VectorEnvironment) -> None:
        """Prepare for an environment.

        Raises:
            InvalidValueError: Its actions are others than belts and flippers.
        """
        if type(env.actuators) is not Actuators:
            raise InvalidValueError(
                f"actions for the policy {self.NAME}", "belts and flippers", env.actuators
            )
        self._sensors = env.sensors
        self._names = env.actuators.names[2:]

    def act(self, observation: Any) -> NDArray[np.float32]:
        """Return actions that steer."""
        heading = self._part(observation, "path_error")[..., 1]
        aside = self._part(observation, "next_point")[..., 1]
        turn = np.clip(0.8 * heading + 1.5 * aside, -0.6, 0.6)
        entries = [1.0 - turn - abs(turn), 1.0 + turn - abs(turn), *self._flippers(observation, turn)]
        return np.clip(np.stack(entries, axis=-1), -1.0, 1.0).astype(np.float32)

    def _flippers(self, observation: Any, turn: NDArray[np.float64]) -> list[NDArray[np.float64]]:
        """Entries of the flippers' speeds, each of the shape of `turn`."""
        return [np.zeros_like(turn)] * len(self._names)

    def _part(self, observation: Any, name: str) -> NDArray[np.float64]:
        """Part of an observation in double precision, for equal results with NumPy 1 and 2."""
        return self._sensors.part(observation, name).astype(float)


class ScriptedPolicy(SteeredPolicy):
    """Policy that drives along the path, raises the front flippers before an edge, and lowers them after.

    The rules are written for robots with front and rear flippers in pairs; without flippers it
    only drives. Angles and distances were tuned by hand for Quince at steps of 0.12 m to 0.36 m.
    """

    NAME = "scripted"
    RAISED = 0.9
    """Front flippers before an edge upwards [rad]."""
    PUSHED = -0.5
    """Front flippers once the edge is under the body [rad]."""
    REAR_PUSHED = -0.7
    """Rear flippers meanwhile, which lifts the rear [rad]."""
    RESTING = 0.6
    """Both where there is no edge: there flippers that touch it make turning hard [rad]."""
    EDGE = 0.05
    """A difference of heights between neighbouring cells that counts as an edge [m]."""

    def __init__(self, env: Environment | VectorEnvironment) -> None:
        """Prepare for an environment.

        Raises:
            InvalidValueError: Its actions are others than belts and flippers.
        """
        super().__init__(env)
        scan = env.scan
        x = scan.x_min + (scan.x_max - scan.x_min) * (np.arange(scan.rows) + 0.5) / scan.rows
        self._between = (x[:-1] + x[1:]) / 2
        self._shape = (scan.rows, scan.columns)
        parts = env.vehicle.flippers
        self._ends = {name: parts[name].tip_direction if name in parts else name for name in self._names}
        self._of_end = {
            end: [i for i, part in enumerate(parts.values()) if part.tip_direction == end]
            for end in self._ends.values()
        }
        self._fastest = max((part.max_speed for part in parts.values()), default=1.0)

    def _flippers(self, observation: Any, turn: NDArray[np.float64]) -> list[NDArray[np.float64]]:
        """Entries that move flippers to angles computed from scan and pitch."""
        if not self._names:
            return []
        scan = self._part(observation, "height_scan")
        ground = scan.reshape(*scan.shape[:-1], *self._shape).mean(axis=-1)
        targets = self._targets(ground, self._part(observation, "attitude")[..., 1])
        angles = self._part(observation, "flipper_angle")
        entries = []
        for name in self._names:
            end = self._ends[name]
            own = angles[..., self._of_end[end]].mean(axis=-1)
            entries.append(4.0 * (targets[end] - own) / self._fastest)
        return entries

    def _targets(self, ground: NDArray[Any], pitch: NDArray[Any]) -> dict[str, NDArray[np.float64]]:
        """Target angles of front and rear flippers (...) [rad].

        Args:
            ground: Heights of the scan's rows (..., rows) [m].
            pitch: Pitch, nose up positive (...) [rad].
        """
        rise, x = np.diff(ground, axis=-1), self._between
        level = np.abs(rise).max(axis=-1, initial=0.0) < self.EDGE
        edges = rise > self.EDGE
        ahead = (edges & (x > 0.25) & (x < 0.95)).any(axis=-1)
        under = (edges & (x > -0.35) & (x <= 0.3)).any(axis=-1)
        cases = [level, (pitch > 0.35) & under, ahead, pitch > 0.15]
        front = np.select(cases, [self.RESTING, self.PUSHED, self.RAISED, self.PUSHED], 0.0)
        rear = np.select(cases, [self.RESTING, self.REAR_PUSHED, 0.1, self.REAR_PUSHED], 0.0)
        return {"front": front, "rear": rear}


class NetworkPolicy(Policy):
    """Learnt policy: a network's actions.

    Attributes:
        network: The network.
    """

    def __init__(self, env: Environment | VectorEnvironment, network: Network) -> None:
        """Prepare for an environment.

        Raises:
            InvalidValueError: The network was trained for other observations or actions.
        """
        self.network, self._sensors = network, env.sensors
        name = check_origin(network.origin, env)
        if not np.array_equal((network.low, network.high), env.sensors.limits):
            raise InvalidValueError(name, "one for the ranges of observations here", Phrase("others"))
        self.trained_for = network.origin.task

    def act(self, observation: Any) -> NDArray[np.float32]:
        """Return the network's actions."""
        return self.network(self._sensors.flat(observation))


def check_origin(origin: NetworkOrigin, env: Environment | VectorEnvironment) -> str:
    """Check that a network was trained for an environment's observations and actions; return what to call it.

    Raises:
        InvalidValueError: It was trained for others.
    """
    here, name = NetworkOrigin.of(env), f"policy for {origin.vehicle} at {origin.task}"
    if origin.entries != here.entries:
        expected = f"one for {len(here.entries)} observation entries as here"
        raise InvalidValueError(name, expected, Phrase(_others(origin.entries, here.entries)))
    for what in ("actions", "belt_speed", "control_period", "scan"):
        if getattr(origin, what) != getattr(here, what):
            expected = f"one for the {what} {getattr(here, what)}"
            raise InvalidValueError(name, expected, getattr(origin, what))
    return name


class ArrayPolicy(Policy):
    """Policy of somebody's own: a function from flat observations (N, n), in SI units, to actions (N, m)."""

    def __init__(
        self,
        env: Environment | VectorEnvironment,
        name: str,
        function: Callable[[NDArray[np.float32]], Any],
        origin: NetworkOrigin | None = None,
    ) -> None:
        """Prepare for an environment.

        Raises:
            InvalidValueError: It is no function, or its origin has other observations or actions.
        """
        if not callable(function):
            raise InvalidValueError(f"policy {name}", "a Policy, or a function of observations", function)
        if origin is not None:
            check_origin(origin, env)
            self.trained_for = origin.task
        self._sensors, self._name, self._function = env.sensors, name, function
        self._entries = len(env.actuators.names)

    def act(self, observation: Any) -> NDArray[np.float32]:
        """Return the function's actions, clipped to [-1, 1].

        Raises:
            InvalidValueError: It gives actions of another shape, or not finite ones.
        """
        flat = self._sensors.flat(observation)
        actions = np.asarray(self._function(np.atleast_2d(flat)), dtype=np.float32)
        expected = (*flat.shape[:-1], self._entries)
        if actions.size != np.prod(expected) or not np.isfinite(actions).all():
            got = Phrase(f"shape {actions.shape}" if actions.size != np.prod(expected) else "others")
            raise InvalidValueError(f"actions of {self._name}", f"finite numbers of shape {expected}", got)
        return np.clip(actions.reshape(expected), -1.0, 1.0)


def _others(entries: tuple[str, ...], here: tuple[str, ...]) -> str:
    """Sentence on the differences between a policy's observation entries and the environment's."""
    changes = []
    for word, these, those in (("with", entries, here), ("without", here, entries)):
        names = [name for name in these if name not in those]
        more = f" and {len(names) - 3} more" if len(names) > 3 else ""
        changes += [f"{word} {', '.join(names[:3])}{more}"] * bool(names)
    return f"{len(entries)} others, {' and '.join(changes) or 'in another order'}"


def short_name(policy: str) -> str:
    """Return the name of a policy for labels: of a file the name without folder and suffix."""
    path = Path(policy)
    return path.stem if path.suffix in FILES else policy


def make_policy(name: str, env: Environment | VectorEnvironment, seed: int = 0) -> Policy:
    """Make a policy for an environment.

    Args:
        name: `scripted`, `steered`, `random`, `constant:` and the entries of an action with commas, `ppo`
            (bundled for the environment's task), `ppo:` and the name of another task (its bundled policy),
            a file (.npz, .onnx, or TorchScript as .pt), or `module:function` of one's own. That function
            takes the environment, and returns a `Policy`, or a function from flat observations (N, n) to
            actions (N, m).
        env: Environment in which it acts, single or vector.
        seed: Seed of a random policy; robot i of a vector environment gets seed + i.

    Raises:
        UnknownNameError: No such policy, or none comes with segtrack for the task.
        FileAccessError: The file cannot be read.
        InvalidValueError: It was trained for other observations or actions, or there is no such module.
        MissingPackageError: A file of ONNX or TorchScript without its package.
    """
    if name == "scripted":
        return ScriptedPolicy(env)
    if name == "steered":
        return SteeredPolicy(env)
    if name == "random":
        return RandomPolicy(env, seed)
    if name == CONSTANT or name.startswith(f"{CONSTANT}:"):
        return ConstantPolicy(env, name)
    kind, colon, task = name.partition(":")
    if kind == "ppo":
        task = task if colon else env.task.name
        bundled = {path.stem: path for path in sorted(BUNDLED.glob("*.npz"))}
        if task not in bundled:
            raise UnknownNameError("policy of segtrack's own for", task, bundled)
        return NetworkPolicy(env, Network.load(bundled[task]))
    path = Path(name)
    if colon and not path.exists():
        make = load_object("policy", name)
        if not callable(make):
            raise InvalidValueError(f"policy {name}", "a function of the environment", make)
        found = make(env)
        return found if isinstance(found, Policy) else ArrayPolicy(env, name, found)
    if path.suffix == ".onnx":
        return ArrayPolicy(env, name, *load_onnx(path, env))
    if path.suffix in (".pt", ".ts"):
        return ArrayPolicy(env, name, load_torchscript(path))
    if "." not in name and not path.exists():
        raise UnknownNameError("policy", name, NAMES)
    return NetworkPolicy(env, Network.load(path))
