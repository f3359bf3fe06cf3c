"""Planner of a vehicle from what was found: belts, grousers, drives and masses, with defaults."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from segtrack.errors import InvalidValueError
from segtrack.geometry import GRAVITY, Pulley, rpy_of, wrap_belt
from segtrack.importing.carriers import Carriers, FoundFlipper
from segtrack.importing.finding import FoundTrack
from segtrack.importing.findings import Certainty, Findings
from segtrack.importing.outlines import moved_out
from segtrack.importing.plan import FlipperPlan, JointPlan, TrackPlan, VehiclePlan
from segtrack.importing.robot import RobotJoint, UrdfRobot
from segtrack.importing.settings import Settings
from segtrack.importing.wheels import find_wheels

Array = NDArray[np.float64]
_FRICTION, _MAX_SPEED = 0.6, 1.0
"""Defaults: Coulomb coefficient of a rubber belt [-], and largest belt speed [m/s]."""
_HEIGHT_SHARE, _STANDS_SHARE, _HIGHEST = 0.1, 0.15, 0.025
"""Grouser height over the outline's half height, at most over the lowest pulley's radius [-]; at most [m]."""
_PITCHES = 2.5
"""Pitch of grousers over their height [-]."""
_LEAST_COUNT = 12
_LENGTH, _HALF = 0.6, 0.5
"""Length of grousers along the belt over their height, and at most over their pitch [-]."""
_LEVEL, _SINKS = 2e-3, 2e-4
"""Difference of heights of pulleys that stand on level ground together, and how far tips let one sink [m]."""
_THICKNESS_SHARE, _THICKEST = 0.1, 0.02
"""Belt's thickness over half of the outline's height [-], and at most [m]."""
_DENSITY = 1200.0
"""Density of a rubber belt [kg/m^3]."""
_LIGHT = 0.1
"""Share of the body's mass that belts without links of their own have at most [-]."""
_OWN_SHARE = 0.5
"""Share of its links' mass that a belt has at most [-]."""
_PULL = 0.8
"""Pull of all belts together without an effort in the file, over the weight [-]."""
_MOST_PULL, _FASTEST = 10.0, 30.0
"""Largest pull of a joint's effort over the weight [-] and speed [m/s] that are believed of a belt or of a
flipper's tip."""
_MOST_FRICTION = 1.5
"""Largest friction coefficient of a plugin that is believed [-]."""


