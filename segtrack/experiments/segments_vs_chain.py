"""Segments and a link chain on the same vehicles: where they agree, where not, and why.

Flat ground, a slope and a hitch are PackBot's: all its weight is on two equal tracks of its body,
so that a free body has closed forms for what is measured, and two chains are simulated instead
of Quince's six. The steps of Table IV are Quince's.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from segtrack.description import load_vehicle
from segtrack.experiments import traction
from segtrack.experiments.climb import ClimbResult
from segtrack.experiments.okada_table_4 import Case, Table4, run_table_4
from segtrack.experiments.parallel import run_parallel
from segtrack.experiments.published import TABLE_4, PublishedClimb
from segtrack.experiments.traction import Pull, Slide, SteadyDrive

VEHICLE = "packbot"
Model = Literal["segments", "chain"]
MODELS: tuple[Model, Model] = ("segments", "chain")
_AROUND = math.radians(3.0)
"""A slide is looked for so far below and above the closed form [rad]."""


@dataclass(frozen=True)
class Scenes:
    """What one track model did; `hill` is the slope that is driven up."""

    flat: SteadyDrive
    hill: SteadyDrive
    slide: Slide
    pulls: tuple[Pull, ...]
    climbs: Table4


@dataclass(frozen=True)
class Line:
    """One quantity as both models have it.

    Attributes:
        scene: Where it was measured.
        quantity: What, with its unit in brackets.
        segments: Of the segments.
        chain: Of the link chain.
        reference: The closed form, or what was published; None if there is neither.
        tolerance: Values nearer than this agree; None for words, which agree if they are equal.
        why: What the values come from.
    """

    scene: str
    quantity: str
    segments: float | str
    chain: float | str
    reference: float | str | None
    tolerance: float | None
    why: str

    @property
    def values(self) -> dict[Model, float | str]:
        """By track model."""
        return {"segments": self.segments, "chain": self.chain}

    @property
    def difference(self) -> float | None:
        """Chain less segments; None for words."""
        if isinstance(self.chain, str) or isinstance(self.segments, str):
            return None
        return self.chain - self.segments

    @property
    def agree(self) -> bool:
        """Whether the models agree with one another."""
        return self._near(self.chain, self.segments)

    @property
    def off_reference(self) -> tuple[Model, ...]:
        """The models that do not agree with the reference."""
        if self.reference is None:
            return ()
        return tuple(model for model, value in self.values.items() if not self._near(value, self.reference))

    def _near(self, a: float | str, b: float | str) -> bool:
        if isinstance(a, str) or isinstance(b, str) or self.tolerance is None:
            return a == b
        return abs(a - b) <= self.tolerance

    def summary(self) -> dict[str, object]:
        """As plain values with the names that JSON has."""
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
        friction: Of the tracks on flat ground, slope and hitch.
        scenes: By track model.
        lines: The comparison.
    """

    friction: float
    scenes: Mapping[Model, Scenes]
    lines: tuple[Line, ...]

    @property
    def speed_ratio(self) -> float:
        """Real-time factor of the chain over that of the segments, on the flat."""
        return self.scenes["chain"].flat.real_time_factor / self.scenes["segments"].flat.real_time_factor

    @property
    def same_outcomes(self) -> int:
        """In how many cases of Table IV both models end alike."""
        pairs = zip(*(self.scenes[model].climbs.cases for model in MODELS), strict=True)
        return sum(a.climb.success == b.climb.success for a, b in pairs)

    def summary(self) -> dict[str, object]:
        """As plain values with the names that JSON has."""
        factors: dict[str, float] = {model: self.scenes[model].flat.real_time_factor for model in MODELS}
        return {
            "vehicle": VEHICLE,
            "friction": self.friction,
            "lines": [line.summary() for line in self.lines],
            "agree": sum(line.agree for line in self.lines),
            "real_time_factor": factors | {"ratio": self.speed_ratio},
            "table_4": {model: self.scenes[model].climbs.summary() for model in MODELS},
            "same_outcomes": self.same_outcomes,
        }


def scene_count(published: Sequence[PublishedClimb] = TABLE_4) -> int:
    """How often `run_segments_vs_chain` calls its `on_done`."""
    return len(MODELS) * (2 + len(published))


def run_segments_vs_chain(
    *,
    published: Sequence[PublishedClimb] = TABLE_4,
    workers: int | None = None,
    on_done: Callable[[], object] | None = None,
) -> SegmentsVsChain:
    """Let both models go through all scenes.

    On flat ground one model drives after the other, while nothing else runs, so that their
    real-time factors can be compared; all the rest goes on in processes of their own.

    Args:
        published: Other lines of Table IV than all six.
        workers: Most processes at a time; as many as there are cores if not given.
        on_done: Called after flat ground, after slope and hitch, and after each step, of each model.
    """
    flats = run_parallel(_flat, MODELS, workers=1, on_done=on_done)
    others = run_parallel(_slopes_and_hitch, MODELS, workers=workers, on_done=on_done)
    scenes: dict[Model, Scenes] = {}
    for model, flat, (hill, slide, pulls) in zip(MODELS, flats, others, strict=True):
        climbs = run_table_4(track_model=model, published=published, workers=workers, on_done=on_done)
        scenes[model] = Scenes(flat, hill, slide, pulls, climbs)
    return compare(scenes)


def compare(scenes: Mapping[Model, Scenes]) -> SegmentsVsChain:
    """Set both models side by side."""
    friction = _friction()
    weight = scenes["segments"].flat.weight
    segments, chain = scenes["segments"], scenes["chain"]
    lines = [
        *_flat_lines(segments.flat, chain.flat),
        *_slope_lines(segments, chain, friction),
        *(_pull_line(a, b, friction * weight) for a, b in zip(segments.pulls, chain.pulls, strict=True)),
        *(_climb_line(a, b) for a, b in zip(segments.climbs.cases, chain.climbs.cases, strict=True)),
    ]
    return SegmentsVsChain(friction, dict(scenes), tuple(lines))


def _friction() -> float:
    return load_vehicle(VEHICLE).tracks["left"].contact.friction


def _flat(model: Model) -> SteadyDrive:
    return traction.drive_steadily(VEHICLE, model)


def _slopes_and_hitch(model: Model) -> tuple[SteadyDrive, Slide, tuple[Pull, ...]]:
    limit = math.atan(_friction())
    return (
        traction.drive_steadily(VEHICLE, model, slope=traction.SLOPE),
        traction.slide_down(VEHICLE, model, begin=limit - _AROUND, end=limit + _AROUND),
        traction.pull_hitch(VEHICLE, model),
    )


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
