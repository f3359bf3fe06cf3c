"""Comparison of segments and a link chain, line by line: values, closed forms and reasons."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Literal

from segtrack.description import load_vehicle
from segtrack.experiments import SLIDING, SPEED, TILT_RATE, ClimbResult, Pull, Slide, SteadyDrive
from segtrack.geometry import GRAVITY
from segtrack.reproduce.okada_cases import Table4, Table4Case, ending

VEHICLE = "packbot"
Model = Literal["segments", "chain"]
MODELS: tuple[Model, Model] = ("segments", "chain")


@dataclass(frozen=True)
class Scenes:
    """Results of one track model; `hill` is the slope that is driven up."""

    flat: SteadyDrive
    hill: SteadyDrive
    slide: Slide
    pulls: tuple[Pull, ...]
    climbs: Table4


@dataclass(frozen=True)
class ComparedLine:
    """One quantity of both models.

    Attributes:
        scene: Scene of the measurement.
        quantity: Name of the quantity, with its unit in brackets.
        segments: Value of the segments; None if they did not run.
        chain: Value of the link chain.
        reference: Closed form or published value; None if there is neither.
        tolerance: Values nearer than this agree; None for words, which agree if they are equal.
        why: Reason for the values and their difference.
    """

    scene: str
    quantity: str
    segments: float | str | None
    chain: float | str
    reference: float | str | None
    tolerance: float | None
    why: str

    @property
    def values(self) -> dict[Model, float | str]:
        """Values by track model, of those that ran."""
        ran: dict[Model, float | str] = {} if self.segments is None else {"segments": self.segments}
        return ran | {"chain": self.chain}

    @property
    def difference(self) -> float | None:
        """Chain less segments; None for words, and if segments did not run."""
        if isinstance(self.chain, str) or isinstance(self.segments, str | None):
            return None
        return self.chain - self.segments

    @property
    def agree(self) -> bool | None:
        """True if the models agree with one another; None if one of them did not run."""
        return None if self.segments is None else self._near(self.chain, self.segments)

    @property
    def off_reference(self) -> tuple[Model, ...]:
        """Models that do not agree with the reference."""
        if self.reference is None:
            return ()
        return tuple(model for model, value in self.values.items() if not self._near(value, self.reference))

    def _near(self, a: float | str, b: float | str) -> bool:
        if isinstance(a, str) or isinstance(b, str) or self.tolerance is None:
            return a == b
        return abs(a - b) <= self.tolerance

    def summary(self) -> dict[str, object]:
        """Return a JSON-serialisable dict."""
        return {
            **vars(self),
            "difference": self.difference,
            "agree": self.agree,
            "off_reference": list(self.off_reference),
        }


@dataclass(frozen=True)
class SegmentsVsChain:
    """Both models in all scenes.

    Attributes:
        friction: Friction of the tracks on flat ground, slope and hitch.
        scenes: Results by track model; the chain's at least.
        lines: The comparison, quantity by quantity.
    """

    friction: float
    scenes: Mapping[Model, Scenes]
    lines: tuple[ComparedLine, ...]

    @property
    def speed_ratio(self) -> float | None:
        """Real-time factor of the chain over that of the segments, on the flat; None if they did not run."""
        if "segments" not in self.scenes:
            return None
        return self.scenes["chain"].flat.real_time_factor / self.scenes["segments"].flat.real_time_factor

    @property
    def agreeing(self) -> int:
        """Number of lines in which both models agree."""
        return sum(line.agree is True for line in self.lines)

    @property
    def same_outcomes(self) -> int | None:
        """Number of cases of Table IV in which both models end alike; None if one did not run."""
        if len(self.scenes) < len(MODELS):
            return None
        pairs = zip(*(self.scenes[model].climbs.cases for model in MODELS), strict=True)
        return sum(a.climb.success == b.climb.success for a, b in pairs)

    def summary(self) -> dict[str, object]:
        """Return a JSON-serialisable dict."""
        factors: dict[str, float | None] = {
            model: scenes.flat.real_time_factor for model, scenes in self.scenes.items()
        }
        return {
            "vehicle": VEHICLE,
            "friction": self.friction,
            "lines": [line.summary() for line in self.lines],
            "agree": self.agreeing,
            "real_time_factor": factors | {"ratio": self.speed_ratio},
            "table_4": {model: scenes.climbs.summary() for model, scenes in self.scenes.items()},
            "same_outcomes": self.same_outcomes,
        }


def compare(scenes: Mapping[Model, Scenes]) -> SegmentsVsChain:
    """Set both models side by side; the chain beside closed forms alone if segments did not run."""
    friction = track_friction()
    chain = scenes["chain"]
    segments = scenes.get("segments", chain)
    weight = chain.flat.weight
    lines = [
        *_flat_lines(segments.flat, chain.flat),
        *_slope_lines(segments, chain, friction),
        *(_pull_line(a, b, friction * weight) for a, b in zip(segments.pulls, chain.pulls, strict=True)),
        *(_climb_line(a, b) for a, b in zip(segments.climbs.cases, chain.climbs.cases, strict=True)),
    ]
    if "segments" not in scenes:
        lines = [replace(line, segments=None, why="") for line in lines]
    return SegmentsVsChain(friction, dict(scenes), tuple(lines))


def track_friction() -> float:
    """Return the friction of the vehicle's tracks against terrain of friction 1."""
    return load_vehicle(VEHICLE).tracks["left"].contact.friction


