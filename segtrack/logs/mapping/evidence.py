"""Evidence of a mapped log, motions averaged over windows, and findings: what of it contradicts something."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy.integrate import cumulative_trapezoid
from scipy.spatial.transform import Rotation

from segtrack.description import DriveSpec, VehicleDescription, vehicle_length
from segtrack.errors import SegtrackError
from segtrack.logs.mapping.mapped_log import MappedLog, find_attitude
from segtrack.logs.mapping.quantities import SIDES
from segtrack.logs.mapping.standing import stand
from segtrack.logs.mapping.terrain import LoadedTerrain
from segtrack.logs.statistics import noise_of
from segtrack.robot import Motion, Signal

_HINT = "mend the mapping, or let it say why this may stand: accepted: [{finding: ..., reason: ...}]"


class ImplausibleLogError(SegtrackError):
    """A mapped log that contradicts physics, its vehicle or its terrain beyond doubt."""

    def __init__(self, findings: Iterable[str]) -> None:
        """List the contradictions, a line each with its log, and say how they may stand."""
        self.findings = tuple(findings)
        super().__init__("\n".join([*self.findings, _HINT]))


@dataclass(frozen=True)
class Correction:
    """Number by which a quantity, or the clock of a source, would agree with what it is compared with.

    Attributes:
        kind: Meaning of the value: `scale` that belt speeds are to be multiplied by; `turn`, roll, pitch and
            yaw by which a sensor's axes are to be turned in the body [rad]; `lever` to be added to a
            sensor's place [m]; `offset` to be added to the times of a source [s].
        of: Quantity, or source.
        value: The numbers.
    """

    kind: Literal["scale", "turn", "lever", "offset"]
    of: str
    value: tuple[float, ...]


@dataclass(frozen=True)
class Observation:
    """Result of one check, whether there is something to say against it or not.

    Attributes:
        name: Name of the check, by which mappings accept what it finds.
        subjects: Quantities of the mapping that it compares, the one that is more likely wrong first.
        state: Sentence on what was seen.
        contradiction: End of the sentence, on what this contradicts; empty if it contradicts nothing.
        certain: True for a contradiction beyond doubt.
        size: Ratio to what is possible [-].
        misfit: Distance from what would be expected, whether that contradicts anything or not [-].
        care: Line of the mapping file that would take care of it by itself, as path, key and value.
        fits: Numbers by which what it compares would agree, each by itself.
    """

    name: str
    subjects: tuple[str, ...]
    state: str
    contradiction: str = ""
    certain: bool = False
    size: float = 1.0
    misfit: float = 0.0
    care: tuple[str, str, Any] | None = None
    fits: tuple[Correction, ...] = ()

    @property
    def path(self) -> str:
        """Path of the first subject in the mapping file."""
        return f"quantities.{self.subjects[0]}"


@dataclass(frozen=True)
class Remedy:
    """Change of a mapping that would explain a finding.

    Attributes:
        lines: Entries of the mapping file, `path: value`.
        effect: Sentence on what the check would see then.
        other: Lines of another change that would explain as much; empty if none does.
    """

    lines: tuple[str, ...]
    effect: str
    other: tuple[str, ...] = ()

    def __str__(self) -> str:
        """The lines and their effect, as the end of a sentence."""
        first, second = (" with ".join(f"`{line}`" for line in lines) for lines in (self.lines, self.other))
        return f"{first}{f' or {second}' if second else ''} would fit: {self.effect}"


@dataclass(frozen=True)
class Finding:
    """Contradiction in a mapped log.

    Attributes:
        seen: The check's result.
        remedy: Change that would explain it; None if none that was tried does.
        reason: Reason for which the mapping accepts it; None if it does not.
    """

    seen: Observation
    remedy: Remedy | None = None
    reason: str | None = None

    @property
    def name(self) -> str:
        """Name of the check."""
        return self.seen.name

    @property
    def refuses(self) -> bool:
        """True if results would not be worth having: it is beyond doubt, and not accepted."""
        return self.seen.certain and self.reason is None

    def __str__(self) -> str:
        """The finding as a sentence."""
        seen = self.seen
        told = f"{seen.path}: {seen.name}: {seen.state}, {seen.contradiction}"
        if self.reason is not None:
            return f"{told} (accepted: {self.reason})"
        return told if self.remedy is None else f"{told}; {self.remedy}"

    def record(self) -> dict[str, Any]:
        """Return a JSON-serialisable dict."""
        seen, remedy = self.seen, self.remedy
        return {
            "finding": seen.name,
            "quantities": list(seen.subjects),
            "seen": seen.state,
            "contradiction": seen.contradiction,
            "certain": seen.certain,
            "remedy": None if remedy is None else {**vars(remedy)},
            "accepted": self.reason,
        }


@dataclass(frozen=True)
class Plausibility:
    """Result of all checks of a mapped log.

    Attributes:
        log: Name of the log.
        observations: Results of the checks that the log has the quantities for.
        findings: Contradictions, the certain ones first.
        stale: Findings that the mapping accepts and that there are not.
    """

    log: str
    observations: tuple[Observation, ...]
    findings: tuple[Finding, ...] = ()
    stale: tuple[str, ...] = ()

    @property
    def notes(self) -> tuple[str, ...]:
        """All findings as sentences, and what the mapping accepts in vain."""
        vain = (f"accepted: {name}: is not found in this log" for name in self.stale)
        return (*map(str, self.findings), *vain)

    def record(self) -> list[dict[str, Any]]:
        """Return the findings as JSON-serialisable dicts."""
        return [finding.record() for finding in self.findings]


def refuse(found: Iterable[Plausibility]) -> None:
    """End what would build on logs with contradictions beyond doubt.

    Raises:
        ImplausibleLogError: There is one that its mapping does not accept; all of them are listed.
    """
    refusing = [f"{each.log}: {finding}" for each in found for finding in each.findings if finding.refuses]
    if refusing:
        raise ImplausibleLogError(refusing)


Array = NDArray[np.float64]

_AROUND = 15.0
"""Terrain is looked at so far to either side of its obstacle [m]."""
_MOST_WINDOWS = 500
_SHORTEST, _LONGEST = 0.5, 5.0
"""Lengths of windows over which a path is measured [s]."""
_OVER_NOISE = 10.0
"""A window is so long that the way in it is this many times the noise of positions."""
FEWEST = 6
"""Windows that a check takes."""
_EVEN = 0.05
"""Part of a ratio by which most windows differ from it at most, where it is that of all [-]."""


@dataclass(frozen=True)
class Windows:
    """Windows of equal length, half a length apart or more.

    Attributes:
        begin: (n,) [s]
        end: (n,) [s]
    """

    begin: Array
    end: Array

    @classmethod
    def over(cls, first: float, last: float, length: float) -> Windows:
        """Windows of a length over a time; none if it is shorter than one."""
        count = int((last - first - length) / max(length / 2, (last - first) / _MOST_WINDOWS)) + 1
        begin = np.linspace(first, last - length, max(count, 0)) if last - first >= length else np.zeros(0)
        return cls(begin, begin + length)

    @property
    def length(self) -> float:
        """Length of each [s]."""
        return float(self.end[0] - self.begin[0]) if len(self.begin) else 0.0

    def difference(self, signal: Signal) -> Array:
        """Differences of a signal's values over each window (n,) or (n, k)."""
        return np.asarray(signal.at(self.end) - signal.at(self.begin))

    def mean(self, signal: Signal) -> Array:
        """Means of a signal over each window (n,) or (n, k)."""
        total = cumulative_trapezoid(signal.values, signal.times, axis=0, initial=0.0)
        gone = Signal(signal.times, np.asarray(total))
        return self.difference(gone) / self.length

    def noise(self, signal: Signal) -> float:
        """Standard deviation of the noise of `mean`, in the unit of the signal."""
        spacing = float(np.median(np.diff(signal.times))) if len(signal.times) > 1 else self.length
        return noise_of(signal.values) / math.sqrt(max(self.length / max(spacing, 1e-9), 1.0))


