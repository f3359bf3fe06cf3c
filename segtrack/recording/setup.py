"""Setup, vehicle files, versions and commands of a drive: everything that determines it."""

from __future__ import annotations

import os
import platform
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields, replace
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path, PurePosixPath
from types import MappingProxyType
from typing import Any, get_args

from segtrack.courses import LEAST_VISIBILITY, MOST_VISIBILITY, Cameras, Light
from segtrack.description import check_seen, files_for_copy, find_vehicle, load_vehicle
from segtrack.engine import EngineName, check_engine, resolve
from segtrack.errors import FileAccessError, InvalidValueError, UnknownNameError, finite, finite_vector

FORMAT, FORMAT_VERSION = "segtrack drive", 2
READ_VERSIONS = 1, 2
"""Versions that are read; in the first one all numbers are stored to the bit."""
PACKAGES = ("segtrack", "numpy", "scipy", "numba", "pybullet")
"""Packages that simulate."""


@cache
def versions() -> dict[str, str]:
    """Return versions of the simulating software by name, with Python, system and processor."""
    import llvmlite.binding

    found = {name: version_of(name) for name in PACKAGES}
    system = f"{platform.system()} {platform.machine()}"
    processor = llvmlite.binding.get_host_cpu_name()
    return found | {"python": platform.python_version(), "system": system, "processor": processor}


def version_of(package: str) -> str:
    """Return a package's version; `none` if it is not installed."""
    try:
        return version(package)
    except PackageNotFoundError:
        return "none"


TICK = 0.01
"""Simulated time between commands, and between states [s]."""
TIME_STEPS = (0.001, 0.002)
"""Possible time steps of the simulation [s]."""


@dataclass(frozen=True)
class DriveSetup:
    """Setup of a drive; with equal commands, it determines the drive bit for bit.

    Attributes:
        vehicle: Name of a bundled vehicle, or path of a vehicle file.
        course: Name of a bundled course, or path of a course file.
        setting: Value of the course's setting, in its unit; None for the course's own.
        engine: `native` or `pybullet`; None for native if it runs the track model.
        track_model: Track model; None for the engine's default.
        friction: Friction coefficient of the ground [-]; None for the course's.
        soil: Name of the ground's soil; None for the course's.
        payload: Mass of the payload on the body [kg].
        payload_position: Centre of the payload in the body frame (3,) [m]; None for the middle of the
            top of the body's box.
        time_step: Time step, 0.001 or 0.002 [s].
        seed: Seed of the station's random numbers (degraded links); nothing in the simulation is random.
        cameras: `real` for the vehicle's own cameras only; None for any view. This and the
            next two are conditions of seeing: the simulation does not depend on them.
        light: `dark` for the vehicle's own lamps only; None for daylight.
        visibility: Distance at which smoke leaves 5 % of the contrast [m]; None without smoke.
    """

    vehicle: str = "quince"
    course: str = "okada-step"
    setting: float | None = None
    engine: EngineName | None = None
    track_model: str | None = None
    friction: float | None = None
    soil: str | None = None
    payload: float = 0.0
    payload_position: tuple[float, float, float] | None = None
    time_step: float = 0.001
    seed: int = 0
    cameras: Cameras | None = None
    light: Light | None = None
    visibility: float | None = None

    def __post_init__(self) -> None:
        """Check the values that do not depend on installed software.

        Raises:
            InvalidValueError: A value of the wrong kind, or outside what it can be.
            UnknownNameError: No such engine.
        """
        for name in ("vehicle", "course"):
            _check_name(name, getattr(self, name))
        for name in ("track_model", "soil"):
            if getattr(self, name) is not None:
                _check_name(name, getattr(self, name))
        check_engine(self.engine)
        if self.setting is not None:
            self._take("setting", finite("setting", self.setting))
        for name, unit in (("friction", "-"), ("payload", "kg")):
            value = getattr(self, name)
            if value is not None:
                self._take(name, finite(what := f"{name} [{unit}]", value))
                if value < 0:
                    raise InvalidValueError(what, "at least 0", value)
        for name, kind in (("cameras", Cameras), ("light", Light)):
            if getattr(self, name) not in (None, *get_args(kind)):
                raise UnknownNameError(name, getattr(self, name), get_args(kind))
        if self.visibility is not None:
            self._take("visibility", finite(what := "visibility [m]", self.visibility))
            if not LEAST_VISIBILITY <= self.visibility <= MOST_VISIBILITY:
                expected = f"from {LEAST_VISIBILITY:g} to {MOST_VISIBILITY:g}"
                raise InvalidValueError(what, expected, self.visibility)
        if self.payload_position is not None:
            position = finite_vector("payload_position [m]", self.payload_position, 3)
            self._take("payload_position", position)
        if self.time_step not in TIME_STEPS:
            raise InvalidValueError("time_step [s]", " or ".join(map(str, TIME_STEPS)), self.time_step)
        if isinstance(self.seed, bool) or not isinstance(self.seed, int) or not 0 <= self.seed < 2**53:
            raise InvalidValueError("seed", "a whole number from 0, below 2^53", self.seed)

    def resolved(self) -> DriveSetup:
        """Return the setup with engine and track model filled in.

        Raises:
            UnknownNameError: No such track model.
            InvalidValueError: The engine does not run the track model.
            MissingPyBulletError: It takes PyBullet, which is not installed.
        """
        engine, track_model = resolve(self.engine, self.track_model, preferred="native")
        return replace(self, engine=engine, track_model=track_model)

    def as_json(self) -> dict[str, Any]:
        """Return a JSON-serialisable dict."""
        return asdict(self)

    def named(self) -> DriveSetup:
        """Return the setup with files by name, without their folders."""
        return replace(self, vehicle=Path(self.vehicle).name, course=Path(self.course).name)

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> DriveSetup:
        """Return the setup from the data of `as_json`.

        Raises:
            UnknownNameError: A key that no setup has, or no such engine.
            InvalidValueError: A value of the wrong kind, or outside what it can be.
        """
        known = [item.name for item in fields(cls)]
        for name in data:
            if name not in known:
                raise UnknownNameError("key of a drive's setup", name, known)
        return cls(**data)

    def _take(self, name: str, value: object) -> None:
        object.__setattr__(self, name, value)


