"""Channels and constants as signals in segtrack's units and signs, still in sensor frames and own clocks."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray
from pydantic import ValidationError
from scipy.spatial.transform import Rotation

from segtrack.description import TrackOffsets, VehicleDescription, consistency_problems
from segtrack.errors import InvalidValueError, Problem, UnknownNameError
from segtrack.logs.mapping.channels import MappedQuantity
from segtrack.logs.mapping.mapping_file import LogMapping
from segtrack.logs.mapping.pose_columns import ORTHOGONAL, off_rotation
from segtrack.logs.mapping.quantities import (
    ANGLE,
    BELT_TRAVEL,
    COUNTING,
    COUNTS,
    SPEED,
    TIME,
    TURNING,
    AngularVelocity,
    BeltSpeed,
    ChannelOrValue,
    FlipperAngle,
    Orientation,
    Pitch,
    Position,
    Quantities,
    Reference,
    Roll,
    SideChannels,
    SpecificForce,
    Velocity,
    Yaw,
    YawRate,
    standard_unit,
    unit_problem,
)
from segtrack.robot import CONSTANT, Signal

Array = NDArray[np.float64]

_AXIS, _FLATTENING = 6378137.0, 1 / 298.257223563
"""Semi-major axis [m] and flattening of WGS 84 (NIMA TR8350.2, table 3.1)."""


def to_local_position(latitude: Array, longitude: Array, height: Array) -> Array:
    """Convert positions to east, north and up of the first one (n, 3) [m].

    Args:
        latitude: Geodetic latitude (n,) [deg].
        longitude: Longitude (n,) [deg].
        height: Height above the ellipsoid, or above any level at a constant distance from it (n,) [m].
    """
    phi, lam = np.radians(latitude), np.radians(longitude)
    eccentricity = _FLATTENING * (2 - _FLATTENING)
    across = _AXIS / np.sqrt(1 - eccentricity * np.sin(phi) ** 2)
    centred = np.stack(
        [
            (across + height) * np.cos(phi) * np.cos(lam),
            (across + height) * np.cos(phi) * np.sin(lam),
            (across * (1 - eccentricity) + height) * np.sin(phi),
        ],
        axis=1,
    )
    sin_phi, cos_phi, sin_lam, cos_lam = np.sin(phi[0]), np.cos(phi[0]), np.sin(lam[0]), np.cos(lam[0])
    axes = np.array(
        [
            [-sin_lam, cos_lam, 0.0],
            [-sin_phi * cos_lam, -sin_phi * sin_lam, cos_phi],
            [cos_phi * cos_lam, cos_phi * sin_lam, sin_phi],
        ]
    )
    local: Array = (centred - centred[0]) @ axes.T
    return local


UNIT_LENGTH = 5e-3
"""Largest deviation of a quaternion's length from 1, as of rounded ones."""
_NEGATIVE = ("tip down", "nose down", "left side down", "right", "ground faster")


_SOME = 10
"""Intervals from which the unit of a source's times is judged."""
_SHORTEST = 1e-4
"""Interval that rows of a log have at least [s]."""


def convert_signals(
    found: MappedQuantity,
    times: Array,
    kept: NDArray[np.bool_],
    sides: TrackOffsets | None,
    max_gap: float,
    notes: list[str],
) -> tuple[dict[str, Signal], list[Problem]]:
    """Return signals by their keys, without rows that lack a number, and problems with the numbers.

    Derivatives have no value between rows that are more than `max_gap` apart.

    Args:
        found: Quantity of the mapping, with its channels.
        times: Times of the source's rows (n,) [s].
        kept: Mask of the rows that have a time of their own (n,).
        sides: Places of the vehicle's tracks; None if they are not known.
        max_gap: Time without a value that may be bridged [s].
        notes: List to which the number of rows left out is added.
    """
    reference = found.reference
    if isinstance(reference, BeltSpeed) and reference.is_twist and (reference.gauge or sides) is None:
        ways = "with the distance of the tracks [m], or with a vehicle"
        return {}, [Problem(f"{found.path}.gauge", f"is missing: a twist becomes belt speeds {ways}")]
    signals: dict[str, Signal] = {}
    problems: list[Problem] = []
    rows = fewest = int(kept.sum())
    for key, values in _values(found, sides):
        there = kept & np.isfinite(values.reshape(len(values), -1)).all(axis=1)
        if not there.any():
            none = f"{' and '.join(found.names)} has none in any of {len(values)} rows"
            problems.append(Problem(found.path, f"has no numbers: {none}"))
            continue
        when, numbers = (times, values) if there.all() else (times[there], values[there])
        if isinstance(reference, Orientation):
            to_quaternions = _unit_quaternions if numbers.shape[1] == 4 else _quaternions_of_matrices
            numbers, problem = to_quaternions(numbers, np.flatnonzero(there), found.path)
            problems += [] if problem is None else [problem]
        elif isinstance(reference, Position) and reference.channels is None:
            numbers = to_local_position(*numbers.T)
        elif isinstance(reference, Roll | Pitch | Yaw):
            numbers = np.unwrap(numbers)
        elif isinstance(reference, BeltSpeed) and found.unit in BELT_TRAVEL:
            if len(when) < 2 or np.diff(when).min() > max_gap:
                message = f"must have two rows at most {max_gap:g} s apart to be differentiated"
                problems.append(Problem(found.path, message + other_unit(when, found.source, max_gap)))
                continue
            near = np.diff(when) <= max_gap
            when, numbers = ((when[1:] + when[:-1]) / 2)[near], (np.diff(numbers) / np.diff(when))[near]
        fewest = min(fewest, int(there.sum()))
        signals[key] = Signal(when, numbers, reference.std, found.source)
    if fewest < rows:
        notes.append(f"{found.key}: {rows - fewest} of {rows} rows lack a number: left out")
    return signals, problems