def _flat_lines(segments: SteadyDrive, chain: SteadyDrive) -> list[ComparedLine]:
    scene, speed, weight = "flat ground", SPEED, segments.weight
    belts = [drive.mean_speed / (1.0 - drive.slip) for drive in (segments, chain)]
    return [
        ComparedLine(
            scene,
            "mean speed [m/s]",
            segments.mean_speed,
            chain.mean_speed,
            speed,
            0.01 * speed,
            f"belts go at {belts[0]:.4f} and {belts[1]:.4f} m/s of the {speed:g} m/s commanded, "
            "and the vehicle with them",
        ),
        ComparedLine(
            scene,
            "slip [-]",
            segments.slip,
            chain.slip,
            0.0,
            0.005,
            "nothing pulls: the ground has to give no more than keeps the body in step with its belts "
            f"(deviation of the traction {segments.traction.std():.2f} and {chain.traction.std():.1f} N)",
        ),
        ComparedLine(
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
        ComparedLine(
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


def _slope_lines(segments: Scenes, chain: Scenes, friction: float) -> list[ComparedLine]:
    a, b = segments.hill, chain.hill
    need, limit = a.weight * math.sin(a.slope), friction * a.weight * math.cos(a.slope)
    spent = [float((drive.traction > 0.98 * limit).mean()) for drive in (a, b)]
    scene = f"driving up {math.degrees(a.slope):.0f} deg"
    lag = math.sqrt(2 * TILT_RATE * SLIDING * math.cos(math.atan(friction)) / GRAVITY)
    return [
        ComparedLine(
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
        ComparedLine(
            scene,
            "slip [-]",
            a.slip,
            b.slip,
            0.0,
            0.01,
            f"of the friction, {need / limit:.0%} is needed in the mean; as the body's speed ripples, the "
            f"traction comes to 98% of it and more for {spent[0]:.0%} and {spent[1]:.0%} of the time",
        ),
        ComparedLine(
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


def _pull_line(segments: Pull, chain: Pull, limit: float) -> ComparedLine:
    why = f"the chain's drives give {chain.drive - chain.pull:.1f} N more than it pulls"
    if chain.shoes is not None:
        slip = chain.shoes
        why = (
            f"segments slip as one, the chain's shoes by {slip.mean:.3f} +- {slip.deviation:.3f} m/s: "
            f"{slip.lagging:.1%} of the weight is on shoes that do not slip backwards, which need not "
            f"pull by mu; {why}"
        )
    quantity = f"pull at {segments.slip:.0%} slip [N]"
    return ComparedLine("drawbar", quantity, segments.pull, chain.pull, limit, 0.05 * limit, why)


def _climb_line(segments: Table4Case, chain: Table4Case) -> ComparedLine:
    line, a, b = segments.published, segments.climb, chain.climb
    endings = ending(a.success), ending(b.success), ending(line.real)
    return ComparedLine("Table IV", str(line), *endings, None, f"segments {_story(a)}; chain {_story(b)}")


def _story(climb: ClimbResult) -> str:
    return (
        f"{climb.outcome} after {climb.duration:.1f} s, nose up by at most "
        f"{math.degrees(climb.max_pitch):.1f} deg, slip {climb.slip:.2f}"
    )
