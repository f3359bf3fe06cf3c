"""Poses of a mapped log against gravity, path, terrain and the vehicle.

Attitude and accelerometers against gravity, gyroscope, path and slope; heights against terrain, velocity
against path, flippers against their stops, forces against drives.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np
from scipy.integrate import cumulative_trapezoid
from scipy.spatial.transform import Rotation

from segtrack.geometry import GRAVITY, rpy_of
from segtrack.logs.mapping.channels import find_column
from segtrack.logs.mapping.evidence import (
    FEWEST,
    Array,
    Correction,
    Driving,
    LogEvidence,
    Observation,
    Windows,
    folded,
    moving,
)
from segtrack.logs.statistics import noise_of
from segtrack.robot import Signal

TILTED = math.radians(60.0)
"""Tilt beyond which a vehicle that drives on stands on its side [rad]."""
ASIDE, BACKWARDS = math.radians(25.0), math.radians(150.0)
"""Angles between heading and path that contradict each other, and from which it goes backwards [rad]."""
_TURNED = 0.2
"""Length of windows over which attitude is differentiated [s]."""
_CLIMBED = 0.05
"""Range of heights that says something of slopes [m]."""
_ROUNDING = math.radians(3.0)
"""Slope over the whole way that a pitch may be wrong by unseen [rad]."""
ALIKE = 0.6
"""Correlation from which two rates, or slopes, are those of one motion."""


def check_tilt(evidence: LogEvidence) -> Iterator[Observation]:
    """Check that the vehicle stands on its tracks most of the time, and that no angle is beyond a turn."""
    motion = evidence.motion
    if (attitude := evidence.attitude) is not None:
        upward = Rotation.from_quat(attitude.values).as_matrix()[:, 2, 2]
        tilt = np.arccos(np.clip(upward, -1.0, 1.0))
        subject = "orientation" if "orientation" in motion.signals else "roll"
    elif (pitch := motion.angle("pitch")) is not None:
        tilt, subject = abs(pitch.values), "pitch"
    else:
        return
    middle = math.degrees(float(np.median(tilt)))
    name, state = "attitude", f"the body leans by {middle:.3g} deg for half of the time"
    if math.radians(middle) > TILTED:
        upside = "upside down" if middle > 120 else "on its side"
        yield Observation(
            name, (subject,), state, f"a vehicle that drives {upside}", middle > 90, middle / 60
        )
    else:
        yield Observation(name, (subject,), state)
    for angle in ("pitch", "roll"):
        if (signal := motion.signals.get(angle)) is None:
            continue
        largest = math.degrees(float(np.quantile(abs(signal.values), 0.99)))
        seen = f"the largest {angle} is {largest:.3g} deg"
        within = math.degrees(float(np.quantile(abs(folded(signal.values)), 0.99)))
        is_beyond = largest > 180 and within > 100
        told = "beyond half a turn" if is_beyond else ""
        yield Observation(f"{angle} beyond a turn", (angle,), seen, told, bool(told), max(largest / 180, 1))


def check_rates(evidence: LogEvidence) -> Iterator[Observation]:
    """Compare measured rates of turning with the change of attitude."""
    motion, attitude = evidence.motion, evidence.attitude
    rates, yaw_rate = motion.signals.get("angular_velocity"), motion.signals.get("yaw_rate")
    if rates is not None and attitude is not None:
        windows = _windows(rates, attitude)
        begin, end = (Rotation.from_quat(attitude.at(times)) for times in (windows.begin, windows.end))
        turned = (begin.inv() * end).as_rotvec() / max(windows.length, 1e-9)
        noise = 2 * noise_of(attitude.values) / max(windows.length, 1e-9)
        subjects = ("angular_velocity", "orientation" if "orientation" in motion.signals else "yaw")
        noises, measured = (windows.noise(rates), noise), windows.mean(rates)
        name = "gyroscope against attitude"
        yield from _judge_mounting(
            name, subjects, tuple(_judge_rates(name, subjects, measured, turned, noises)), measured, turned
        )
        return
    pairs = []
    for angle, column, sign in (("pitch", 1, -1.0), ("yaw", 2, 1.0)):
        if rates is not None and (own := motion.angle(angle)) is not None:
            pairs.append(("angular_velocity", sign * rates.values[:, column], rates.times, angle, own))
    if yaw_rate is not None and (own := motion.angle("yaw")) is not None:
        pairs.append(("yaw_rate", yaw_rate.values, yaw_rate.times, "yaw", own))
    for quantity, values, times, angle, own in pairs:
        signal = Signal(times, np.array(values))
        windows = _windows(signal, own)
        turned = windows.difference(own) / max(windows.length, 1e-9)
        noise = math.sqrt(2) * noise_of(own.values) / max(windows.length, 1e-9)
        subjects = (quantity, angle if angle in motion.signals else "orientation")
        noises = windows.noise(signal), noise
        yield from _judge_rates(f"gyroscope against {angle}", subjects, windows.mean(signal), turned, noises)


_ASKEW = math.radians(6.0)
"""Angle between the axes of two sensors from which they sit otherwise than the mapping says [rad]."""
_WELL = 0.95
"""Correlation of rates once they are turned, from which it is their mounting that differs."""


def _judge_mounting(
    name: str, subjects: tuple[str, str], judged: Sequence[Observation], measured: Array, turned: Array
) -> Iterator[Observation]:
    """Yield results on rates, (n, 3) each [rad/s], with the turn of either sensor that would explain them."""
    if not judged:
        return
    measured = measured - np.median(measured, axis=0)
    mount = _mounting(measured, turned)
    both = mount.apply(measured)
    size = float(np.sqrt((both**2).sum() * (turned**2).sum()))
    alike = float((both * turned).sum()) / size if size > 0 else 0.0
    angle = mount.magnitude()
    for each in judged:
        if alike < _WELL or angle < _ASKEW:
            yield each
            continue
        told = each.contradiction or f"about axes that are {math.degrees(angle):.2g} deg off"
        fits = (
            Correction("turn", subjects[0], rpy_of(mount.as_matrix())),
            Correction("turn", subjects[1], rpy_of(mount.inv().as_matrix())),
        )
        yield replace(each, contradiction=told, size=max(each.size, 1 + angle), fits=fits)


def _mounting(one: Array, other: Array) -> Rotation:
    """Smallest turn of vectors (n, 3) by which they are nearest to others, which may have one axis."""
    covariance = other.T @ one
    parts = np.linalg.svd(covariance, compute_uv=False)
    if parts[0] == 0:
        return Rotation.identity()
    if parts[1] > _SECOND * parts[0]:
        return Rotation.align_vectors(other, one)[0]
    axes = []
    for vectors in (one, other):
        _, _, main = np.linalg.svd(vectors, full_matrices=False)
        axes.append(main[0])
    if float(np.sum((one @ axes[0]) * (other @ axes[1]))) < 0:
        axes[0] = -axes[0]
    return _shortest(*axes)


_SECOND = 0.02
"""Turning about a second axis over that about the first, from which a mounting is known whole."""


def _windows(one: Signal, other: Signal) -> Windows:
    first, last = max(one.times[0], other.times[0]), min(one.times[-1], other.times[-1])
    spacing = max(float(np.median(np.diff(s.times))) if len(s.times) > 1 else 0.0 for s in (one, other))
    return Windows.over(first, last, max(_TURNED, 2 * spacing))


def _judge_rates(
    name: str, subjects: tuple[str, str], measured: Array, turned: Array, noises: tuple[float, float]
) -> Iterator[Observation]:
    """Compare measured rates with those of attitude, both (n,) or (n, 3) [rad/s], with their noises."""
    if len(measured) < FEWEST:
        return
    measured = measured - np.median(measured, axis=0)  # A bias is none of its turning.
    sizes = [float(np.sqrt(np.mean(np.square(values)))) for values in (measured, turned)]
    root = math.sqrt(measured[0].size)
    if sizes[1] < max(4 * noises[1], 0.02):
        if sizes[0] > 6 * max(sizes[1], 4 * noises[1], 4 * root * noises[0], 0.02):
            state = f"rates of {sizes[0]:.3g} rad/s where attitude changes at {sizes[1]:.3g} rad/s"
            size = sizes[0] / max(sizes[1], 1e-9)
            yield Observation(name, subjects, state, "which hardly turns at all", True, size)
        return
    both = float(np.sum(measured * turned))
    scale = both / max(float(np.sum(turned**2)), 1e-12)
    alike = both / max(float(np.sqrt(np.sum(turned**2) * np.sum(measured**2))), 1e-12)
    state = f"rates of {sizes[0]:.3g} rad/s where attitude changes at {sizes[1]:.3g} rad/s"
    if alike < -ALIKE:
        yield Observation(name, subjects, state, "the other way", True, 10.0)
    elif alike < ALIKE:
        if sizes[0] < 4 * root * noises[0] or sizes[1] < 6 * noises[1]:
            return  # Noise is alike to nothing.
        told = f"and about other axes: their correlation is {alike:.2g}"
        yield Observation(name, subjects, state, told, alike < 0.3, 5.0)
    elif not 0.7 <= scale <= 1.4:
        told = f"which are {scale:.3g} times as fast"
        yield Observation(name, subjects, state, told, not 0.4 <= scale <= 2.5, max(scale, 1 / scale))
    else:
        yield Observation(name, subjects, state, misfit=abs(math.log(scale)) + 1 - alike)


def check_heading(evidence: LogEvidence) -> Iterator[Observation]:
    """Compare the heading with the way that the vehicle goes, while its belts drive straight on."""
    driving, position = evidence.driving, evidence.motion.signals.get("position")
    yaw = evidence.motion.angle("yaw")
    if driving is None or position is None or yaw is None or driving.way is None or evidence.belts is None:
        return
    length = np.linalg.norm(driving.way[:, :2], axis=1)
    chosen = driving.straight & (length > 6 * noise_of(position.values)) & (length > 0.02)
    if chosen.sum() < FEWEST:
        return
    middle = (driving.windows.begin + driving.windows.end) / 2
    goes = np.arctan2(driving.way[:, 1], driving.way[:, 0])[chosen]
    off = goes - yaw.at(middle)[chosen] + np.where(driving.forward[chosen] < 0, math.pi, 0.0)
    mean = np.mean(np.exp(1j * off))
    angle, together = abs(float(np.angle(mean))), float(abs(mean))
    state = f"the way goes {math.degrees(angle):.3g} deg off where the belts drive the heading"
    subjects = ("yaw" if "yaw" in evidence.motion.signals else "orientation", "position", evidence.belts[0])
    if together < 0.5:
        told = "and every way: they are not of one frame"
        yield Observation("heading against path", subjects, state, told, False, 5.0)
    elif angle > ASIDE:
        told = "which is backwards" if angle > BACKWARDS else "which is sideways"
        # Sensors that are turned about the vertical, or count from any north, do so without a mistake.
        yield Observation("heading against path", subjects, state, told, False, math.degrees(angle) / 25)
    else:
        yield Observation("heading against path", subjects, state, misfit=angle)


def check_slope(evidence: LogEvidence) -> Iterator[Observation]:
    """Compare the pitch with how the path rises: a vehicle moves along its own forward axis."""
    driving, pitch = evidence.driving, evidence.motion.angle("pitch")
    position = evidence.motion.signals.get("position")
    if driving is None or pitch is None or position is None or driving.way is None:
        return
    heights, noise = driving.way[:, 2], noise_of(position.values[:, 2])
    if np.ptp(position.values[:, 2]) < max(_CLIMBED, 8 * noise):
        yield from _judge_flat(evidence, driving, pitch, position)
        return
    steps = np.linalg.norm(driving.way, axis=1) * np.sign(driving.forward)
    windows = driving.windows
    expected = steps * windows.mean(Signal(pitch.times, np.sin(pitch.values)))
    chosen = abs(driving.forward) > 0.1 * np.quantile(abs(driving.forward), 0.99)
    if chosen.sum() < FEWEST:
        return
    rises, expected = heights[chosen], expected[chosen]
    # Each window is there about as often as the others: sums are those of the whole way, but for a factor.
    up, steep, way = float(rises.sum()), float(expected.sum()), float(abs(steps[chosen]).sum())
    is_sure = True
    if abs(up) > max(_ROUNDING * way, 0.2 * float(abs(rises).sum())):
        # A pitch that says next to nothing has no sign, and heights may drift.
        is_flat = abs(steep) < _ROUNDING * way
        alike, scale = 1.0 if is_flat else math.copysign(1.0, up * steep), abs(up) / max(abs(steep), 1e-9)
        is_sure = not is_flat or abs(up) > 5 * _ROUNDING * way
    else:
        both = float(rises @ expected)
        alike = both / max(float(np.sqrt((rises @ rises) * (expected @ expected))), 1e-12)
        scale = both / max(float(expected @ expected), 1e-12)
    largest = math.degrees(float(np.quantile(abs(pitch.values), 0.99)))
    height = np.ptp(position.values[:, 2])
    state = f"the largest pitch is {largest:.3g} deg where the path rises and falls by {height:.3g} m"
    subjects = ("pitch" if "pitch" in evidence.motion.signals else "orientation", "position")
    name = "pitch against slope"
    if alike < -0.4:
        yield Observation(name, subjects, state, "nose down where it rises", is_sure and alike < -0.6, 10.0)
    elif alike > ALIKE and not 1 / 4 <= scale <= 4:
        told = f"which is {scale:.3g} times as steep as the pitch says"
        is_far = not 0.1 <= scale <= 10
        yield Observation(name, subjects, state, told, is_sure and is_far, max(scale, 1 / scale))
    else:
        misfit = abs(math.log(max(scale, 1e-3))) + 1 - alike
        yield Observation(name, subjects, state, misfit=misfit)


_RISES = 0.1
"""Height that a pitch makes of a path, from which that path cannot have one height [m]."""


def _judge_flat(
    evidence: LogEvidence, driving: Driving, pitch: Signal, position: Signal
) -> Iterator[Observation]:
    """Compare the pitch with heights that are all the same, where heights were logged."""
    assert driving.way is not None
    origin = evidence.mapped.origins["position"]
    columns = [find_column(evidence.mapped.log, name) for name in origin.channels]
    widths = [column.values[0].size for column in columns if column is not None and len(column.values)]
    if np.ptp(position.values[:, 2]) > 0 or sum(widths) < 3:
        return
    windows = driving.windows
    steps = np.linalg.norm(driving.way, axis=1) * np.sign(driving.forward) / windows.length
    middle = (windows.begin + windows.end) / 2
    rises = steps * np.sin(windows.mean(pitch))
    climbs = np.ptp(cumulative_trapezoid(rises, middle, initial=0.0))
    if climbs > _RISES:
        state = f"heights that never change where the pitch makes {climbs:.2g} m of the path"
        subjects = ("pitch" if "pitch" in evidence.motion.signals else "orientation", "position")
        told = "so that they were not measured"
        yield Observation("pitch against slope", subjects[::-1], state, told, False, 2.0)


_QUIET = 0.15
"""Share of the force by which that of a window may differ from the median of all windows [-]."""
_OVER = 1.0
"""Length of windows, over which impacts and vibration average out [s]."""
_TILTED = 0.1
"""Part of the vertical by which an attitude tilts, root mean square, from which its sense shows [-]."""
OFF, FAR_OFF = math.radians(25.0), math.radians(60.0)
"""Angles between specific force and the attitude's vertical that contradict each other [rad]."""