def other_unit(times: Array, source: str, max_gap: float) -> str:
    """Say how far apart rows are that are all too far apart, and in which unit of time they would not be.

    Args:
        times: Times of the rows (n,) [s].
        source: Name of their source.
        max_gap: Time without a value that may be bridged [s].

    Returns:
        End of a sentence; empty where some rows are near enough, or no unit brings them near enough.
    """
    apart = np.diff(times)
    if len(apart) < _SOME or apart.min() <= max_gap:
        return ""
    middle = float(np.median(apart))
    for unit, scale in TIME.items():
        if _SHORTEST < middle * scale <= max_gap:
            would = f"{middle * scale:.3g} s if its times are in {unit}"
            line = f"sources: {{{source}: {{time: ..., unit: {unit}}}}}"
            return f"; rows of {source} are {middle:.3g} s apart, {would}: {line}"
    return ""


def _values(found: MappedQuantity, sides: TrackOffsets | None) -> Iterator[tuple[str, Array]]:
    """Numbers by the keys of signals, in segtrack's units and signs."""
    reference, unit = found.reference, found.unit
    factor = 1.0 if unit == "" else reference.units[unit]
    sign = _sign_of(reference)
    match reference:
        case BeltSpeed() if reference.is_twist:
            linear, angular = (
                column.values * units.get(standard_unit(column.channel.unit), 1.0)
                for column, units in zip(found.columns.values(), (SPEED, TURNING), strict=True)
            )
            if reference.gauge is not None:
                sides = TrackOffsets.centred(reference.gauge)
            assert sides is not None
            left, right = sides.belt_speeds(linear, angular)
            yield f"{found.key}.left", left
            yield f"{found.key}.right", right
        case SideChannels():
            of_side = belt_speed_converter(reference, unit) if isinstance(reference, BeltSpeed) else None
            for side, column in found.columns.items():
                values = factor * column.values if of_side is None else of_side(column.values)
                yield f"{found.key}.{side}", (-sign if side in reference.reversed else sign) * values
        case Orientation():
            values, inverse = found.stacked(), reference.given == "world in body"
            if values.shape[1] > 4:
                matrices = values.reshape(len(values), 3, -1)[:, :, :3]
                turned = matrices.swapaxes(1, 2) if inverse else matrices
                yield found.key, turned.reshape(len(values), 9)
                return
            values = values[:, [1, 2, 3, 0]] if reference.order == "wxyz" else values
            yield found.key, values * [-1.0, -1.0, -1.0, 1.0] if inverse else values
        case Position() if reference.channels is None:
            columns = [column.values for column in found.columns.values()]
            height = columns[2] if len(columns) > 2 else np.where(np.isfinite(columns[0]), 0.0, np.nan)
            yield found.key, np.column_stack([columns[0], columns[1], height])
        case Position() | Velocity() | AngularVelocity() | SpecificForce():
            values = factor * found.stacked()
            if values.shape[1] == 12:  # Of a pose by rows, each with a coordinate behind its rotation.
                values = values[:, 3::4]
            if values.shape[1] == 2:
                values = np.column_stack([values, np.where(np.isfinite(values[:, 0]), 0.0, np.nan)])
            yield found.key, values - reference.bias if isinstance(reference, AngularVelocity) else values
        case _:
            yield found.key, to_standard(reference, unit, next(iter(found.columns.values())).values)


