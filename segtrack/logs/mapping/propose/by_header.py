"""Columns by their names and units."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from segtrack.errors import SegtrackError
from segtrack.logs.log import Log
from segtrack.logs.mapping.file.belts import BELT_SPEED
from segtrack.logs.mapping.file.units import (
    ANGLE,
    COUNTING,
    COUNTS,
    CURRENT,
    LENGTH,
    SPEED,
    TURNING,
    Units,
    plain,
)
from segtrack.logs.mapping.propose.entry import PITCH, RADIUS, SLIP, Entry
from segtrack.logs.mapping.propose.words import SIDES, Word, unit_keys, words_of
from segtrack.logs.motion import QUANTITIES, quantity_of

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
_VECTORS = (
    ("position", r"(?:^|.*_)(?:p|pos|position|t|translation)?_?{}", "xyz", LENGTH),
    ("orientation", r"(?:^|.*_)(?:q|quat|quaternion|orientation|rotation|rot)_?{}", "xyzw", None),
    (
        "angular_velocity",
        r"(?:^|.*_)(?:w|omega|gyro|gyr|ang_?vel|angular_?(?:velocity|rate))_?{}",
        "xyz",
        TURNING,
    ),
)
_NO_PLACE = re.compile(r"gyr|acc|mag|vel|omega|quat|rate|rot|orient|force|torque|(?:^|_)[wqva]_")
_SATELLITES = {
    "latitude": r"(?:.*_)?lat(?:itude)?",
    "longitude": r"(?:.*_)?(?:lon|lng|long)(?:itude)?",
    "height": r"(?:.*_)?(?:alt(?:itude)?|height)",
}
_OWN_TABLE = {"time_s", "x_m", "y_m", "z_m", "qx", "qy", "qz", "qw", "pitch_rad"}
"""What the table of a simulated climb begins with."""


def propose_by_header(log: Log) -> Iterator[Entry]:
    """What columns are, as far as their names say it; of those of one quantity the first is the best."""
    yield from _own(log)
    if "position" in log.channels and "orientation" in log.channels:  # Of a TUM trajectory.
        for name in ("position", "orientation"):
            yield Entry(name, {"channels": name}, {}, (name,))
    words = words_of(log)
    yield from _sides(words)
    for path, pattern, axes, units in _VECTORS:
        found = _components(words, path, pattern, axes, units)
        if len(found) == len(axes) or (path == "position" and len(found) == 2):
            said, todo = ({}, {}) if units is None else unit_keys(found, units)
            channels: dict[str, str | list[str]] = {"channels": [word.name for word in found]}
            yield Entry(path, channels | said, todo, tuple(word.name for word in found))
    yield from _satellites(words)
    yield from _angles(words)


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


def _own(log: Log) -> Iterator[Entry]:
    """Columns that segtrack writes: those of a climb, or quantities by name (`belt_speed.left [m/s]`)."""
    names = set(log.channels)
    if names >= _OWN_TABLE:
        for name in log.channels:
            flipper = name.removesuffix("_angle_rad")
            if flipper != name:
                yield Entry(f"flipper_angle.{flipper}", {"channel": name}, {}, (name,))
    if not any(name.startswith("belt_speed.") for name in names):
        return
    found: dict[str, dict[str, str | list[str]]] = {}
    for name, channel in log.channels.items():
        key = re.sub(r"\s*\[.*\]$", "", name)
        quantity, _, which = key.partition(".")
        try:
            if plain(channel.unit) != quantity_of(key).unit or QUANTITIES[quantity].width > 1:
                continue
        except SegtrackError:
            continue
        if QUANTITIES[quantity].each == "side":
            found.setdefault(quantity, {})[which] = name
        else:
            sign: dict[str, str | list[str]] = {"positive": "nose up"} if key == "pitch" else {}
            yield Entry(key, {"channel": name, **sign}, {}, (name,))
    for quantity, kind in QUANTITIES.items():
        parts = [f"{quantity}.{axis} [{kind.unit}]" for axis in "xyzw"[: kind.width]]
        if kind.width > 1 and names.issuperset(parts):
            channels: dict[str, str | list[str]] = {"channels": list(parts)}
            yield Entry(quantity, channels, {}, tuple(parts))
    for quantity, sides in found.items():
        if len(sides) == 2 or not quantity.startswith("belt_speed"):
            more = {"positive": "belt faster"} if quantity == "slip_velocity" else {}
            yield Entry(quantity, {**sides, **more}, {}, tuple(map(str, sides.values())))


def _sides(words: Sequence[Word]) -> Iterator[Entry]:
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
        keys: dict[str, str | list[str]] = {"left": pair[0].name, "right": pair[1].name}
        yield Entry(path, keys | said, todo, (pair[0].name, pair[1].name))


def _is_belt(word: Word) -> bool:
    is_speed = word.unit in (*SPEED, *TURNING, *COUNTING)
    is_role = word.unit in ("", *BELT_SPEED) and all(map(_ROLES.fullmatch, word.bare.split("_")))
    is_named = _BELT.search(word.bare) or is_role
    return not _OTHER.search(word.bare) and (is_speed or bool(is_named))


def _rank(word: Word) -> int:
    """Which of several columns of a side is the best: speeds before what has to be differentiated."""
    ranks = (SPEED, TURNING, COUNTING)
    unknown = len(ranks) + (word.unit != "")
    return next((i for i, units in enumerate(ranks) if word.unit in units), unknown)


def _satellites(words: Sequence[Word]) -> Iterator[Entry]:
    found = {
        key: next((word.name for word in words if re.fullmatch(said, word.bare)), None)
        for key, said in _SATELLITES.items()
    }
    if found["latitude"] is not None and found["longitude"] is not None:
        keys: dict[str, str | list[str]] = {key: name for key, name in found.items() if name is not None}
        yield Entry("position", keys, {}, tuple(map(str, keys.values())))


def _angles(words: Sequence[Word]) -> Iterator[Entry]:
    """Roll, pitch, yaw and its rate, and flippers."""
    for word in words:
        if _FLIPPER.search(word.bare) and not _RATE.search(word.bare) and word.unit in ("", *ANGLE):
            which = re.sub(r"flipper|angle|(?:^|_)(?:cmd|command|position|pos|meas)(?=_|$)", "", word.bare)
            flipper = re.sub(r"_+", "_", which).strip("_") or "flipper"
            path = "flipper_angle_command" if word.is_command else "flipper_angle"
            said, todo = unit_keys([word], ANGLE)
            yield Entry(f"{path}.{flipper}", {"channel": word.name, **said}, todo, (word.name,))
        if word.is_command:
            continue
        is_rate = _RATE.search(word.bare) is not None
        for path, pattern in _ANGLES.items():
            if pattern.search(word.bare) and (not is_rate or path == "yaw"):
                said, todo = unit_keys([word], TURNING if is_rate else ANGLE)
                todo |= {"positive": PITCH} if path == "pitch" else {}
                yield Entry(
                    "yaw_rate" if is_rate else path, {"channel": word.name, **said}, todo, (word.name,)
                )
