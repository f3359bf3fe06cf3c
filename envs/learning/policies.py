"""Policies: scripted, random, or learnt ones from small files that need NumPy alone."""

from __future__ import annotations

import io
import json
from abc import ABC, abstractmethod
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from segtrack.envs.environment import Environment
from segtrack.errors import FileAccessError, InvalidValueError, Phrase, UnknownNameError
from segtrack.files import replacing

if TYPE_CHECKING:
    from segtrack.envs.vector import VectorEnvironment  # With numba, which takes half a second to import.

_FORMAT = "segtrack policy 1"


@dataclass(frozen=True)
class NetworkOrigin:
    """Task, vehicle, observation and action that a network was trained for.

    Attributes:
        task: Name of the task.
        vehicle: Name of the vehicle.
        entries: Entries of the observation, in their order.
        actions: Entries of the action, in their order.
        belt_speed: Belt speed at action 1 [m/s].
        control_period: Time between two actions [s].
        scan: Extents of the height scan: behind, before, to either side [m].
    """

    task: str
    vehicle: str
    entries: tuple[str, ...]
    actions: tuple[str, ...]
    belt_speed: float
    control_period: float
    scan: tuple[float, ...]

    @classmethod
    def of(cls, env: Environment | VectorEnvironment) -> NetworkOrigin:
        """Return the origin of a policy for an environment."""
        return cls(
            env.task.name,
            env.vehicle.name,
            env.sensors.entries,
            env.actuators.names,
            env.actuators.belt_speed,
            env.control_period,
            (env.scan.x_min, env.scan.x_max, env.scan.half_width),
        )


@dataclass(frozen=True, eq=False)
class Network:
    """Layers with hyperbolic tangents between them, from a scaled observation to an action.

    Attributes:
        origin: Task, vehicle, observation and action that it was trained for.
        low: Observation that is scaled to -1 (n,).
        high: Observation that is scaled to 1 (n,).
        weights: Weights of each layer (outputs, inputs).
        biases: Biases of each layer (outputs,).
    """

    origin: NetworkOrigin
    low: NDArray[np.float32]
    high: NDArray[np.float32]
    weights: tuple[NDArray[np.float32], ...]
    biases: tuple[NDArray[np.float32], ...]

    def __call__(self, observation: NDArray[np.float32]) -> NDArray[np.float32]:
        """Return actions (..., m), clipped to [-1, 1], for flat observations (..., n).

        A robot's action is equal to the bit however many there are: each is a product of its own.
        """
        values = 2 * (observation - self.low) / (self.high - self.low) - 1
        for weight, bias in zip(self.weights[:-1], self.biases[:-1], strict=True):
            values = np.tanh((weight @ values[..., None])[..., 0] + bias)
        values = (self.weights[-1] @ values[..., None])[..., 0] + self.biases[-1]
        return np.clip(values, -1.0, 1.0).astype(np.float32)

    def save(self, path: Path) -> None:
        """Write the file, complete or not at all.

        Raises:
            FileAccessError: It cannot be written.
        """
        header = json.dumps({"format": _FORMAT, **asdict(self.origin)})
        arrays: dict[str, Any] = {"header": np.array(header), "low": self.low, "high": self.high}
        arrays |= {f"weight_{i}": weight for i, weight in enumerate(self.weights)}
        arrays |= {f"bias_{i}": bias for i, bias in enumerate(self.biases)}
        with replacing(path) as temporary, temporary.open("wb") as file:
            np.savez_compressed(file, **arrays)

    @classmethod
    def load(cls, path: Path) -> Network:
        """Read a policy's file.

        Raises:
            FileAccessError: There is no such file, or it is none of ours.
        """
        try:
            content = path.read_bytes()
        except OSError as error:
            raise FileAccessError("read policy", path, error.strerror or "not a file") from None
        try:
            return _read(content)
        except Exception:  # Whatever a damaged archive makes zipfile, zlib, json or NumPy raise.
            raise FileAccessError("read policy", path, f"not a file of the format {_FORMAT!r}") from None


def _read(content: bytes) -> Network:
    """A network from its file's content; raises what it may if that is damaged."""
    with np.load(io.BytesIO(content), allow_pickle=False) as data:
        header = json.loads(str(data["header"]))
        count = sum(name.startswith("weight_") for name in data.files)
        weights = tuple(data[f"weight_{i}"] for i in range(count))
        biases = tuple(data[f"bias_{i}"] for i in range(count))
        low, high = data["low"], data["high"]
    given: dict[str, Any] = {name: header[name] for name in NetworkOrigin.__dataclass_fields__}
    lists = {name: tuple(value) for name, value in given.items() if isinstance(value, list)}
    origin = NetworkOrigin(**{**given, **lists})
    sizes = (len(origin.entries), *(len(bias) for bias in biases))
    shapes = [weight.shape for weight in weights]
    fits = shapes == list(zip(sizes[1:], sizes[:-1], strict=True)) and sizes[-1] == len(origin.actions)
    if header["format"] != _FORMAT or not weights or not fits or not low.shape == high.shape == sizes[:1]:
        raise ValueError
    return Network(origin, low, high, weights, biases)


BUNDLED = Path(__file__).parent / "trained"
"""Folder of the policies that come with segtrack, by task."""