def check_gravity(evidence: LogEvidence) -> Iterator[Observation]:
    """Compare the size of the specific force with gravity, and its direction with the attitude's vertical.

    Means over a second count, and of the direction those whose size is that of most: what a vehicle with
    tracks accelerates by is small, and impacts average out.
    """
    force = evidence.motion.signals.get("specific_force")
    if force is None:
        return
    spacing = float(np.median(np.diff(force.times))) if len(force.times) > 1 else _OVER
    windows = Windows.over(force.times[0], force.times[-1], max(_OVER, 2 * spacing))
    if len(windows.begin) < FEWEST:
        return
    means = windows.mean(force)
    sizes = np.linalg.norm(means, axis=1)
    size = float(np.median(sizes))
    ratio, subject = size / GRAVITY, "specific_force"
    state = f"a specific force of {size:.3g} m/s^2 for half of the time"
    told = ""
    if ratio < 0.3:
        told = f"without gravity, of {GRAVITY:g} m/s^2, which accelerometers show at rest"
    elif not 0.8 <= ratio <= 1.25:
        told = f"which is {ratio:.3g} times gravity, of {GRAVITY:g} m/s^2"
    off = max(ratio, 1 / max(ratio, 1e-3))
    name = "accelerometer against gravity"
    yield Observation(
        name, (subject,), state, told, not 0.5 <= ratio <= 2.0, off, abs(math.log(max(ratio, 1e-3)))
    )
    if (vertical := _vertical(evidence)) is None or ratio < 0.3:
        return
    other, up = vertical
    middle = (windows.begin + windows.end) / 2
    chosen = (abs(sizes / size - 1) < _QUIET) & (middle >= up.times[0]) & (middle <= up.times[-1])
    if chosen.sum() < FEWEST:
        return
    seen, expected = (means / sizes[:, None])[chosen], windows.mean(up)[chosen]
    expected /= np.linalg.norm(expected, axis=1)[:, None]
    name, subjects = "accelerometer against attitude", (other, subject)
    angle = float(np.median(np.arccos(np.clip((seen * expected).sum(axis=1), -1.0, 1.0))))
    state = f"the specific force points {math.degrees(angle):.3g} deg off the vertical of the attitude"
    tilts = [each[:, :2] - np.median(each[:, :2], axis=0) for each in (seen, expected)]
    (measured, turned), told, is_sure = tilts, "", False
    fits: tuple[Correction, ...] = ()
    mount = _shortest(seen.sum(axis=0), expected.sum(axis=0))
    moves = float(np.sqrt((turned**2).sum(axis=1).mean()))
    alike = 1.0
    if moves > max(_TILTED, 4 * noise_of(up.values)):
        alike = float(
            (measured * turned).sum() / max(np.sqrt((measured**2).sum() * (turned**2).sum()), 1e-12)
        )
    if angle > OFF:
        told, is_sure = "where a vehicle that hardly accelerates has it along it", angle > FAR_OFF
    elif alike < ALIKE / 2:
        told, is_sure = "and tilts the other way" if alike < -ALIKE else "and tilts otherwise", alike < -ALIKE
    elif mount.magnitude() > _ASKEW and other == "orientation":
        told = (
            f"the same way all the time: one of both sits askew by {math.degrees(mount.magnitude()):.2g} deg"
        )
    if told:
        fits = (
            Correction("turn", subject, rpy_of(mount.as_matrix())),
            Correction("turn", other, rpy_of(mount.inv().as_matrix())),
        )
    size, misfit = max(angle / OFF, 1.0), angle + 1 - alike
    yield Observation(name, subjects, state, told, is_sure, size, misfit, fits=fits)


