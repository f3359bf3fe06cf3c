"""Networks of learnt policies, in small files that only need NumPy."""

from __future__ import annotations

import io
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from segtrack.envs.environment import Environment
from segtrack.errors import FileAccessError
from segtrack.files import check_regular, replacing

if TYPE_CHECKING:
    from segtrack.envs.vector import VectorEnvironment  # With numba, which takes half a second to import.

_FORMAT = "segtrack policy 1"


@dataclass(frozen=True)
class NetworkOrigin:
    """Task, vehicle, observation and action that a network was trained for.

    Attributes:
        task: Name of the task.
        vehicle: Name of the vehicle.
        entries: Labels of the observation's entries, in order.
        actions: Names of the action's entries, in order.
        belt_speed: Belt speed at action 1 [m/s]; None for actions without such a number.
        control_period: Time between two actions [s].
        scan: Extents of the height scan: rear, front, to either side [m].
    """

    task: str
    vehicle: str
    entries: tuple[str, ...]
    actions: tuple[str, ...]
    belt_speed: float | None
    control_period: float
    scan: tuple[float, ...]

    @classmethod
    def read(cls, named: Mapping[str, Any]) -> NetworkOrigin:
        """Return the origin that a file's values describe.

        Raises:
            KeyError: A value is missing.
        """
        given: dict[str, Any] = {name: named[name] for name in cls.__dataclass_fields__}
        lists = {name: tuple(value) for name, value in given.items() if isinstance(value, list)}
        return cls(**{**given, **lists})

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
    """Fully connected network with tanh between layers, from a scaled observation to an action.

    Attributes:
        origin: Task, vehicle, observation and action of the training.
        low: Observation scaled to -1 (n,).
        high: Observation scaled to 1 (n,).
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
        """Write the network's file atomically.

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
        check_regular(path)
        try:
            content = path.read_bytes()
        except OSError as error:
            raise FileAccessError("read policy", path, error.strerror or "not a file") from None
        try:
            return _read(content)
        except Exception:  # Whatever a damaged archive makes zipfile, zlib, json or NumPy raise.
            raise FileAccessError("read policy", path, f"not a file of the format {_FORMAT!r}") from None


def _read(content: bytes) -> Network:
    """Parse a network file; raises any error for damaged content."""
    with np.load(io.BytesIO(content), allow_pickle=False) as data:
        header = json.loads(str(data["header"]))
        count = sum(name.startswith("weight_") for name in data.files)
        weights = tuple(data[f"weight_{i}"] for i in range(count))
        biases = tuple(data[f"bias_{i}"] for i in range(count))
        low, high = data["low"], data["high"]
    origin = NetworkOrigin.read(header)
    sizes = (len(origin.entries), *(len(bias) for bias in biases))
    shapes = [weight.shape for weight in weights]
    fits = shapes == list(zip(sizes[1:], sizes[:-1], strict=True)) and sizes[-1] == len(origin.actions)
    if header["format"] != _FORMAT or not weights or not fits or not low.shape == high.shape == sizes[:1]:
        raise ValueError
    return Network(origin, low, high, weights, biases)