class Planner:
    """Maker of a plan, with the masses that links have left."""

    def __init__(self, robot: UrdfRobot, carriers: Carriers, settings: Settings, findings: Findings) -> None:
        """Prepare for a robot whose x is forward."""
        self.robot, self.carriers, self.settings, self.findings = robot, carriers, settings, findings
        self.tracks = (
            *carriers.on_body,
            *carriers.on_links,
            *(t for f in carriers.flippers for t in f.tracks),
        )
        self.taken: dict[str, float] = {}
        self.taken_at: dict[str, Array] = {}
        self.weight = GRAVITY * robot.mass
        main = len(carriers.on_body) + len(carriers.on_links)
        self.default_pull = _PULL * self.weight / (main or len(self.tracks))

    def plan(self) -> VehiclePlan:
        """Plan of the vehicle.

        Raises:
            InvalidValueError: A mass of belts that their links do not have.
        """
        robot, carriers = self.robot, self.carriers
        on_body = (*carriers.on_body, *carriers.on_links)
        names = _names([(track.side, track.middle[0]) for track in on_body], set())
        tracks = tuple(self._track(name, track, None) for name, track in zip(names, on_body, strict=True))
        arms = carriers.flippers
        names = _names([(arm.pivot[1], arm.pivot[0]) for arm in arms], {*names, *robot.links})
        flippers = tuple(self._flipper(name, arm) for name, arm in zip(names, arms, strict=True))
        gone = {link for arm in arms for link in arm.links}
        stands_for = {link for track in on_body for link in track.links} | set(self._wheels_within(on_body))
        return VehiclePlan(
            tracks=tracks,
            flippers=flippers,
            joints=tuple(
                self._joint(joint) for joint in carriers.joints if joint.name not in self._followers()
            ),
            differential=carriers.differential,
            without_contact=tuple(link for link in robot.links if link in stands_for - gone),
            taken=self.taken,
            taken_at=self.taken_at,
        )

    def _wheels_within(self, tracks: Sequence[FoundTrack]) -> list[str]:
        """Wheels that lie within a track's outline and width."""
        found = []
        for wheel in find_wheels(self.robot):
            x, y, z = wheel.center
            for track in tracks:
                if abs(y - track.side) < track.width / 2:
                    path = wrap_belt(track.outline.pulleys).outline()
                    low, high = path.min(axis=0), path.max(axis=0)
                    if low[0] <= x <= high[0] and low[1] <= z <= high[1]:
                        found.append(wheel.joint.child)
        return found

    def _track(self, name: str, found: FoundTrack, flipper: FoundFlipper | None) -> TrackPlan:
        owner = f"track {name}"
        around = found.outline if flipper is None else flipper.outline(found)
        rows = np.array([[p.x, p.z, p.radius] for p in around.pulleys])
        half = float((rows[:, 1] + rows[:, 2]).max() - (rows[:, 1] - rows[:, 2]).min()) / 2
        smallest = float(rows[:, 2].min())
        stands = rows[(rows[:, 1] - rows[:, 2]).argmin(), 2]
        self._tell_outline(owner, found)
        proposal = min(_HEIGHT_SHARE * half, _STANDS_SHARE * float(stands), 0.5 * smallest, _HIGHEST)
        height = self.settings.number(
            "grouser_height",
            owner,
            _rounded(proposal),
            f"default: {_HEIGHT_SHARE:g} of half the track's height",
        )
        outwards = -height if found.has_belt else 0.0
        room = smallest + outwards
        thickness = self.settings.number(
            "belt_thickness", owner, _rounded(min(_THICKNESS_SHARE * half, 0.5 * room, _THICKEST)),
            f"default: {_THICKNESS_SHARE:g} of half the track's height",
        )  # fmt: skip
        if found.has_belt and (room <= 0 or thickness >= room):
            expected = (
                f"less than the {smallest:.4g} m of the track's tightest bend, together with belt_thickness"
            )
            raise InvalidValueError(f"setting grouser_height [m] of {owner}", expected, height)
        outwards += 0.0 if found.has_belt else thickness
        middle = np.array([0.0, 0.0]) if flipper is not None else _middle(rows)
        belt = moved_out(around, outwards)
        pulleys = tuple(Pulley(p.x - middle[0], p.z - middle[1], p.radius) for p in belt.pulleys)
        perimeter = wrap_belt(pulleys).perimeter
        proposal, why = _pitch(belt.pulleys, height)
        pitch = self.settings.number("grouser_pitch", owner, _rounded(proposal), why)
        count = max(_LEAST_COUNT, round(perimeter / pitch))
        force, speed, why = self._drive(owner, found, outwards)
        mass, mass_source = self._belt_mass(
            owner, found, flipper, perimeter * found.width * (thickness + 0.2 * height)
        )
        parent, xyz, rpy = (
            None,
            (0.0, found.side - flipper.pivot[1], 0.0) if flipper else (0.0, 0.0, 0.0),
            (0.0, 0.0, 0.0),
        )
        if flipper is None:
            parent = found.carrier
            frame = self.robot.frames[parent]
            back = frame.rotation.T
            place = back @ (np.array([middle[0], found.side, middle[1]]) - frame.origin)
            xyz, rpy = _triple(place), _triple(np.array(rpy_of(back)))
        friction = self._friction()
        around_it = "less the grousers' height" if found.has_belt else "with the belt's thickness"
        return TrackPlan(
            name=name, found=found, parent=parent, xyz=xyz, rpy=rpy, pulleys=pulleys, belt_mass=mass,
            thickness=thickness,
            grouser_count=count, grouser_height=height,
            grouser_length=min(_LENGTH * height, _HALF * perimeter / count),
            max_force=force, max_speed=speed, friction=friction,
            lateral_friction=self._lateral_friction(friction),
            notes={
                "path": f"{found.source}; within {belt.error * 1e3:.2f} mm; {around_it}",
                "width": "extent along the axle", "belt": mass_source,
                "grousers": "no file says them: defaults or given",
                "drive": why, "contact": "plugin, default or given",
            },
        )  # fmt: skip

    def _tell_outline(self, owner: str, found: FoundTrack) -> None:
        within = max(3e-3, 0.01 * found.length)
        radii = ", ".join(f"{p.radius:.4g}" for p in found.outline.pulleys)
        error = found.outline.error
        self.findings.add(
            "sure" if error <= within else "guessed", f"{owner}: outline",
            f"{len(found.outline.pulleys)} pulleys of radius {radii} m, {found.length:.4g} m long",
            f"{found.source}, within {error * 1e3:.2f} mm",
        )  # fmt: skip
        self.findings.add(
            "sure", f"{owner}: width, place", f"{found.width:.4g} m, at y = {found.side:.4g} m", found.source
        )

    def _friction(self) -> float:
        said = self.robot.hints.friction
        if said is None:
            return self.settings.number(
                "friction", "all tracks", _FRICTION, "default: a rubber belt on hard ground"
            )
        if said > _MOST_FRICTION:
            why = f"default; {said:g} of the plugin is what a simulator needs, not what rubber has"
            return self.settings.number("friction", "all tracks", _FRICTION, why)
        return self.settings.number("friction", "all tracks", said, "plugin", "sure")

    def _lateral_friction(self, friction: float) -> float | None:
        """Friction across a track, in the ratio that a plugin says."""
        along, across = self.robot.hints.friction, self.robot.hints.lateral_friction
        if along is None or across is None or along == across:
            return None
        lateral = _rounded(friction * across / along, 4)
        self.findings.add(
            "sure",
            "all tracks: lateral friction",
            f"{lateral:g}",
            f"plugin: {across / along:.3g} of that along them",
        )
        return lateral

    def _drive(self, owner: str, found: FoundTrack, outwards: float) -> tuple[float, float, str]:
        """Largest force [N] and speed [m/s] of a belt that far out of its outline [m], and sources."""
        carrying = {joint.name for track in self.tracks for joint in self.robot.moving_joints(track.carrier)}
        joints = [wheel.joint for wheel in found.wheels]
        for name in (name for link in found.links for name in self.robot.below(link) if name != link):
            joint = self.robot.joint_of[name]
            joints += [joint] if joint.turns_round and joint.name not in carrying else []
        strong = max((j for j in joints if j.effort > 0), key=lambda j: j.effort, default=None)
        fast = max((j for j in joints if j.velocity > 0), key=lambda j: j.velocity, default=None)
        if strong is not None:
            most = _MOST_PULL * self.weight * _sprocket(found, strong, outwards)
            strong = strong if self._believed(strong, "effort", strong.effort, most) else None
        if fast is not None:
            most = _FASTEST / _sprocket(found, fast, outwards)
            fast = fast if self._believed(fast, "velocity", fast.velocity, most) else None
        hints = self.robot.hints
        if strong is not None:
            radius = _sprocket(found, strong, outwards)
            force = self.settings.number(
                "max_force", owner, _rounded(strong.effort / radius, 4),
                f"effort of joint {strong.name}, over {radius:.4g} m", "sure",
            )  # fmt: skip
        else:
            why = f"default: all belts that are not on flippers together pull {_PULL:g} of the weight"
            force = self.settings.number("max_force", owner, _rounded(self.default_pull, 4), why)
        if hints.max_speed is not None:
            speed = self.settings.number("max_speed", "all tracks", hints.max_speed, "plugin", "sure")
        elif fast is not None:
            radius = _sprocket(found, fast, outwards)
            why = f"velocity of joint {fast.name}, times {radius:.4g} m"
            speed = self.settings.number("max_speed", owner, _rounded(fast.velocity * radius, 4), why, "sure")
        else:
            speed = self.settings.number("max_speed", "all tracks", _MAX_SPEED, "default")
        return force, speed, "joint's effort and velocity, plugin, default or given"

    def _believed(self, joint: RobotJoint, what: str, value: float, most: float) -> float:
        """Effort or velocity of a joint; 0 if it is above what any motor has, with a remark."""
        if value > most:
            text = f"{what} {value:g} is not believed"
            self.findings.add("remark", f"joint {joint.name}", text, "no motor has it: defaults are taken")
            return 0.0
        return value

    def _belt_mass(
        self, owner: str, found: FoundTrack, flipper: FoundFlipper | None, volume: float
    ) -> tuple[float, str]:
        """Mass of a belt [kg], which is taken off its links, and its source."""
        own = found.links if flipper is None else flipper.links
        masses = {link: mass for link in own if (mass := self._own(link)) > 0}
        share = _OWN_SHARE / (1 if flipper is None else len(flipper.tracks))
        if sum(masses.values()) * _OWN_SHARE < 0.2 * _DENSITY * volume:
            rigid = self.robot.held_to(found.carrier)
            heaviest = max(rigid, key=self._own)
            if self._own(heaviest) <= 0:  # All mass is behind joints: of the whole robot.
                heaviest = max(self.robot.links, key=self._own)
            masses, share = {heaviest: self._own(heaviest)}, _LIGHT / len(self.tracks)
        available = sum(masses.values()) - sum(self.taken.get(link, 0.0) for link in masses)
        source = f"default: rubber of {_DENSITY:g} kg/m^3, at most {share:.2g} of {', '.join(masses)}"
        mass = self.settings.number(
            "belt_mass", owner, _rounded(min(_DENSITY * volume, share * sum(masses.values())), 4), source
        )
        if mass >= available:
            raise InvalidValueError(
                f"setting belt_mass [kg] of {owner}",
                f"less than the {available:.4g} kg of {', '.join(masses)}",
                mass,
            )
        for link, own_mass in masses.items():
            part = mass * own_mass / sum(masses.values())
            self.taken[link] = self.taken.get(link, 0.0) + part
            place = np.array([found.middle[0], found.side, found.middle[1]])
            self.taken_at[link] = self.taken_at.get(link, np.zeros(3)) + part * place
        return mass, f"rubber, or given; taken off {', '.join(masses)}"

    def _own(self, link: str) -> float:
        return self.robot.mass_properties(link).mass

    def _flipper(self, name: str, found: FoundFlipper) -> FlipperPlan:
        joint = found.joint
        sides = (
            _names([(track.side, track.middle[0]) for track in found.tracks], set())
            if len(found.tracks) > 1
            else ["belt"]
        )
        tracks = tuple(
            self._track(f"{name}_{own}", track, found) for own, track in zip(sides, found.tracks, strict=True)
        )
        whole, points = found.mass_properties(self.robot), found.points(self.robot)
        belts = sum(track.belt_mass for track in tracks)
        if whole.mass <= belts:
            expected = f"above the {belts:.4g} kg of its belt (<inertial> of {', '.join(found.links)})"
            raise InvalidValueError(f"mass of flipper {name} [kg]", expected, whole.mass)
        size = np.maximum(np.ptp(points, axis=0), 0.01)
        of_belts = sum(track.belt_mass * _center(track) for track in tracks)
        center = (whole.mass * whole.center - of_belts) / (whole.mass - belts)
        self.findings.add(
            "sure",
            f"flipper {name}",
            f"tip to the {found.tip}, {whole.mass:.4g} kg with its belt",
            f"joint {joint.name}",
        )
        reach = float(np.abs(points[:, 0]).max())
        effort = self._believed(joint, "effort", joint.effort, _MOST_PULL * self.weight * reach)
        velocity = self._believed(joint, "velocity", joint.velocity, _FASTEST / reach)
        if effort > 0:
            torque, why = effort, f"effort of joint {joint.name}"
        else:
            # Twice what lifts half of the robot by its tips.
            torque = _rounded(self.weight * reach / max(1, len(self.carriers.flippers)), 3)
            file_has = f"the file's effort is {joint.effort:g}"
            why = f"default: each bears its share of the weight at its tip, as {file_has}"
            self.findings.add("guessed", f"flipper {name}: max torque", f"{torque:.4g} N m", why)
        speed, why_speed = (velocity, "velocity") if velocity > 0 else (1.0, "default")
        if velocity <= 0:
            why_default = f"default, as the file's velocity is {joint.velocity:g}"
            self.findings.add("guessed", f"flipper {name}: max speed", f"{speed:.4g} rad/s", why_default)
        lost = [
            link
            for link in found.links
            if link not in {joint.child, *(n for t in found.tracks for n in t.links)}
            and self.robot.shapes(link)
        ]
        if lost:
            self.findings.add(
                "remark",
                f"flipper {name}",
                f"shapes of {', '.join(lost)} left out",
                "a flipper of a vehicle file has belts alone",
            )
        frame = self.robot.frames[self.robot.root]
        return FlipperPlan(
            name=name, found=found, parent=self.robot.root, xyz=_triple(found.pivot - frame.origin),
            mass=whole.mass - belts,
            size=_triple(size), center=_triple(center), max_torque=torque, max_speed=speed,
            tracks=tuple(dataclasses.replace(t, name=own) for t, own in zip(tracks, sides, strict=True)),
            notes={"mass": f"links {', '.join(found.links)}, less the belt", "size": "extents of its shapes",
                   "limits": f"joint {joint.name}", "max_torque": why,
                   "max_speed": f"{why_speed} of joint {joint.name}"},
        )  # fmt: skip

    def _followers(self) -> set[str]:
        """Names of the joints that follow others."""
        mimics = {
            str(j.get("name")) for j in self.robot.tree.iterfind("joint") if j.find("mimic") is not None
        }
        differential = self.carriers.differential
        return mimics if differential is None else mimics | {differential[1].name}

    def _joint(self, joint: RobotJoint) -> JointPlan:
        ends = [t for t in self.carriers.on_links if self.robot.moving_joints(t.carrier)[0] is joint]
        if any(_is_at_end(joint, track) for track in ends):
            torque, source = joint.effort, "its effort and velocity"
            if torque <= 0:
                lever = max(track.length for track in ends) if joint.turns else 1.0
                torque = _rounded(self.weight * lever / len(self.tracks), 3)
                source = "default: it bears its share of the weight at the end, as the file's effort is 0"
            speed = joint.velocity if joint.velocity > 0 else 1.0
            certainty: Certainty = "sure" if joint.effort > 0 else "guessed"
            units = ("N m", "rad/s") if joint.turns else ("N", "m/s")
            self.findings.add(
                certainty,
                f"joint {joint.name}",
                f"servo of {torque:g} {units[0]}, {speed:g} {units[1]}",
                source,
            )
            return JointPlan(joint, torque, speed)
        self.findings.add(
            "guessed",
            f"joint {joint.name}",
            "moves freely, with its damping",
            "it carries tracks and is no flipper's",
        )
        return JointPlan(joint, None, 0.0)


