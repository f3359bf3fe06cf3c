"""A log put into its terrain's frame: x, y and yaw at one event, and never pitch or height."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from segtrack.description import VehicleDescription
from segtrack.errors import InvalidValueError, LogFileError, Phrase, UnknownNameError
from segtrack.logs.replay.onset import Onset, belt_speed, find_onset
from segtrack.logs.replay.path import AVERAGED, Place, Shift, belts_of, logged_path, way_of
from segtrack.logs.replay.settings import ReplayScene, ReplaySettings
from segtrack.logs.replay.touch import Touch, first_touch
from segtrack.robot import Motion

SHORTEST = 0.5
"""A log of less belt motion than this is not replayed [s]."""
_PASSES = 3
"""Iterations that find the time of the touch and the flippers' angles then."""
_CHANGED = 0.02
"""Belts whose speed has changed by more than this no longer go on as they began [m/s]."""
_DRIFT = math.radians(5.0)
"""A log whose heading is further than this from where it goes is remarked on [rad]."""


@dataclass(frozen=True, eq=False)
class AlignedLog:
    """A log in its terrain's frame.

    Attributes:
        motion: The log; its positions, orientations and yaw are turned about z and shifted in x and y.
        begin: Time from which it is replayed, on its own clock [s].
        end: Time up to which it is replayed [s].
        start: Pose of the body frame at the beginning, in the world.
        event: Time of the first touch [s]; None where log and terrain were put together at the start.
        event_std: Standard deviation of that time [s]; 0 for one that was given.
        x_std: Standard deviation of the log's place along x: of the event's time, and of the unknown phase
            of the grousers [m]; 0 where nothing was moved, or without an event.
        shown_by: Signals that showed the event: `pitch`, `way` (over the ground, against the belts'),
            `position` (in the terrain's frame) or `given`; empty without an event.
        notes: Remarks, a sentence each.
    """

    motion: Motion
    begin: float
    end: float
    start: Place
    event: float | None = None
    event_std: float = 0.0
    x_std: float = 0.0
    shown_by: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


def align(motion: Motion, settings: ReplaySettings) -> AlignedLog:
    """Put a log into its terrain's frame.

    At the first touch the vehicle's foremost point, with its flippers as they are then, is at the obstacle,
    and the vehicle is taken to look straight at it, in the middle. Without an event the log's first
    pose is put at the terrain's start. A log whose positions are relative to the terrain is not moved.

    Args:
        motion: The log.
        settings: Settings of the replay.

    Raises:
        SegtrackError: A file of the settings cannot be read or has mistakes.
        UnknownNameError: The log has a flipper that the vehicle lacks.
        InvalidValueError: The terrain has no rise where the first touch is asked for, the time that is given
            for it is outside the log, or a log without positions is said to be in the terrain's frame.
        LogFileError: The log has no belts or too little of them, or never shows the touch.
    """
    return align_in(motion, settings, settings.load())


def align_in(motion: Motion, settings: ReplaySettings, scene: ReplayScene) -> AlignedLog:
    """Put a log into its terrain's frame, as `align` does, with settings that are loaded."""
    return _Alignment(motion, settings, scene).aligned()


def flippers_at(
    motion: Motion, vehicle: VehicleDescription, otherwise: Mapping[str, float], time: float
) -> dict[str, float]:
    """Angle of every flipper at a time [rad]: as measured, as commanded, or as given otherwise, or 0."""
    angles = {}
    for name in vehicle.flippers:
        keys = (f"flipper_angle.{name}", f"flipper_angle_command.{name}")
        signal = next((motion.signals[key] for key in keys if key in motion.signals), None)
        angles[name] = float(signal.at(time)) if signal is not None else otherwise.get(name, 0.0)
    return angles