def _shortest(one: Array, other: Array) -> Rotation:
    """Smallest turn from one direction (3,) to another."""
    turn = np.cross(one, other)
    size = float(np.linalg.norm(turn))
    angle = math.atan2(size, float(one @ other))
    return Rotation.from_rotvec(turn / max(size, 1e-12) * angle)


def _vertical(evidence: LogEvidence) -> tuple[str, Signal] | None:
    """Quantity that tells the vertical, and that in the body frame; a roll that is not known counts as 0."""
    motion, attitude = evidence.motion, evidence.attitude
    if attitude is not None:
        name = "orientation" if "orientation" in motion.signals else "pitch"
        up = Rotation.from_quat(attitude.values).inv().apply([0.0, 0.0, 1.0])
        return name, Signal(attitude.times, up)
    if (pitch := motion.angle("pitch")) is None:
        return None
    zero = np.zeros(len(pitch.times))
    return "pitch", Signal(pitch.times, np.column_stack([np.sin(pitch.values), zero, np.cos(pitch.values)]))


_BEYOND_STOPS = 0.15
"""Angle by which a flipper may be beyond its stops [rad]."""


def check_heights(evidence: LogEvidence) -> Iterator[Observation]:
    """Compare the heights of the path with those of the terrain, from where the log begins."""
    relief, position = evidence.background.relief, evidence.motion.signals.get("position")
    length = evidence.background.length
    if relief is None or position is None or length is None or not position.values[:, 2].any():
        return
    noise = 5 * noise_of(position.values[:, 2])
    since = position.values[:, 2] - np.median(position.values[: max(len(position.values) // 20, 1), 2])
    low, high = np.quantile(since, [0.01, 0.99]).tolist()
    state = f"the path goes from {low:+.3g} to {high:+.3g} m of where it begins"
    deepest, highest = relief
    below = deepest - low - noise - 0.1
    above = high - highest - 0.5 * length - noise - 0.05
    # What leans cannot be below the ground at all: its origin sinks by its own height at most.
    told = f"on terrain from {deepest:+.3g} to {highest:+.3g} m"
    reach = max(highest - deepest, 0.05)
    worst = max(below, above)
    yield Observation(
        "heights against terrain",
        ("position",),
        state,
        told if worst > 0 else "",
        # A log may begin anywhere on the relief: what goes farther than all of it is no log of it.
        high - low - 2 * noise > 1.5 * reach + 1.5 * length,
        1 + max(worst, 0.0) / reach,
    )


def check_velocity(evidence: LogEvidence) -> Iterator[Observation]:
    """Compare the velocity with the change of position."""
    position, velocity = (evidence.motion.signals.get(key) for key in ("position", "velocity"))
    if position is None or velocity is None:
        return
    windows = Windows.over(
        max(position.times[0], velocity.times[0]), min(position.times[-1], velocity.times[-1]), 0.5
    )
    if len(windows.begin) < FEWEST:
        return
    way = windows.difference(position)
    length = np.linalg.norm(way, axis=1)
    drives = moving(length) & (length > 8 * noise_of(position.values))
    if drives.sum() < FEWEST:
        return
    told = windows.mean(velocity) * windows.length
    ratio = float(np.median(np.linalg.norm(told, axis=1)[drives] / length[drives]))
    speeds = [
        float(np.median(values)) / windows.length
        for values in (np.linalg.norm(told, axis=1)[drives], length[drives])
    ]
    state = f"a velocity of {speeds[0]:.3g} m/s on a path at {speeds[1]:.3g} m/s"
    subjects, name = ("velocity", "position"), "velocity against path"
    if not 0.7 <= ratio <= 1.4:
        certain, size = not 0.5 <= ratio <= 2.0, max(ratio, 1 / max(ratio, 1e-9))
        yield Observation(name, subjects, state, f"which is {ratio:.3g} times as fast", certain, size)
        return
    rotation = evidence.rotation_at((windows.begin + windows.end) / 2)
    if rotation is not None:
        along = rotation.apply(told)
        cosines = np.sum(along * way, axis=1)[drives] / (
            np.linalg.norm(along, axis=1)[drives] * length[drives]
        ).clip(1e-12)
        angle = math.degrees(math.acos(float(np.clip(np.median(cosines), -1.0, 1.0))))
        if angle > 25:
            yield Observation(
                name, subjects, state, f"{angle:.3g} deg off its direction", angle > 60, angle / 25
            )
            return
    yield Observation(name, subjects, state, misfit=abs(math.log(ratio)))


def check_flippers(evidence: LogEvidence) -> Iterator[Observation]:
    """Compare flipper angles with the stops of the vehicle file."""
    vehicle = evidence.background.vehicle
    if vehicle is None:
        return
    for key, signal in evidence.motion.signals.items():
        quantity, _, which = key.partition(".")
        flipper = vehicle.flippers.get(which)
        if not quantity.startswith("flipper_angle") or flipper is None:
            continue
        values = signal.values
        if float(np.max(abs(values))) <= 2 * math.pi:
            values = folded(values)
        low, high = np.quantile(values, [0.02, 0.98]).tolist()
        beyond = max(flipper.limits[0] - low, high - flipper.limits[1])
        degrees = [math.degrees(angle) for angle in (low, high, *flipper.limits)]
        state = f"angles from {degrees[0]:.3g} to {degrees[1]:.3g} deg"
        told = f"of a flipper whose stops are at {degrees[2]:.3g} and {degrees[3]:.3g} deg"
        is_beyond = beyond > _BEYOND_STOPS
        yield Observation(
            "flippers against stops",
            (key,),
            state,
            told if is_beyond else "",
            beyond > 1.0,
            1 + max(beyond, 0.0),
        )


def check_forces(evidence: LogEvidence) -> Iterator[Observation]:
    """Compare belt forces with what the drives of a side can do."""
    for side, drives in evidence.background.drives.items():
        signal = evidence.motion.signals.get(f"belt_force.{side}")
        if signal is None or not drives:
            continue
        most = sum(max(drive.stall_force, drive.brake_force) for drive in drives)
        largest = float(np.quantile(abs(signal.values), 0.98))
        state = f"{side} belts with {largest:.3g} N"
        is_beyond = most > 0 and largest > 1.5 * most
        told = f"of drives that make {most:.3g} N" if is_beyond else ""
        yield Observation(
            "forces against drives",
            ("belt_force",),
            state,
            told,
            largest > 5 * most,
            max(largest / max(most, 1e-9), 1),
        )


def check_upright_velocity(evidence: LogEvidence) -> Iterator[Observation]:
    """Compare the velocity's direction with the body's forward axis: a track does not move sideways."""
    velocity = evidence.motion.signals.get("velocity")
    if velocity is None or evidence.mapped.is_steady:
        return
    windows = Windows.over(velocity.times[0], velocity.times[-1], 0.5)
    if len(windows.begin) < FEWEST:
        return
    mean = windows.mean(velocity)
    speed = np.linalg.norm(mean, axis=1)
    drives = moving(speed)
    if drives.sum() < FEWEST or np.median(speed[drives]) < 10 * windows.noise(velocity):
        return
    if (rates := evidence.yaw_rates_at(windows)) is not None:
        drives &= abs(rates) * 0.3 < speed  # Where it turns, a place aside of the middle goes sideways.
        if drives.sum() < FEWEST:
            return
    along = float(np.median(abs(mean[drives, 0]) / speed[drives].clip(1e-9)))
    angle = math.degrees(math.acos(min(along, 1.0)))
    state = f"the velocity is {angle:.3g} deg off the body's axis"
    told = "which is sideways" if angle > 35 else ""
    yield Observation("velocity against body", ("velocity",), state, told, angle > 60, max(angle / 35, 1.0))