def _center(track: TrackPlan) -> Array:
    """Centre of a flipper's belt in the flipper frame (3,) [m]."""
    x, z = _middle(np.array([[p.x, p.z, p.radius] for p in track.pulleys]))
    return np.array([x, track.xyz[1], z])


def _pitch(pulleys: Sequence[Pulley], height: float) -> tuple[float, str]:
    """Pitch of default grousers [m], and its source.

    On a pulley of radius r tips a pitch p apart let the vehicle sink by up to p^2 / 8 r between two of them.
    """
    pitch, why = _PITCHES * height, f"default: {_PITCHES:g} heights"
    lowest = min(pulleys, key=lambda p: p.z - p.radius)
    standing = [p for p in pulleys if p.z - p.radius < lowest.z - lowest.radius + _LEVEL]
    smooth = math.sqrt(8 * lowest.radius * _SINKS)
    if len(standing) < 2 and smooth < pitch:
        return smooth, "default: so fine that it does not rock on the pulley that it stands on"
    return pitch, why


def _is_at_end(joint: RobotJoint, track: FoundTrack) -> bool:
    reach = min(math.dist((p.x, p.z), joint.origin[[0, 2]]) - 0.7 * p.radius for p in track.outline.pulleys)
    return reach < 0


def _sprocket(found: FoundTrack, joint: RobotJoint, outwards: float) -> float:
    """Radius of the belt, outwards of the outline [m], about the pulley nearest to a joint [m]."""
    nearest = min(found.outline.pulleys, key=lambda p: math.dist((p.x, p.z), joint.origin[[0, 2]]))
    return nearest.radius + outwards