def moving(speed: Array) -> NDArray[np.bool_]:
    """Return the windows in which something moves, beside the fastest but for a few (n,)."""
    return abs(speed) > 0.3 * np.quantile(abs(speed), 0.99) if len(speed) else np.zeros(0, bool)


def folded(angles: Array) -> Array:
    """Return angles within half a turn of 0 (n,) [rad]: -1 deg for 359."""
    return np.asarray(np.mod(angles + math.pi, 2 * math.pi) - math.pi)


@dataclass(frozen=True, eq=False)
class Driving:
    """Belts, and what the vehicle did with them, over windows.

    Attributes:
        windows: The windows.
        left: Mean speed of the left belts (n,) [m/s].
        right: Likewise of the right ones.
        way: Way over the ground in each window (n, 3) [m]; None if it is not known.
        noise: Standard deviation of the difference of both sides [m/s].
    """

    windows: Windows
    left: Array
    right: Array
    way: Array | None

    noise: float

    @property
    def forward(self) -> Array:
        """Mean of both sides (n,) [m/s]."""
        return (self.left + self.right) / 2

    @property
    def straight(self) -> NDArray[np.bool_]:
        """Windows in which the belts drive, and hardly turn (n,)."""
        drives = moving(self.forward)
        return drives & (abs(self.right - self.left) < 0.3 * abs(self.right + self.left))


