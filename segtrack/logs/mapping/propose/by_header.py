"""Columns by their names and units."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from segtrack.errors import SegtrackError
from segtrack.logs.log import Channel, Log
from segtrack.logs.mapping.file.belts import BELT_SPEED
from segtrack.logs.mapping.file.units import ANGLE, COUNTING, COUNTS, CURRENT, SPEED, TURNING, Units, plain
from segtrack.logs.mapping.propose.entry import PITCH, RADIUS, SLIP, Entry
from segtrack.logs.motion import QUANTITIES, quantity_of

_COMMANDED = re.compile(r"cmd|command|desired|target|setpoint|(?:^|_)(?:ref|set)(?:_|$)")
_SPEED = re.compile(r"speed|vel|rpm|omega|sprocket|wheel|motor|track|belt|pwm")
_CURRENT = re.compile(r"current|curr|amps?(?:_|$)")
_SIDES = (re.compile(r"left|(?:^|_)l(?:_|$)"), re.compile(r"right|(?:^|_)r(?:_|$)"))
_SLIP = re.compile(r"slip|beta")
_ANGLES = {"roll": re.compile(r"(?:^|_)roll"), "pitch": re.compile(r"(?:^|_)pitch")}
_YAW = re.compile(r"(?:^|_)(?:yaw|heading|psi)(?:_|$)")
_RATE = re.compile(r"rate|vel|omega|gyro|dot|(?:^|_)w(?:_|$)")
_PLACE = r"(?:^|.*_)(?:p|pos|position|t|translation)?_?{}"
_GYRO = r"(?:^|.*_)(?:w|omega|gyro|gyr|ang_?vel|angular_?(?:velocity|rate|speed))_?{}"
_QUATERNION = r"(?:^|.*_)(?:q|quat|quaternion|orientation|rotation|rot)_?{}"
_SATELLITES = {
    "latitude": "lat(?:itude)?",
    "longitude": "(?:lon|lng|long)(?:itude)?",
    "height": "alt(?:itude)?|height",
}


def propose_by_header(log: Log) -> Iterator[Entry]:
    """What columns are, as far as their names say it."""
    yield from _own(log)
    columns = {_bare(channel): name for name, channel in log.channels.items() if channel.values.ndim == 1}
    if "position" in log.channels and "orientation" in log.channels:  # Of a TUM trajectory.
        for name in ("position", "orientation"):
            yield Entry(name, {"channels": name}, {}, (name,))
    yield from _sided(log, columns)
    for path, pattern, axes in (
        ("position", _PLACE, "xyz"),
        ("orientation", _QUATERNION, "xyzw"),
        ("angular_velocity", _GYRO, "xyz"),
    ):
        yield from _vector(log, columns, path, pattern, axes)
    satellites = {
        key: next(
            (name for bare, name in columns.items() if re.fullmatch(rf"(?:.*_)?(?:{said})", bare)), None
        )
        for key, said in _SATELLITES.items()
    }
    if satellites["latitude"] is not None and satellites["longitude"] is not None:
        keys: dict[str, str | list[str]] = {key: name for key, name in satellites.items() if name is not None}
        yield Entry("position", keys, {}, tuple(map(str, keys.values())))
    for path, word in (*_ANGLES.items(), ("yaw", _YAW)):
        for bare, name in columns.items():
            if word.search(bare) and not _RATE.search(bare) and not _COMMANDED.search(bare):
                todo = _unit_todo(log, [name], ANGLE) | ({"positive": PITCH} if path == "pitch" else {})
                yield Entry(path, {"channel": name}, todo, (name,))
    for bare, name in columns.items():
        if _YAW.search(bare) and _RATE.search(bare) and not _COMMANDED.search(bare):
            yield Entry("yaw_rate", {"channel": name}, _unit_todo(log, [name], TURNING), (name,))


def _own(log: Log) -> Iterator[Entry]:
    """Columns whose names are segtrack's own, as in tables that it writes: `belt_speed.left [m/s]`."""
    if not any(name.startswith("belt_speed.") for name in log.channels):
        return
    found: dict[str, dict[str, str]] = {}
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
            keys: dict[str, str | list[str]] = {"channel": name}
            yield Entry(key, keys | ({"positive": "nose up"} if key == "pitch" else {}), {}, (name,))
    for quantity, sides in found.items():
        if len(sides) == 2 or not quantity.startswith("belt_speed"):
            more = {"positive": "belt faster"} if quantity == "slip_velocity" else {}
            yield Entry(quantity, {**sides, **more}, {}, tuple(sides.values()))


def _sided(log: Log, columns: dict[str, str]) -> Iterator[Entry]:
    for path, wanted, units in (
        ("slip_velocity", _SLIP, None),
        ("current", _CURRENT, CURRENT),
        ("belt_speed_command", _SPEED, BELT_SPEED),
        ("belt_speed", _SPEED, BELT_SPEED),
    ):
        pair = []
        for side in _SIDES:
            for bare, name in columns.items():
                if side.search(bare) and _is(path, bare, plain(log.channels[name].unit), wanted):
                    pair.append(name)
                    break
        if len(pair) < 2 or pair[0] == pair[1]:
            continue
        if path == "slip_velocity":
            todo = {"positive": SLIP} | _unit_todo(log, pair, {"m/s": 1.0})
        else:
            todo = _unit_todo(log, pair, units or {})
        unit = plain(log.channels[pair[0]].unit)
        if units is BELT_SPEED and (unit in (*TURNING, *COUNTING, *ANGLE, *COUNTS) or "unit" in todo):
            todo |= {"radius": RADIUS + (", unless the unit is a speed" if "unit" in todo else "")}
        yield Entry(path, {"left": pair[0], "right": pair[1]}, todo, tuple(pair))


def _is(path: str, bare: str, unit: str, wanted: re.Pattern[str]) -> bool:
    is_speed = path.startswith("belt_speed")
    if not wanted.search(bare) and not (is_speed and unit in (*SPEED, *TURNING, *COUNTING)):
        return False
    if is_speed:
        is_command = _COMMANDED.search(bare) is not None
        other = _SLIP.search(bare) or _CURRENT.search(bare) or "flipper" in bare
        return is_command == path.endswith("command") and not other
    return True


def _vector(log: Log, columns: dict[str, str], path: str, pattern: str, axes: str) -> Iterator[Entry]:
    names = []
    for axis in axes:
        fit = re.compile(pattern.format(axis))
        names += [
            name for bare, name in columns.items() if fit.fullmatch(bare) and not _COMMANDED.search(bare)
        ][:1]
    if len(names) < len(axes) and not (path == "position" and len(names) == 2):
        return
    units = {"position": {"m": 1.0, "cm": 1.0, "mm": 1.0}, "angular_velocity": TURNING}.get(path)
    todo = {} if units is None else _unit_todo(log, names, units)
    yield Entry(path, {"channels": names}, todo, tuple(names))


def _unit_todo(log: Log, names: Sequence[str], units: Units) -> dict[str, str]:
    """What to say of a unit that the log does not say."""
    if all(plain(log.channels[name].unit) in units for name in names):
        return {}
    return {"unit": ", ".join(units)}


def _bare(channel: Channel) -> str:
    """A name in small letters, without its unit, with underscores between its words."""
    name = re.sub(r"\s*[\[(].*$", "", channel.name)
    unit = plain(channel.unit).replace("/", "_")
    words = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name)
    bare = re.sub(r"[\W_]+", "_", words).strip("_").lower()
    return bare.removesuffix(f"_{unit}") if unit else bare
