"""Registry of track models: a row each, from which engines, help texts, tables and errors are made.

A new track model is one module with a builder, and one row here.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from typing import Any, Literal, get_args

from segtrack.errors import InvalidValueError, MissingPackageError, MissingPyBulletError, UnknownNameError

EngineName = Literal["pybullet", "native", "mujoco"]
Contacts = Literal["links", "grousers", "shoes"]
Drawing = Literal["grousers", "stripes", "wheels", "shoes"]

DEFAULT_ENGINE: EngineName = "native" if find_spec("pybullet") is None else "pybullet"
"""Engine where neither engine nor track model is named: PyBullet where it is installed."""


def installed_engines() -> tuple[EngineName, ...]:
    """Return the names of the engines that can run here: the native one, and those that are installed."""
    return tuple(name for name in get_args(EngineName) if name == "native" or find_spec(name) is not None)


@dataclass(frozen=True)
class TrackModelEntry:
    """One track model.

    Attributes:
        name: Name in commands and files; `wheels:N` stands for any number of wheels.
        summary: One line for help texts and tables.
        builders: Builder by engine, as `module:function`; it is imported once it is needed. PyBullet's
            takes the name and returns a `segtrack.bullet.model.TrackBuilder`. The native engine's takes
            description, name, time step [s] and flippers' angles, and returns a `NativeVehicle`; MuJoCo's
            takes description, name, model, data and the text before the names of its bodies, and returns a
            `segtrack.mujoco.MujocoVehicle`.
        faster: Engine that runs it much faster than the other; None if neither does.
        contacts: Parts that touch the ground: links of PyBullet's, or grousers or shoes that find their
            contacts with described terrain themselves and can be read (`Track.read_grousers`,
            `Track.read_chain`).
        drawing: Parts that pictures show on the belt.
    """

    name: str
    summary: str
    builders: Mapping[EngineName, str]
    faster: EngineName | None = None
    contacts: Contacts = "links"
    drawing: Drawing = "grousers"

    def builder(self, engine: EngineName) -> Any:
        """Import the builder for an engine that runs the track model."""
        module, _, function = self.builders[engine].partition(":")
        return getattr(import_module(module), function)


_BELTS = "segtrack.bullet.belts"
_ENTRIES = (
    TrackModelEntry(
        "segments",
        "segment links on joints that jump back by one grouser pitch, so that the belt seems endless",
        {"pybullet": f"{_BELTS}.segments:segments_builder"},
    ),
    TrackModelEntry(
        "smooth",
        "segments without grousers",
        {"pybullet": f"{_BELTS}.segments:smooth_builder"},
        drawing="stripes",
    ),
    TrackModelEntry(
        "wheels:N",
        "N wheels in a row instead of a belt, each with its own motor (the usual approximation)",
        {"pybullet": f"{_BELTS}.wheels:wheels_builder"},
        drawing="wheels",
    ),
    TrackModelEntry(
        "plates", "a closed loop of hinged plates; slow", {"pybullet": f"{_BELTS}.plates:plates_builder"}
    ),
    TrackModelEntry(
        "compliant",
        "one travel along a path; each grouser, as soft as rubber, touches the ground by itself",
        {
            "native": "segtrack.native.belt_vehicle:BeltVehicle",
            "pybullet": f"{_BELTS}.compliant:compliant_builder",
            "mujoco": "segtrack.mujoco.vehicle:MujocoVehicle",
        },
        faster="native",
        contacts="grousers",
    ),
    TrackModelEntry(
        "surface",
        "a smooth belt, without grousers: its surface velocity acts on the ground",
        {
            "native": "segtrack.native.belt_vehicle:BeltVehicle",
            "pybullet": f"{_BELTS}.compliant:compliant_builder",
            "mujoco": "segtrack.mujoco.vehicle:MujocoVehicle",
        },
        faster="native",
        contacts="grousers",
        drawing="stripes",
    ),
    TrackModelEntry(
        "chain",
        "a link chain whose every shoe is a body",
        {
            "native": "segtrack.native.chain_vehicle:ChainVehicle",
            "pybullet": f"{_BELTS}.chains:chain_builder",
        },
        contacts="shoes",
        drawing="shoes",
    ),
)
TRACK_MODELS: dict[str, TrackModelEntry] = {entry.name: entry for entry in _ENTRIES}
"""Entries by name; the first one that an engine runs is its default."""


def track_model_names(engine: EngineName | None = None) -> tuple[str, ...]:
    """Return the names of all track models, or of those that an engine runs, its default first."""
    return tuple(name for name, entry in TRACK_MODELS.items() if engine is None or engine in entry.builders)


def describe_track_models() -> str:
    """Return all names for a help text, with the engines that run them in parentheses."""
    groups: dict[str, list[str]] = {}
    for name, entry in TRACK_MODELS.items():
        groups.setdefault(" or ".join(sorted(entry.builders)), []).append(name)
    return "; ".join(f"{', '.join(names)} ({engines})" for engines, names in groups.items())


def track_model_table() -> str:
    """Return all track models as a Markdown table, for the documentation."""
    rows = ["| track model | each belt is | contacts found by | engines |", "|---|---|---|---|"]
    for entry in TRACK_MODELS.values():
        finder = "Bullet" if entry.contacts == "links" else "`segtrack.ground`"
        rows.append(f"| `{entry.name}` | {entry.summary} | {finder} | {', '.join(entry.builders)} |")
    return "\n".join(rows) + "\n"


def find_track_model(name: str, engine: EngineName | None = None) -> TrackModelEntry:
    """Look a track model up.

    Args:
        name: Name of the track model, `wheels:4` for example.
        engine: Engine that has to run it; None for any.

    Raises:
        UnknownNameError: There is no track model of that name.
        InvalidValueError: The engine does not run it, or it has too few wheels.
    """
    if isinstance(name, str) and name.partition(":")[0] == "wheels":
        wheel_count(name)
        entry = TRACK_MODELS["wheels:N"]
    elif isinstance(name, str) and name in TRACK_MODELS:
        entry = TRACK_MODELS[name]
    else:
        raise UnknownNameError("track model", name, track_model_names(engine))
    if engine is not None and engine not in entry.builders:
        raise InvalidValueError(f"engine for track model {name!r}", " or ".join(entry.builders), engine)
    return entry


def wheel_count(track_model: str) -> int:
    """Return N of the name of a track model `wheels:N`.

    Raises:
        InvalidValueError: N is not a number, or less than 2.
    """
    count = int(track_model[7:]) if re.fullmatch("wheels:[0-9]{1,4000}", track_model) else 0
    if count < 2:
        raise InvalidValueError("track model wheels:N", "at least 2 wheels", track_model)
    return count


def check_engine(name: str | None) -> None:
    """Refuse the name of an engine that does not exist; None leaves the choice open.

    Raises:
        UnknownNameError: There is no engine of that name.
    """
    if name is not None and name not in get_args(EngineName):
        raise UnknownNameError("engine", name, get_args(EngineName))


def resolve(
    engine: EngineName | None, track_model: str | None, preferred: EngineName | None = None
) -> tuple[EngineName, str]:
    """Choose the engine and the track model where one or both are left open.

    Args:
        engine: None for one that runs the track model.
        track_model: None for the engine's default.
        preferred: Engine to choose where it runs the track model; None for the one that runs it faster, or
            else `DEFAULT_ENGINE`.

    Returns:
        Names of the engine and of the track model.

    Raises:
        UnknownNameError: No such engine, or no such track model.
        InvalidValueError: The engine does not run the track model, or it has too few wheels.
        MissingPyBulletError: PyBullet is chosen and not installed.
        MissingPackageError: MuJoCo is.
    """
    check_engine(engine)
    if track_model is None:
        chosen = engine or preferred or DEFAULT_ENGINE
        track_model = track_model_names(chosen)[0]
    else:
        entry = find_track_model(track_model, engine)
        by_preference = (engine, preferred, entry.faster, DEFAULT_ENGINE, *entry.builders)
        chosen = next(name for name in by_preference if name is not None and name in entry.builders)
    if chosen == "pybullet" != DEFAULT_ENGINE:
        raise MissingPyBulletError
    if chosen == "mujoco" and find_spec("mujoco") is None:
        raise MissingPackageError("engine mujoco", "MuJoCo", "mujoco")
    return chosen, track_model
