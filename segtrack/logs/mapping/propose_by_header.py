"""Proposals for the columns of a table, from their names and units."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from segtrack.errors import SegtrackError
from segtrack.logs.log import Channel, Log
from segtrack.logs.mapping.belt_speed import BELT_SPEED
from segtrack.logs.mapping.references import (
    ACCELERATION,
    ANGLE,
    COUNTING,
    COUNTS,
    CURRENT,
    LENGTH,
    SPEED,
    TURNING,
    Units,
    standard_unit,
)
from segtrack.robot import QUANTITIES, quantity_of

RADIUS = "of the sprocket, from its axis to where the belt's pitch is true [m]"
PITCH = "nose up, or nose down (as REP 103 counts)"
SLIP = "belt faster, or ground faster"
Keys = dict[str, str | list[str]]
"""Lines of a quantity: names of channels, lists of them, or words, by key."""


@dataclass(frozen=True)
class ProposedQuantity:
    """Quantity of a proposed mapping file, with its keys in the order of their lines.

    Attributes:
        path: Path of the quantity, with the name of a flipper.
        keys: Lines of the file.
        todo: Remarks on keys that the user must fill in, by key.
        channels: Names of the log's channels that it uses.
    """

    path: str
    keys: Keys
    todo: dict[str, str]
    channels: tuple[str, ...]


_ENDINGS = {"m_s": "m/s", "rad_s": "rad/s", "deg_s": "deg/s", "m": "m", "mm": "mm", "cm": "cm", "a": "A"}
"""Units at the ends of names that a reader cannot be sure of; a proposal says them, for the user to see."""
_LISTED = 9
COMMANDED = re.compile(r"(?:^|_)(?:cmd|command|commanded|desired|des|target|setpoint|ref|set)(?:_|$)")
SIDES = (re.compile(r"(?:^|_)(?:left|l)(?:_|$)"), re.compile(r"(?:^|_)(?:right|r)(?:_|$)"))


@dataclass(frozen=True)
class Word:
    """A column of one number at a time.

    Attributes:
        name: Name in the log.
        bare: Name in small letters, without its unit, with underscores between words.
        unit: Unit in the log, or else at the end of the name; empty if neither.
        is_said: True if the log gives the unit.
    """

    name: str
    bare: str
    unit: str
    is_said: bool

    @property
    def is_command(self) -> bool:
        """True if it is commanded, not measured."""
        return COMMANDED.search(self.bare) is not None


def find_words(log: Log) -> tuple[Word, ...]:
    """Return all columns of one number at a time, in the order of the log."""
    return tuple(_word(channel) for channel in log.channels.values() if channel.values.ndim == 1)


def unit_keys(words: Sequence[Word], units: Units) -> tuple[Keys, dict[str, str]]:
    """Return the line for the unit of some columns, and a remark to fill it in: one or neither."""
    known = {word.unit for word in words}
    if len(known) != 1 or not known <= set(units):
        return {}, {"unit": f"{', '.join(list(units)[:_LISTED])}{', ...' * (len(units) > _LISTED)}"}
    return ({} if all(word.is_said for word in words) else {"unit": known.pop()}), {}


def _word(channel: Channel) -> Word:
    text = re.sub(r"\s*[\[(].*$", "", channel.name)
    spaced = re.sub(r"(?<=[a-z])(?=[A-Z][a-z])", "_", text)
    bare = re.sub(r"[\W_]+", "_", spaced).strip("_").lower()
    unit = standard_unit(channel.unit) if channel.unit else ""
    if unit:
        ending = re.sub(r"\W", "_", unit.lower())
        return Word(channel.name, bare.removesuffix(f"_{ending}"), unit, True)
    for ending, found in _ENDINGS.items():
        if bare.endswith(f"_{ending}"):
            return Word(channel.name, bare.removesuffix(f"_{ending}"), found, False)
    return Word(channel.name, bare, "", False)


_BELT = re.compile(r"speed|vel|rpm|omega|sprocket|wheel|motor|track|belt|pwm|enc")
_ROLES = re.compile(
    r"cmd|command|commanded|desired|des|target|setpoint|ref|set|meas|measured|actual|act|feedback|fb|left|right|l|r"
)
"""Words beside which a column needs none of belts: `cmd_left`, `meas_r`."""
_OTHER = re.compile(r"slip|beta|curr|amp|force|torque|temp|volt|power|energy|flipper|arm|front|rear|angle")
_CURRENT = re.compile(r"(?:^|_)(?:current|curr|amps?|i)(?:_|$)")
_SLIP = re.compile(r"slip|beta")
_FLIPPER = re.compile(r"flipper|(?:^|_)arm|^(?:front|rear)(?:_(?:left|right))?_angle")
_RATE = re.compile(r"rate|vel|omega|gyro|dot|speed|(?:^|_)w(?:_|$)")
_ANGLES = {
    "roll": re.compile(r"(?:^|_)roll(?:_|$)"),
    "pitch": re.compile(r"(?:^|_)pitch(?:_|$)"),
    "yaw": re.compile(r"(?:^|_)(?:yaw|heading|psi)(?:_|$)"),
}
_TURNING_WORDS = "w|omega|gyro|gyr|ang_?vel|angular_?(?:velocity|rate)"
_VECTORS = (
    ("position", r"(?:^|.*_)(?:p|pos|position|t|translation)?_?{}", "xyz", LENGTH),
    ("orientation", r"(?:^|.*_)(?:q|quat|quaternion|orientation|rotation|rot)_?{}", "xyzw", None),
    ("specific_force", r"(?:^|.*_)(?:a|acc|accel|acceleration|linear_acceleration)_?{}", "xyz", ACCELERATION),
    ("angular_velocity", rf"(?:^|.*_)(?:{_TURNING_WORDS})_?{{}}", "xyz", TURNING),
)
_NO_PLACE = re.compile(r"gyr|acc|mag|vel|omega|quat|rate|rot|orient|force|torque|(?:^|_)[wqva]_")
_SATELLITES = {
    "latitude": r"(?:.*_)?lat(?:itude)?",
    "longitude": r"(?:.*_)?(?:lon|lng|long)(?:itude)?",
    "height": r"(?:.*_)?(?:alt(?:itude)?|height)",
}
_OWN_TABLE = {"time_s", "x_m", "y_m", "z_m", "qx", "qy", "qz", "qw", "pitch_rad"}
"""First columns in the table of a simulated climb."""


def shows_gravity(values: NDArray[np.float64]) -> bool:
    """Return whether accelerations (n, 3) of any unit are a specific force, most of which is constant."""
    known = values[np.isfinite(values).all(axis=1)]
    size = math.sqrt(float((known**2).sum(axis=1).mean())) if len(known) else 0.0
    return size > 0 and float(np.linalg.norm(known.mean(axis=0))) > size / 2


def propose_by_header(log: Log) -> Iterator[ProposedQuantity]:
    """Yield proposals from the names of columns; the first one for a quantity is the best."""
    yield from _own(log)
    if "position" in log.channels and "orientation" in log.channels:  # Of a TUM trajectory.
        for name in ("position", "orientation"):
            yield ProposedQuantity(name, {"channels": name}, {}, (name,))
    words = find_words(log)
    yield from _sides(words)
    for path, pattern, axes, units in _VECTORS:
        found = _components(words, path, pattern, axes, units)
        if path == "specific_force" and not shows_gravity(_columns(log, found)):
            continue
        if len(found) == len(axes) or (path == "position" and len(found) == 2):
            said, todo = ({}, {}) if units is None else unit_keys(found, units)
            channels: Keys = {"channels": [word.name for word in found]}
            yield ProposedQuantity(path, channels | said, todo, tuple(word.name for word in found))
    yield from _satellites(words)
    yield from _angles(words)


def _columns(log: Log, words: Sequence[Word]) -> NDArray[np.float64]:
    """Numbers of columns of one table (n, 3); none where they are fewer or of several tables."""
    columns = [log.channels[word.name].values for word in words]
    is_one = len(columns) == 3 and len({column.shape for column in columns}) == 1
    return np.stack(columns, axis=1) if is_one else np.zeros((0, 3))


def _components(words: Sequence[Word], path: str, pattern: str, axes: str, units: Units | None) -> list[Word]:
    """The columns of a vector, as far as there are any, by its axes."""
    found: list[Word] = []
    for axis in axes:
        for word in words:
            is_other = word.is_command or (path == "position" and _NO_PLACE.search(word.bare))
            if re.fullmatch(pattern.format(axis), word.bare) and not is_other:
                if not word.unit or units is None or word.unit in units:
                    found.append(word)
                    break
    return found


def _own(log: Log) -> Iterator[ProposedQuantity]:
    """Columns that segtrack writes: those of a climb, or quantities by name (`belt_speed.left [m/s]`)."""
    names = set(log.channels)
    if names >= _OWN_TABLE:
        for name in log.channels:
            flipper = name.removesuffix("_angle_rad")
            if flipper != name:
                yield ProposedQuantity(f"flipper_angle.{flipper}", {"channel": name}, {}, (name,))
    if not any(name.startswith("belt_speed.") for name in names):
        return
    found: dict[str, Keys] = {}
    for name, channel in log.channels.items():
        key = re.sub(r"\s*\[.*\]$", "", name)
        quantity, _, which = key.partition(".")
        try:
            if standard_unit(channel.unit) != quantity_of(key).unit or QUANTITIES[quantity].width > 1:
                continue
        except SegtrackError:
            continue
        if QUANTITIES[quantity].each == "side":
            found.setdefault(quantity, {})[which] = name
        else:
            sign: Keys = {"positive": "nose up"} if key == "pitch" else {}
            yield ProposedQuantity(key, {"channel": name, **sign}, {}, (name,))
    for quantity, kind in QUANTITIES.items():
        parts = [f"{quantity}.{axis} [{kind.unit}]" for axis in "xyzw"[: kind.width]]
        if kind.width > 1 and names.issuperset(parts):
            channels: Keys = {"channels": list(parts)}
            yield ProposedQuantity(quantity, channels, {}, tuple(parts))
    for quantity, sides in found.items():
        if len(sides) == 2 or not quantity.startswith("belt_speed"):
            more = {"positive": "belt faster"} if quantity == "slip_velocity" else {}
            yield ProposedQuantity(quantity, {**sides, **more}, {}, tuple(map(str, sides.values())))


def _sides(words: Sequence[Word]) -> Iterator[ProposedQuantity]:
    slips = [word for word in words if _SLIP.search(word.bare)]
    currents = [word for word in words if _CURRENT.search(word.bare) and not _SLIP.search(word.bare)]
    belts = [word for word in words if _is_belt(word)]
    for path, chosen, units in (
        ("slip_velocity", slips, SPEED),
        ("current", currents, CURRENT),
        ("belt_speed_command", [word for word in belts if word.is_command], BELT_SPEED),
        ("belt_speed", [word for word in belts if not word.is_command], BELT_SPEED),
    ):
        left, right = (sorted((w for w in chosen if side.search(w.bare)), key=_rank) for side in SIDES)
        if not left or not right or left[0] == right[0]:
            continue
        pair = left[0], right[0]
        said, todo = unit_keys(pair, units)
        if path == "slip_velocity":
            todo = {"positive": SLIP} | todo
        if units is BELT_SPEED and (todo or pair[0].unit in (*TURNING, *COUNTING, *ANGLE, *COUNTS)):
            todo |= {"radius": RADIUS + (", unless the unit is of a speed or a length" if todo else "")}
        keys: Keys = {"left": pair[0].name, "right": pair[1].name}
        yield ProposedQuantity(path, keys | said, todo, (pair[0].name, pair[1].name))


def _is_belt(word: Word) -> bool:
    is_speed = word.unit in (*SPEED, *TURNING, *COUNTING)
    is_role = word.unit in ("", *BELT_SPEED) and all(map(_ROLES.fullmatch, word.bare.split("_")))
    is_named = _BELT.search(word.bare) or is_role
    return not _OTHER.search(word.bare) and (is_speed or bool(is_named))


def _rank(word: Word) -> int:
    """Rank of a column among those of a side: speeds before positions, which are differentiated."""
    ranks = (SPEED, TURNING, COUNTING)
    unknown = len(ranks) + (word.unit != "")
    return next((i for i, units in enumerate(ranks) if word.unit in units), unknown)


def _satellites(words: Sequence[Word]) -> Iterator[ProposedQuantity]:
    found = {
        key: next((word.name for word in words if re.fullmatch(said, word.bare)), None)
        for key, said in _SATELLITES.items()
    }
    if found["latitude"] is not None and found["longitude"] is not None:
        keys: Keys = {key: name for key, name in found.items() if name is not None}
        yield ProposedQuantity("position", keys, {}, tuple(map(str, keys.values())))


def _angles(words: Sequence[Word]) -> Iterator[ProposedQuantity]:
    """Roll, pitch, yaw and its rate, and flippers."""
    for word in words:
        if _FLIPPER.search(word.bare) and not _RATE.search(word.bare) and word.unit in ("", *ANGLE):
            which = re.sub(r"flipper|angle|(?:^|_)(?:cmd|command|position|pos|meas)(?=_|$)", "", word.bare)
            flipper = re.sub(r"_+", "_", which).strip("_") or "flipper"
            path = "flipper_angle_command" if word.is_command else "flipper_angle"
            said, todo = unit_keys([word], ANGLE)
            yield ProposedQuantity(f"{path}.{flipper}", {"channel": word.name, **said}, todo, (word.name,))
        if word.is_command:
            continue
        is_rate = _RATE.search(word.bare) is not None
        for path, pattern in _ANGLES.items():
            if pattern.search(word.bare) and (not is_rate or path == "yaw"):
                said, todo = unit_keys([word], TURNING if is_rate else ANGLE)
                todo |= {"positive": PITCH} if path == "pitch" else {}
                key = "yaw_rate" if is_rate else path
                yield ProposedQuantity(key, {"channel": word.name, **said}, todo, (word.name,))