def to_standard(reference: Reference, unit: str, values: Array) -> Array:
    """Return numbers of a quantity that has one at a time (any shape) in segtrack's unit and sign."""
    zero = reference.zero if isinstance(reference, FlipperAngle) else 0.0
    return _sign_of(reference) * (1.0 if unit == "" else reference.units[unit]) * (values - zero)


def _sign_of(reference: Reference) -> float:
    return -1.0 if getattr(reference, "positive", None) in _NEGATIVE else 1.0


def belt_speed_converter(reference: BeltSpeed, unit: str) -> Callable[[Array], Array]:
    """Return a function that converts a channel's numbers to belt speeds [m/s], or travels [m]."""
    if reference.table is not None:
        numbers, speeds = np.array(reference.table).T
        return lambda values: np.where(np.isfinite(values), np.interp(values, numbers, speeds), np.nan)
    factor = reference.units[unit]
    if unit in (*COUNTS, *COUNTING):
        factor = 2 * np.pi / (reference.counts_per_turn or 1.0)
    if unit in (*COUNTS, *COUNTING, *TURNING, *ANGLE):
        factor *= (reference.radius or 1.0) / reference.gear_ratio
    return lambda values: factor * values


def _unit_quaternions(values: Array, rows: NDArray[np.intp], path: str) -> tuple[Array, Problem | None]:
    lengths = np.linalg.norm(values, axis=1)
    wrong = abs(lengths - 1) > UNIT_LENGTH
    if not wrong.any():
        return values / lengths[:, None], None
    first = int(np.argmax(wrong))
    message = f"must be quaternions of length one, got {lengths[first]:.4g} at row {rows[first]}"
    more = int(wrong.sum()) - 1
    return values, Problem(path, message + (f" and others in {more} more" if more else ""))


def _quaternions_of_matrices(
    values: Array, rows: NDArray[np.intp], path: str
) -> tuple[Array, Problem | None]:
    """Quaternions (n, 4) of the rotations nearest to matrices by rows (n, 9), and the problem of others."""
    matrices = values.reshape(-1, 3, 3)
    off = off_rotation(matrices)
    wrong = off > ORTHOGONAL
    if not wrong.any():
        quaternions: Array = Rotation.from_matrix(matrices).as_quat()
        return quaternions, None
    first = int(np.argmax(wrong))
    got = "a mirrored one" if np.isinf(off[first]) else f"one that is {off[first]:.2g} off"
    message = (
        f"must be rotation matrices, row by row: R R^T = 1 and det R = 1, got {got} at row {rows[first]}"
    )
    more = int(wrong.sum()) - 1
    return values[:, :4], Problem(path, message + (f" and others in {more} more" if more else ""))


def convert_steady_rows(
    found: Sequence[MappedQuantity], sides: TrackOffsets | None, notes: list[str]
) -> tuple[dict[str, Signal], list[Problem]]:
    """Return signals over numbers of rows, and problems; rows that lack any number are left out.

    Args:
        found: Quantities of the mapping, all of one table.
        sides: Places of the vehicle's tracks; None if they are not known.
        notes: List to which the number of rows left out is added.
    """
    signals: dict[str, Signal] = {}
    problems: list[Problem] = []
    lengths = {len(column.values) for part in found for column in part.columns.values()}
    if len(lengths) > 1:
        return {}, [Problem("quantities", f"must be of one table, got columns of {sorted(lengths)} rows")]
    numbers = np.arange(float(lengths.pop()))
    for part in found:
        # Rows that lack a number are noted below, of all together.
        own, complaints = convert_signals(part, numbers, np.ones(len(numbers), dtype=bool), sides, np.inf, [])
        signals |= own
        problems += complaints
    if problems:
        return {}, problems
    whole = numbers[np.all([np.isin(numbers, signal.times) for signal in signals.values()], axis=0)]
    if not len(whole):
        return {}, [Problem("quantities", "must have a row in which all of them have a number")]
    if len(whole) < len(numbers):
        notes.append(f"{len(numbers) - len(whole)} of {len(numbers)} rows lack a number: left out")
    return {key: replace(signal, times=whole, values=signal.at(whole)) for key, signal in signals.items()}, []


