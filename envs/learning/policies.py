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
        """Return the action (m,), clipped to [-1, 1], for a flat observation (n,)."""
        values = 2 * (observation - self.low) / (self.high - self.low) - 1
        for weight, bias in zip(self.weights[:-1], self.biases[:-1], strict=True):
            values = np.tanh(weight @ values + bias)
        return np.clip(self.weights[-1] @ values + self.biases[-1], -1.0, 1.0).astype(np.float32)

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
    """Chooses actions from observations."""

    @abstractmethod
    def act(self, observation: Any) -> NDArray[np.float32]:
        """Return the action (n,), in [-1, 1], for an observation."""


class RandomPolicy(Policy):
    """Draws each action uniformly."""

    def __init__(self, env: Environment, seed: int) -> None:
        """Prepare for an environment."""
        self._shape = env.action_space.shape
        # Not the stream from which an environment of that seed draws its episode.
        self._rng = np.random.default_rng((seed, 1))

    def act(self, observation: Any) -> NDArray[np.float32]:
        """Return a random action."""
        return self._rng.uniform(-1.0, 1.0, self._shape).astype(np.float32)


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

    def __init__(self, env: Environment) -> None:
        """Prepare for an environment."""
        self._env = env
        self._names = env.actuators.names[2:]
        scan = env.scan
        self._x = scan.x_min + (scan.x_max - scan.x_min) * (np.arange(scan.rows) + 0.5) / scan.rows
        self._shape = (scan.rows, scan.columns)
        flippers = env.vehicle.flippers
        self._flippers = tuple(flippers)
        self._ends = {
            name: flippers[name].tip_direction if name in flippers else name for name in self._names
        }
        self._fastest = max((part.max_speed for part in flippers.values()), default=1.0)

    def act(self, observation: Any) -> NDArray[np.float32]:
        """Steer, and move the flippers to the angles that the scan and the pitch ask for."""
        sensors = self._env.sensors
        _, heading = sensors.part(observation, "path_error")
        _, aside = sensors.part(observation, "next_point")
        turn = float(np.clip(0.8 * heading + 1.5 * aside, -0.6, 0.6))
        belts = np.clip([1.0 - turn - abs(turn), 1.0 + turn - abs(turn)], -1.0, 1.0)
        if not self._names:
            return belts.astype(np.float32)
        ground = sensors.part(observation, "height_scan").reshape(self._shape).mean(axis=1)
        _, pitch = sensors.part(observation, "attitude")
        targets = dict(zip(("front", "rear"), self._targets(ground, float(pitch)), strict=True))
        angles = dict(zip(self._flippers, sensors.part(observation, "flipper_angle"), strict=True))
        turns = []
        for name in self._names:
            end = self._ends[name]
            own = [a for n, a in angles.items() if self._env.vehicle.flippers[n].tip_direction == end]
            turns.append(4.0 * (targets[end] - float(np.mean(own))) / self._fastest)
        return np.clip((*belts, *turns), -1.0, 1.0).astype(np.float32)

    def _targets(self, ground: NDArray[np.float64], pitch: float) -> tuple[float, float]:
        """Angles of front and rear flippers [rad] for heights of the ground (rows,) [m] and a pitch [rad]."""
        rise = np.diff(ground)
        if np.abs(rise).max(initial=0.0) < self.EDGE:
            return self.RESTING, self.RESTING
        edges = (self._x[:-1] + self._x[1:])[rise > self.EDGE] / 2
        ahead = edges[(edges > 0.25) & (edges < 0.95)]
        under = edges[(edges > -0.35) & (edges <= 0.3)]
        if pitch > 0.35 and len(under):
            return self.PUSHED, self.REAR_PUSHED
        if len(ahead):
            return self.RAISED, 0.1
        if pitch > 0.15:
            return self.PUSHED, self.REAR_PUSHED
        return 0.0, 0.0


class NetworkPolicy(Policy):
    """A learnt policy."""

    def __init__(self, env: Environment, network: Network) -> None:
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
        """Return the network's action."""
        return self._network(self._sensors.flat(observation))


def make_policy(name: str, env: Environment, seed: int = 0) -> Policy:
    """Make a policy for an environment.

    Args:
        name: `scripted`, `random`, `ppo` (the one that comes with segtrack for the task), or a file.
        env: Environment in which it acts.
        seed: Seed of a random policy.

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