@dataclass(frozen=True, eq=False)
class Background:
    """Vehicle and terrain that a log is compared with.

    Attributes:
        vehicle: Its vehicle; None if it is not known.
        terrain: Its terrain; None if it is not known.
    """

    vehicle: VehicleDescription | None = None
    terrain: LoadedTerrain | None = None

    @cached_property
    def gauge(self) -> float | None:
        """Distance of the tracks [m]; None if it is not known."""
        offsets = None if self.vehicle is None else self.vehicle.track_offsets
        return None if offsets is None else offsets.gauge

    @cached_property
    def length(self) -> float | None:
        """Length of the vehicle, flippers at 0 [m]; None if it is not known."""
        return None if self.vehicle is None else vehicle_length(self.vehicle)

    @cached_property
    def standing_pitch(self) -> Callable[[tuple[tuple[str, float], ...]], float] | None:
        """Pitch at rest on level ground [rad], by flippers with their angles; None without a vehicle."""
        vehicle = self.vehicle
        return None if vehicle is None else lru_cache(lambda flippers: stand(vehicle, dict(flippers)).pitch)

    @cached_property
    def drives(self) -> Mapping[str, tuple[DriveSpec, ...]]:
        """Drives of each side; none without a vehicle."""
        tracks = () if self.vehicle is None else tuple(self.vehicle.mounted_tracks())
        return {side: tuple(t.spec.drive for t in tracks if t.side in (side, "center")) for side in SIDES}

    @cached_property
    def relief(self) -> tuple[float, float] | None:
        """Lowest and highest ground around the obstacle, above that before it [m]; None without one."""
        if self.terrain is None or (obstacle := self.terrain.obstacle) is None:
            return None
        places = np.concatenate(
            [[obstacle.x - 0.05], np.linspace(obstacle.x - _AROUND, obstacle.x + _AROUND, 4001)]
        )
        heights = np.max([np.asarray(part.height_at(places)) for part in self.terrain.terrains], axis=0)
        heights = heights[np.isfinite(heights)] - heights[0]
        return float(heights.min()), float(heights.max())