_KINDS: Mapping[str, type[ChannelOrValue]] = {
    "flipper_angle": FlipperAngle,
    "flipper_angle_command": FlipperAngle,
    "roll": Roll,
    "pitch": Pitch,
    "yaw": Yaw,
    "yaw_rate": YawRate,
}
_SETTING = re.compile(
    r"\s*(?P<name>[\w.]+?)\s*=\s*(?P<value>[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?)\s*(?P<unit>\D*)"
)
_FORM = "NAME=VALUE with a unit, as flipper_angle.front_left=45deg"


def with_constants(mapping: LogMapping, settings: Sequence[str]) -> LogMapping:
    """Return a mapping with constants that are stated beside its file, instead of what the file says of them.

    Args:
        mapping: Mapping.
        settings: Texts `NAME=VALUE` with a unit, in segtrack's signs: `flipper_angle.front_left=45deg`.

    Raises:
        InvalidValueError: A text is none of these, or a quantity is stated twice.
        UnknownNameError: A quantity that cannot be constant.
        MappingFileError: The mapping says otherwise elsewhere.
    """
    quantities = mapping.file.quantities
    stated = [_parse(text) for text in settings]
    for i, (path, constant) in enumerate(stated):
        if path in (other for other, _ in stated[:i]):
            raise InvalidValueError(f"constant {path}", "given once", settings[i])
        name, _, flipper = path.partition(".")
        value = {**getattr(quantities, name), flipper: constant} if flipper else constant
        quantities = quantities.model_copy(update={name: value})
    file = mapping.file.model_copy(update={"quantities": quantities})
    changed = replace(mapping, file=file, stated=tuple(path for path, _ in stated))
    if problems := list(consistency_problems(file)):
        raise changed.refusal(problems)
    return changed


def _parse(text: str) -> tuple[str, ChannelOrValue]:
    """Path and value of a quantity from `NAME=VALUE` with a unit."""
    parts = _SETTING.fullmatch(text)
    if parts is None:
        raise InvalidValueError("a constant", _FORM, text)
    path, unit = parts["name"], parts["unit"]
    name, _, flipper = path.partition(".")
    if name not in _KINDS:
        raise UnknownNameError("quantity that can be constant", name, _KINDS)
    kind = _KINDS[name]
    if bool(flipper) != (kind is FlipperAngle):
        raise InvalidValueError("a constant", f"{name}.FLIPPER" if kind is FlipperAngle else name, path)
    if unit_problem(unit, kind.units) is not None:
        raise InvalidValueError(f"unit of constant {path}", f"one of {', '.join(kind.units)}", unit)
    sign = {"positive": "nose up"} if kind is Pitch else {}
    try:
        return path, kind.model_validate({"value": float(parts["value"]), "unit": unit.strip(), **sign})
    except ValidationError:
        raise InvalidValueError(f"constant {path}", "at most a turn where it is in rad", text) from None


def constant_signals(quantities: Quantities, first: float, last: float) -> dict[str, Signal]:
    """Return the signals of all constants, between two times [s]."""
    times = np.unique([first, last])
    signals = {}
    for path, reference in quantities.constants():
        value = to_standard(reference, reference.unit_of_value, np.array(reference.value))
        signals[path] = Signal(times, np.full(len(times), float(value)), reference.std, CONSTANT)
    return signals


def constant_notes(mapping: LogMapping) -> Iterator[str]:
    """Yield a sentence for each constant."""
    for path, reference in mapping.file.quantities.constants():
        where = "beside the mapping file" if path in mapping.stated else "in the mapping file"
        yield f"{path}: {reference.value:g} {reference.unit_of_value} all the time, as stated {where}"


def unlogged_notes(vehicle: VehicleDescription, quantities: Quantities) -> Iterator[str]:
    """Yield a sentence on the flippers, and one on the driven joints, whose angles nobody gives."""
    given = {*quantities.flipper_angle, *quantities.flipper_angle_command}
    missing = [f"flipper_angle.{name}" for name in vehicle.flippers if name not in given]
    if missing:
        verb, plural = ("is", "it was") if len(missing) == 1 else ("are", "they were")
        listed = " and ".join(filter(None, [", ".join(missing[:-1]), missing[-1]]))
        yield f"{listed} {verb} not logged: taken as 0 rad; say `value:` if {plural} otherwise"
    for joint in vehicle.joint_tree.joints if vehicle.joints else ():
        if joint.servo is not None:
            unit = "rad" if joint.kind == "revolute" else "m"
            place = f"{joint.initial_position:g} {unit}"
            yield f"joint {joint.name} is not logged: taken as at its initial_position, {place}"