@dataclass(frozen=True)
class Command:
    """Command of a driver, held until the next one.

    Attributes:
        left: Speed of the belts on the left side [m/s].
        right: Speed of the belts on the right side [m/s].
        flipper_speeds: Flipper speeds by name, raising positive [rad/s]; a flipper that is not named holds.
        flatten: True to move all flippers to 0 rad and hold them, whatever `flipper_speeds` says.
    """

    left: float = 0.0
    right: float = 0.0
    flipper_speeds: Mapping[str, float] = field(default_factory=dict)
    flatten: bool = False

    def __post_init__(self) -> None:
        """Check the values.

        Raises:
            InvalidValueError: A speed is not a finite number, or `flatten` is neither true nor false.
        """
        speeds = {
            name: finite(f"speed of flipper {name} [rad/s]", speed)
            for name, speed in self.flipper_speeds.items()
        }
        if not isinstance(self.flatten, bool):
            raise InvalidValueError("flatten", "true or false", self.flatten)
        object.__setattr__(self, "left", finite("left belt speed [m/s]", self.left))
        object.__setattr__(self, "right", finite("right belt speed [m/s]", self.right))
        object.__setattr__(self, "flipper_speeds", MappingProxyType(speeds))

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle with a plain dict, since a read-only mapping cannot be pickled."""
        return type(self), (self.left, self.right, dict(self.flipper_speeds), self.flatten)


def _check_name(what: str, name: object) -> None:
    if not isinstance(name, str) or not name:
        raise InvalidValueError(what, "a name or the path of a file", name)
    check_seen(what, name)


@dataclass(frozen=True)
class VehicleFiles:
    """Vehicle file, with the files named in it.

    Attributes:
        main: Name of the vehicle file in `contents`.
        contents: Content of each file, by its path below a common folder.
    """

    main: str
    contents: Mapping[str, bytes]

    @classmethod
    def read(cls, vehicle: str | Path) -> VehicleFiles:
        """Read the files of a vehicle.

        Args:
            vehicle: Name of a bundled vehicle, or path of a vehicle file.

        Raises:
            SegtrackError: No such vehicle, or its file has mistakes.
        """
        path = find_vehicle(vehicle).resolve()
        description = load_vehicle(path)
        try:
            files = files_for_copy(path, description)
        except OSError as error:
            raise FileAccessError("read", error.filename, error.strerror or str(error)) from None
        root = Path(os.path.commonpath([file.parent for file in files]))
        contents = {file.relative_to(root).as_posix(): files[file] for file in sorted(files)}
        return cls(path.relative_to(root).as_posix(), contents)

    def __post_init__(self) -> None:
        """Refuse names that lead out of the folder.

        Raises:
            InvalidValueError: One does, or the vehicle file is missing.
        """
        for name in self.contents:
            path = PurePosixPath(name)
            if path.is_absolute() or ".." in path.parts or "\\" in name or ":" in name:
                raise InvalidValueError("file of a vehicle", "below the vehicle's folder", name)
        if self.main not in self.contents:
            raise InvalidValueError("vehicle file", f"one of {', '.join(self.contents)}", self.main)

    def write(self, folder: Path) -> Path:
        """Write the files below a folder, and return the vehicle file's path."""
        for name, content in self.contents.items():
            file = folder / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(content)
        return folder / self.main