class Policy(ABC):
    """Chooses actions from observations, of one robot or of the N robots of a vector environment."""

    def begin(self, robot: int, seed: int) -> None:  # noqa: B027
        """Prepare for an episode of a robot, by its index, with a seed; only random policies need to."""

    @abstractmethod
    def act(self, observation: Any) -> NDArray[np.float32]:
        """Return the action (n,) for an observation, or actions (N, n) for observations, in [-1, 1]."""


class RandomPolicy(Policy):
    """Draws each action uniformly."""

    def __init__(self, env: Environment | VectorEnvironment, seed: int) -> None:
        """Prepare for an environment; robot i of a vector environment gets seed + i."""
        self._entries, self._robots = len(env.actuators.names), getattr(env, "num_envs", None)
        self._rngs: dict[int, np.random.Generator] = {}
        for robot in range(self._robots or 1):
            self.begin(robot, seed + robot)

    def begin(self, robot: int, seed: int) -> None:
        """Draw a robot's actions from a new seed."""
        # Not the stream from which an environment of that seed draws its episode.
        self._rngs[robot] = np.random.default_rng((seed, 1))

    def act(self, observation: Any) -> NDArray[np.float32]:
        """Return random actions."""
        actions = [rng.uniform(-1.0, 1.0, self._entries) for rng in self._rngs.values()]
        return np.array(actions if self._robots is not None else actions[0], dtype=np.float32)


class ScriptedPolicy(Policy):
    """Drives along the path, raises the front flippers before an edge and pushes them down after it.

    The rules are written for robots with front and rear flippers in pairs; without flippers it
    only drives. Angles and distances were tuned by hand for Quince at steps of 0.12 m to 0.36 m.
    """

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
        """Prepare for an environment."""
        self._sensors = env.sensors
        self._names = env.actuators.names[2:]
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

    def act(self, observation: Any) -> NDArray[np.float32]:
        """Steer, and move the flippers to the angles that the scan and the pitch ask for."""
        sensors = self._sensors
        heading = sensors.part(observation, "path_error")[..., 1]
        aside = sensors.part(observation, "next_point")[..., 1]
        turn = np.clip(0.8 * heading + 1.5 * aside, -0.6, 0.6)
        entries = [1.0 - turn - abs(turn), 1.0 + turn - abs(turn)]
        if self._names:
            scan = sensors.part(observation, "height_scan")
            ground = scan.reshape(*scan.shape[:-1], *self._shape).mean(axis=-1)
            targets = self._targets(ground, sensors.part(observation, "attitude")[..., 1])
            angles = sensors.part(observation, "flipper_angle")
            for name in self._names:
                end = self._ends[name]
                own = angles[..., self._of_end[end]].mean(axis=-1)
                entries.append(4.0 * (targets[end] - own) / self._fastest)
        return np.clip(np.stack(entries, axis=-1), -1.0, 1.0).astype(np.float32)

    def _targets(self, ground: NDArray[Any], pitch: NDArray[Any]) -> dict[str, NDArray[np.float64]]:
        """Angles of front and rear flippers (...) [rad].

        Args:
            ground: Heights of the scan's rows (..., rows) [m].
            pitch: (...) [rad].
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
    """A learnt policy."""

    def __init__(self, env: Environment | VectorEnvironment, network: Network) -> None:
        """Prepare for an environment.

        Raises:
            InvalidValueError: The network was trained for other observations or actions.
        """
        self._network = network
        origin, here, sensors = network.origin, NetworkOrigin.of(env), env.sensors
        name = f"policy for {origin.vehicle} at {origin.task}"
        if origin.entries != here.entries:
            expected = f"one for {len(here.entries)} observation entries as here"
            raise InvalidValueError(name, expected, Phrase(f"{len(origin.entries)} others"))
        for what in ("actions", "belt_speed", "control_period", "scan"):
            if getattr(origin, what) != getattr(here, what):
                expected = f"one for the {what} {getattr(here, what)}"
                raise InvalidValueError(name, expected, getattr(origin, what))
        if not np.array_equal((network.low, network.high), sensors.limits):
            raise InvalidValueError(name, "one for the ranges of observations here", Phrase("others"))
        self._sensors = sensors

    def act(self, observation: Any) -> NDArray[np.float32]:
        """Return the network's actions."""
        return self._network(self._sensors.flat(observation))


def make_policy(name: str, env: Environment | VectorEnvironment, seed: int = 0) -> Policy:
    """Make a policy for an environment.

    Args:
        name: `scripted`, `random`, `ppo` (the one that comes with segtrack for the task), or a file.
        env: Environment in which it acts, single or vector.
        seed: Seed of a random policy, counted up over the robots of a vector environment.

    Raises:
        UnknownNameError: None comes with segtrack for the task.
        FileAccessError: The file cannot be read.
        InvalidValueError: It was trained for other observations or actions.
    """
    if name == "scripted":
        return ScriptedPolicy(env)
    if name == "random":
        return RandomPolicy(env, seed)
    if name == "ppo":
        bundled = {path.stem: path for path in sorted(BUNDLED.glob("*.npz"))}
        if env.task.name not in bundled:
            raise UnknownNameError("policy of segtrack's own for", env.task.name, bundled)
        return NetworkPolicy(env, Network.load(bundled[env.task.name]))
    if "." not in name and not Path(name).exists():
        raise UnknownNameError("policy", name, ("scripted", "random", "ppo", "or a file"))
    return NetworkPolicy(env, Network.load(Path(name)))
