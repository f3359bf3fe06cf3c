"""The comparison, line by line: values, closed forms, and where differences come from."""

from __future__ import annotations

import math
from collections.abc import Mapping

from segtrack.description import load_vehicle
from segtrack.experiments import traction
from segtrack.experiments.climb import ClimbResult
from segtrack.experiments.okada.table_4 import Case
from segtrack.experiments.segments_vs_chain.comparison import VEHICLE, Line, Model, Scenes, SegmentsVsChain
from segtrack.experiments.traction import Pull, SteadyDrive


def compare(scenes: Mapping[Model, Scenes]) -> SegmentsVsChain:
    """Set both models side by side."""
    friction = track_friction()
    weight = scenes["segments"].flat.weight
    segments, chain = scenes["segments"], scenes["chain"]
    lines = [
        *_flat_lines(segments.flat, chain.flat),
        *_slope_lines(segments, chain, friction),
        *(_pull_line(a, b, friction * weight) for a, b in zip(segments.pulls, chain.pulls, strict=True)),
        *(_climb_line(a, b) for a, b in zip(segments.climbs.cases, chain.climbs.cases, strict=True)),
    ]
    return SegmentsVsChain(friction, dict(scenes), tuple(lines))


def track_friction() -> float:
    """Friction of the tracks of the vehicle, against terrain of friction 1."""
    return load_vehicle(VEHICLE).tracks["left"].contact.friction


def _flat_lines(segments: SteadyDrive, chain: SteadyDrive) -> list[Line]:
    scene, speed, weight = "flat ground", traction.SPEED, segments.weight
    belts = [drive.mean_speed / (1.0 - drive.slip) for drive in (segments, chain)]
    return [
        Line(
            scene,
            "mean speed [m/s]",
            segments.mean_speed,
            chain.mean_speed,
            speed,
            0.01 * speed,
            f"belts go at {belts[0]:.4f} and {belts[1]:.4f} m/s of the {speed:g} m/s commanded, "
            "and the vehicle with them",
        ),
        Line(
            scene,
            "slip [-]",
            segments.slip,
            chain.slip,
            0.0,
            0.005,
            "nothing pulls: the ground has to give no more than keeps the body in step with its belts "
            f"(deviation of the traction {segments.traction.std():.2f} and {chain.traction.std():.1f} N)",
        ),
        Line(
            scene,
            "deviation of the speed [m/s]",
            segments.speed_deviation,
            chain.speed_deviation,
            0.0,
            0.01 * speed,
            f"{chain.ripple_of_shoes:.0%} of the variance of the chain's speed is at multiples of "
            f"{chain.shoe_rate:.1f} Hz, at which its shoes come onto the driven wheel and set down; "
            "a segment on the ground is one piece",
        ),
        Line(
            scene,
            "mean drive force [N]",
            segments.mean_force,
            chain.mean_force,
            0.0,
            0.01 * weight,
            "a segment belt loses nothing; the chain's rolling resistance, "
            f"{chain.mean_force / weight:.2%} of the weight, is {chain.mean_force * chain.mean_speed:.2f} W "
            "lost in bushings, on wheels and teeth, and under shoes that set down",
        ),
    ]


def _slope_lines(segments: Scenes, chain: Scenes, friction: float) -> list[Line]:
    a, b = segments.hill, chain.hill
    need, limit = a.weight * math.sin(a.slope), friction * a.weight * math.cos(a.slope)
    spent = [float((drive.traction > 0.98 * limit).mean()) for drive in (a, b)]
    scene = f"driving up {math.degrees(a.slope):.0f} deg"
    lag = math.sqrt(
        2 * traction.TILT_RATE * traction.SLIDING * math.cos(math.atan(friction)) / traction.GRAVITY
    )
    return [
        Line(
            "slope",
            "slide angle, braked [deg]",
            math.degrees(segments.slide.angle),
            math.degrees(chain.slide.angle),
            math.degrees(math.atan(friction)),
            1.0,
            "m g sin = mu m g cos for any track; sliding is told by its speed, "
            f"{math.degrees(lag):.1f} deg after it began; up to there the belts crept by "
            f"{segments.slide.crept * 1000:.1f} and {chain.slide.crept * 1000:.1f} mm",
        ),
        Line(
            scene,
            "slip [-]",
            a.slip,
            b.slip,
            0.0,
            0.01,
            f"of the friction, {need / limit:.0%} is needed in the mean; as the body's speed ripples, the "
            f"traction comes to 98% of it and more for {spent[0]:.0%} and {spent[1]:.0%} of the time",
        ),
        Line(
            scene,
            "mean drive force [N]",
            a.mean_force,
            b.mean_force,
            need,
            0.05 * need,
            f"m g sin, whatever the track; the chain's drives give {b.mean_force - need:.1f} N more, "
            f"after {chain.flat.mean_force:.1f} N on the flat",
        ),
    ]


def _pull_line(segments: Pull, chain: Pull, limit: float) -> Line:
    why = f"the chain's drives give {chain.drive - chain.pull:.1f} N more than it pulls"
    if chain.shoes is not None:
        slip = chain.shoes
        why = (
            f"segments slip as one, the chain's shoes by {slip.mean:.3f} +- {slip.deviation:.3f} m/s: "
            f"{slip.lagging:.1%} of the weight is on shoes that do not slip backwards, which need not "
            f"pull by mu; {why}"
        )
    quantity = f"pull at {segments.slip:.0%} slip [N]"
    return Line("drawbar", quantity, segments.pull, chain.pull, limit, 0.05 * limit, why)


def _climb_line(segments: Case, chain: Case) -> Line:
    line, a, b = segments.published, segments.climb, chain.climb
    where = f"{line.front_sub_track_deg:.0f} deg, {line.step * 1000:.0f} mm"
    return Line(
        "Table IV",
        where,
        _ending(a.success),
        _ending(b.success),
        _ending(line.real),
        None,
        f"segments {_story(a)}; chain {_story(b)}",
    )


def _story(climb: ClimbResult) -> str:
    return (
        f"{climb.outcome} after {climb.duration:.1f} s, nose up by at most "
        f"{math.degrees(climb.max_pitch):.1f} deg, slip {climb.slip:.2f}"
    )


def _ending(success: bool) -> str:
    return "climbed" if success else "failed"