class _Alignment:
    """A log, its path in its own frame, and what it is to be put on."""

    def __init__(self, motion: Motion, settings: ReplaySettings, scene: ReplayScene) -> None:
        self.motion, self.settings, self.scene = motion, settings, scene
        for name in motion.flippers:
            if name not in scene.vehicle.flippers:
                raise UnknownNameError(f"flipper of {scene.vehicle.name}", name, scene.vehicle.flippers)
        belts = belts_of(motion)
        if belts is None:
            needed = "belt_speed.left and belt_speed.right, or their commands, at the same time"
            raise LogFileError(motion.name, f"has no belts to drive by: it takes {needed}")
        self.belts = belts
        self.in_place = settings.frame == "terrain"
        if self.in_place and "position" not in motion.signals:
            raise InvalidValueError("frame", "log where the log has no positions", settings.frame)
        self.begin, self.end = self._span()
        self.path = logged_path(motion, belts, scene.vehicle)

    def _span(self) -> tuple[float, float]:
        """Times between which the belts move, and where the vehicle is is known [s]."""
        begin, end = float(self.belts.times[0]), float(self.belts.times[-1])
        position = self.motion.signals.get("position")
        if position is not None:
            begin = max(begin, float(position.times[0]))
        if end - begin < SHORTEST:
            known = "belts" if position is None else "belts and positions"
            there = f"it has {max(end - begin, 0.0):.3g} s of {known}"
            raise LogFileError(self.motion.name, f"is too short: {there}, {SHORTEST:g} s are needed")
        return begin, end

    def aligned(self) -> AlignedLog:
        """The log in its terrain's frame."""
        event, terrain = self.settings.event, self.scene.terrain
        if event == "start" or (event is None and terrain.obstacle is None):
            return self._at_start()
        if terrain.obstacle is None:
            what = "terrain of a log that is aligned at its first touch"
            raise InvalidValueError(what, "one that rises", Phrase(f"level ground, {terrain.name}"))
        onset = self._onset()
        if self.in_place:
            return self._moved(Shift(), onset, 0.0)
        touch = self._touch(onset.time)
        here = self.path.near(onset.time, max(onset.time - AVERAGED, self.begin), onset.time)
        x_std = math.hypot(touch.std, belt_speed(self.belts, onset.time) * onset.std)
        return self._moved(Shift.between(here, Place(touch.x, terrain.start.y, 0.0)), onset, x_std)

    def _at_start(self) -> AlignedLog:
        if self.in_place:
            return self._moved(Shift(), None, 0.0)
        start = self.scene.terrain.start
        here = self.path.near(self.begin, self.begin, self._steady())
        return self._moved(Shift.between(here, Place(start.x, start.y, start.yaw)), None, 0.0)

    def _steady(self) -> float:
        """Time until which the belts go on as they begin [s]."""
        speeds = self.belts.speeds[self.belts.times >= self.begin]
        changed = np.abs(speeds - speeds[0]).max(axis=1) > _CHANGED
        until = self.belts.times[self.belts.times >= self.begin][np.argmax(changed) if changed.any() else -1]
        return float(min(until, self.begin + AVERAGED))

    def _moved(self, shift: Shift, onset: Onset | None, x_std: float) -> AlignedLog:
        return AlignedLog(
            motion=shift.moved(self.motion),
            begin=self.begin,
            end=self.end,
            start=shift.of(self.path.at(self.begin)),
            event=None if onset is None else onset.time,
            event_std=0.0 if onset is None else onset.std,
            x_std=x_std,
            shown_by=() if onset is None else onset.shown_by,
            notes=tuple(self._notes(onset)),
        )

    def _notes(self, onset: Onset | None) -> Iterator[str]:
        if onset is not None and onset.shown_by == ("way",):
            yield "the first touch is known by its way alone, which shows a touch late if it holds up little"
        way = way_of(self.motion, self.belts)
        if way is not None and self.motion.angle("yaw") is not None:
            drift = math.remainder(way.drift, 2 * math.pi)
            if abs(drift) > _DRIFT:
                yield (
                    f"it goes {math.degrees(drift):.0f} deg to the left of its heading: "
                    "the frames of its positions and of its heading may differ"
                )

    def _onset(self) -> Onset:
        """Time at which the log shows the first touch."""
        event, begin, end = self.settings.event, self.begin, self.end
        if event is not None and not isinstance(event, str):
            if not begin <= event <= end:
                raise InvalidValueError("event [s]", f"within the log, from {begin:g} to {end:g}", event)
            return Onset(float(event), 0.0, ("given",))
        if self.in_place:
            return self._arrival()
        onset = find_onset(self.motion, self.belts, begin, end)
        if onset is not None:
            return onset
        seen = []
        if self.motion.angle("pitch") is not None:
            seen.append("its pitch does not rise")
        if way_of(self.motion, self.belts) is not None:
            seen.append("it does not fall behind its belts")
        reason = " and ".join(seen) or "it has neither pitch nor position nor velocity"
        problem = f"shows no first touch: {reason}; give its time as the event, or start"
        raise LogFileError(self.motion.name, problem)

    def _arrival(self) -> Onset:
        """Time at which the vehicle gets to the obstacle, by positions in the terrain's frame."""
        place, time = self.path.place, self.begin
        inside = (place.times >= self.begin) & (place.times <= self.end)
        times, x = place.times[inside], place.values[inside, 0]
        for _ in range(_PASSES):
            touch = self._touch(time)
            there = np.flatnonzero(x >= touch.x)
            if not len(there):
                far = f"its body gets to x = {x.max():.3g} m, and is at {touch.x:.3g} m as it touches"
                raise LogFileError(self.motion.name, f"never reaches {self.scene.terrain.name}: {far}")
            around = slice(max(int(there[0]) - 1, 0), int(there[0]) + 1)
            time = float(np.interp(touch.x, x[around], times[around]))
        return Onset(time, touch.std / belt_speed(self.belts, time), ("position",))

    def _touch(self, time: float) -> Touch:
        """Pose of the vehicle as it touches the obstacle, with its flippers as they are at a time [s]."""
        obstacle, vehicle = self.scene.terrain.obstacle, self.scene.vehicle
        assert obstacle is not None
        angles = flippers_at(self.motion, vehicle, self.settings.flippers, time)
        touch = first_touch(vehicle, angles, obstacle)
        if touch is None:
            got = Phrase(f"a rise of {obstacle.height:.3g} m")
            raise InvalidValueError(f"terrain for {vehicle.name}", "one that it touches as it comes", got)
        return touch