@dataclass(frozen=True, eq=False)
class LogEvidence:
    """Mapped log beside its vehicle and terrain.

    Attributes:
        mapped: The log.
        background: Vehicle and terrain.
    """

    mapped: MappedLog
    background: Background

    @property
    def motion(self) -> Motion:
        """The log's motion."""
        return self.mapped.motion

    @cached_property
    def attitude(self) -> Signal | None:
        """Orientation of the body; None if it is not known whole."""
        return find_attitude(self.motion.signals)

    @cached_property
    def belts(self) -> tuple[str, Signal, Signal] | None:
        """Quantity and signals of both sides: as measured, else as commanded."""
        for name in ("belt_speed", "belt_speed_command"):
            sides = [self.motion.signals.get(f"{name}.{side}") for side in SIDES]
            if sides[0] is not None and sides[1] is not None:
                return name, sides[0], sides[1]
        return None

    @cached_property
    def driving(self) -> Driving | None:
        """Belts beside the way over the ground; None without belts, or where the log is too short."""
        if self.belts is None or self.mapped.is_steady:
            return None
        _, left, right = self.belts
        position, velocity = (self.motion.signals.get(key) for key in ("position", "velocity"))
        seen = [left, right, *([position] if position is not None else [velocity] if velocity else [])]
        first, last = max(s.times[0] for s in seen), min(s.times[-1] for s in seen)
        windows = Windows.over(first, last, self._window(position, last - first))
        if len(windows.begin) < FEWEST:
            return None
        way = None
        if position is not None:
            way = windows.difference(position)
        elif velocity is not None:
            way = windows.mean(velocity) * windows.length
        noise = math.hypot(windows.noise(left), windows.noise(right))
        return Driving(windows, windows.mean(left), windows.mean(right), way, noise)

    @cached_property
    def commanded(self) -> dict[str, tuple[Array, Array]]:
        """Commanded and measured belt speeds over the windows of `driving`, (n,) each, by side [m/s]."""
        found: dict[str, tuple[Array, Array]] = {}
        for side in SIDES:
            pair = [
                self.motion.signals.get(f"{name}.{side}") for name in ("belt_speed_command", "belt_speed")
            ]
            if self.driving is not None and pair[0] is not None and pair[1] is not None:
                windows = self.driving.windows
                found[side] = windows.mean(pair[0]), windows.mean(pair[1])
        return found

    @cached_property
    def command_ratio(self) -> float | None:
        """Measured over commanded belt speeds [-], where that is the same in all windows; None if not."""
        pairs = [pair for pair in self.commanded.values() if abs(pair[0]).any()]
        if len(pairs) < len(SIDES):
            return None
        told, made = (np.concatenate([pair[i] for pair in pairs]) for i in range(2))
        drives = moving(told)
        ratios = made[drives] / told[drives]
        middle = float(np.median(ratios))
        if middle == 0.0:
            return None
        return middle if float(np.quantile(abs(ratios / middle - 1), 0.7)) < _EVEN else None

    @cached_property
    def long_ratio(self) -> float | None:
        """Median way over belt travel in windows of a sixth of the log [-]; None where that is no longer."""
        position = self.motion.signals.get("position")
        if self.driving is None or self.belts is None or position is None:
            return None
        first, last = self.driving.windows.begin[0], self.driving.windows.end[-1]
        windows = Windows.over(first, last, (last - first) / FEWEST)
        left, right = (abs(windows.mean(side)) for side in self.belts[1:])
        travel = (left + right) / 2 * windows.length
        way = np.linalg.norm(windows.difference(position), axis=1)
        drives = moving(travel)
        if windows.length < 2 * self.driving.windows.length or not drives.any() or not travel.any():
            return None
        return float(np.median(way[drives] / travel[drives]))

    def _window(self, position: Signal | None, span: float) -> float:
        """Length of windows over which the path is clear of noise [s]."""
        if position is None or len(position.times) < 5:
            return _SHORTEST
        steps = np.linalg.norm(np.diff(position.values, axis=0), axis=1)
        # What noise adds to the way from sample to sample is not way.
        probe = Windows.over(position.times[0], position.times[-1], min(1.0, span / FEWEST))
        ways = np.linalg.norm(probe.difference(position), axis=1) if len(probe.begin) else steps
        speed = float(np.quantile(ways, 0.9)) / max(probe.length, 1e-9) if len(ways) else 0.0
        needed = _OVER_NOISE * noise_of(position.values) / speed if speed > 0 else _SHORTEST
        spacing = 4 * float(np.median(np.diff(position.times)))
        return float(np.clip(max(needed, spacing), _SHORTEST, min(_LONGEST, max(span / FEWEST, _SHORTEST))))

    @cached_property
    def yaw_rates(self) -> tuple[str, Array] | None:
        """Quantity that has them, and yaw rates over the windows of `driving` (n,) [rad/s]."""
        return None if self.driving is None else self._yaw_rates(self.driving.windows)

    def yaw_rates_at(self, windows: Windows) -> Array | None:
        """Yaw rates over windows (n,) [rad/s]; None if they are not known."""
        found = self._yaw_rates(windows)
        return None if found is None else found[1]

    def _yaw_rates(self, windows: Windows) -> tuple[str, Array] | None:
        for quantity, signal in self._turning():
            if signal.times[0] <= windows.begin[-1] and signal.times[-1] >= windows.end[0]:
                if quantity in ("orientation", "yaw"):
                    return quantity, windows.difference(signal) / windows.length
                return quantity, windows.mean(signal)
        return None

    def _turning(self) -> list[tuple[str, Signal]]:
        found = []
        yaw = self.motion.angle("yaw")
        if yaw is not None:
            found.append(("yaw" if "yaw" in self.motion.signals else "orientation", yaw))
        if "yaw_rate" in self.motion.signals:
            found.append(("yaw_rate", self.motion.signals["yaw_rate"]))
        if (rates := self.motion.signals.get("angular_velocity")) is not None:
            found.append(("angular_velocity", Signal(rates.times, rates.values[:, 2].copy())))
        return found

    def rotation_at(self, times: Array) -> Rotation | None:
        """Orientation of the body at times; None if it is not known."""
        return None if self.attitude is None else Rotation.from_quat(self.attitude.at(times))