def _names(places: Sequence[tuple[float, float]], taken: set[str]) -> list[str]:
    """Names by side and end of parts at (y, x), to the left and forward [m]; none that is taken."""
    sides = [y for y, _ in places]
    middle = (min(sides) + max(sides)) / 2 if sides else 0.0
    if sides and max(sides) - min(sides) < 1e-3:
        middle = 0.0
    found: list[str] = []
    for y, x in places:
        side = "left" if y > middle + 1e-6 else "right" if y < middle - 1e-6 else "middle"
        row = sorted({round(b, 3) for a, b in places if (a > middle) == (y > middle)}, reverse=True)
        rank = min(range(len(row)), key=lambda k: abs(row[k] - x))
        ends = {1: [""], 2: ["front_", "rear_"], 3: ["front_", "mid_", "rear_"]}.get(
            len(row), [f"row_{k + 1}_" for k in range(len(row))]
        )
        name = f"{ends[rank]}{side}"
        while name in found or name in taken:
            name += "_2" if name in found else "_flipper"
        found.append(name)
    return found


def _middle(rows: Array) -> Array:
    low, high = (rows[:, :2] - rows[:, 2:]).min(axis=0), (rows[:, :2] + rows[:, 2:]).max(axis=0)
    return np.asarray((low + high) / 2)


def _triple(values: Array) -> tuple[float, float, float]:
    x, y, z = (float(value) for value in values)
    return x, y, z


def _rounded(value: float, digits: int = 2) -> float:
    """Value with a number of significant digits."""
    return float(f"{value:.{digits}g}")
