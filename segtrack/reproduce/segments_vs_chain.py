"""`segtrack reproduce segments-vs-chain`: both track models side by side."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Literal

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from rich.markup import escape
from rich.table import Table

from segtrack.description import load_vehicle
from segtrack.experiments import (
    SLIDING,
    SLOPE,
    SPEED,
    TILT_RATE,
    ClimbResult,
    Pull,
    Slide,
    SteadyDrive,
    drive_steadily,
    pull_hitch,
    run_parallel,
    slide_down,
)
from segtrack.geometry import GRAVITY
from segtrack.report import SEGMENT_COLOURS, Outcome, label_axes, new_figure
from segtrack.reproduce.okada_cases import TABLE_4, Table4, Table4Case, ending, run_table_4
from segtrack.reproduce.registry import Session, runnable

VEHICLE = "packbot"
Model = Literal["segments", "chain"]
MODELS: tuple[Model, Model] = ("segments", "chain")


@dataclass(frozen=True)
class Scenes:
    """Results of one track model; `hill` is a slope driven up."""

    flat: SteadyDrive
    hill: SteadyDrive
    slide: Slide
    pulls: tuple[Pull, ...]
    climbs: Table4


@dataclass(frozen=True)
class ComparedLine:
    """One quantity, compared between both models.

    Attributes:
        scene: Scene of the measurement.
        quantity: Name of the quantity, with its unit in brackets.
        segments: Value of the segments; None if they were not run.
        chain: Value of the link chain.
        reference: Closed form or published value; None without one.
        tolerance: Largest difference that counts as agreement; None for texts, which must be equal.
        why: Explanation of the values and their difference.
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
        """Values by track model, of the models that were run."""
        ran: dict[Model, float | str] = {} if self.segments is None else {"segments": self.segments}
        return ran | {"chain": self.chain}

    @property
    def difference(self) -> float | None:
        """Chain minus segments; None for texts, and if segments were not run."""
        if isinstance(self.chain, str) or isinstance(self.segments, str | None):
            return None
        return self.chain - self.segments

    @property
    def agree(self) -> bool | None:
        """True if both models agree; None if one was not run."""
        return None if self.segments is None else self._near(self.chain, self.segments)

    @property
    def off_reference(self) -> tuple[Model, ...]:
        """Models that disagree with the reference."""
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
    """Comparison of both models in all scenes.

    Attributes:
        friction: Friction of the tracks on flat ground, slope and hitch [-].
        scenes: Results by track model; always with the chain's.
        lines: Comparisons, quantity by quantity.
    """

    friction: float
    scenes: Mapping[Model, Scenes]
    lines: tuple[ComparedLine, ...]

    @property
    def speed_ratio(self) -> float | None:
        """Chain's over segments' real-time factor on flat ground; None if segments were not run."""
        if "segments" not in self.scenes:
            return None
        return self.scenes["chain"].flat.real_time_factor / self.scenes["segments"].flat.real_time_factor

    @property
    def agreeing(self) -> int:
        """Number of lines in which both models agree."""
        return sum(line.agree is True for line in self.lines)

    @property
    def same_outcomes(self) -> int | None:
        """Number of cases of Table IV with equal outcome in both models; None if one was not run."""
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
    """Compare both models quantity by quantity; the chain with closed forms only if segments were not run."""
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


_AROUND = math.radians(3.0)
"""Range around the closed form in which a slide is looked for [rad]."""


def scene_count(models: Sequence[Model] = MODELS) -> int:
    """Return the number of times that `run_segments_vs_chain` calls its `on_done`."""
    return len(models) * (2 + len(TABLE_4))


def run_segments_vs_chain(
    *,
    models: Sequence[Model] = MODELS,
    on_done: Callable[[], object] | None = None,
) -> SegmentsVsChain:
    """Run both models, or the chain alone, through all scenes.

    On flat ground one model drives after the other, while nothing else runs, so that their
    real-time factors can be compared; all the rest goes on in processes of their own.

    Args:
        models: Models to run; `chain` is among them.
        on_done: Function called after flat ground, after slope and hitch, and after each step, per model.
    """
    flats = run_parallel(partial(drive_steadily, VEHICLE), models, workers=1, on_done=on_done)
    others = run_parallel(_slopes_and_hitch, models, on_done=on_done)
    scenes: dict[Model, Scenes] = {}
    for model, flat, (hill, slide, pulls) in zip(models, flats, others, strict=True):
        climbs = run_table_4(track_model=model, on_done=on_done)
        scenes[model] = Scenes(flat, hill, slide, pulls, climbs)
    return compare(scenes)


def _slopes_and_hitch(model: Model) -> tuple[SteadyDrive, Slide, tuple[Pull, ...]]:
    limit = math.atan(track_friction())
    return (
        drive_steadily(VEHICLE, model, slope=SLOPE),
        slide_down(VEHICLE, model, begin=limit - _AROUND, end=limit + _AROUND),
        pull_hitch(VEHICLE, model),
    )


COLOURS = dict(zip(MODELS, SEGMENT_COLOURS, strict=False))
_WINDOW = 0.5
"""Duration shown of the drive on flat ground [s]."""


def draw_segments_vs_chain(result: SegmentsVsChain) -> Figure:
    """Draw flat ground, slope and hitch in a row, the climbs below, each with its reference."""
    figure = new_figure(16.0, 9.0)
    cases = len(result.scenes["chain"].climbs.cases)
    title = "Link chain"
    if result.same_outcomes is not None:
        title = f"Segments (blue) and link chain (red): {result.agreeing} of {len(result.lines)} quantities"
        title += f" agree, {result.same_outcomes} of {cases} climbs end alike"
    figure.suptitle(title, fontsize=15)
    cells = figure.add_gridspec(1 + math.ceil(cases / 3), 12)
    panels = (_draw_speed, _draw_force, _draw_slide, _draw_pulls)
    for i, draw in enumerate(panels):
        draw(figure.add_subplot(cells[0, 3 * i : 3 * i + 3]), result)
    for i in range(cases):
        row, column = divmod(i, 3)
        axes = figure.add_subplot(cells[1 + row, 4 * column : 4 * column + 4])
        _draw_climb(axes, {model: scenes.climbs.cases[i] for model, scenes in result.scenes.items()})
    return figure


def _draw_speed(axes: Axes, result: SegmentsVsChain) -> None:
    for model in result.scenes:
        flat = result.scenes[model].flat
        axes.plot(flat.time, flat.speed, color=COLOURS[model], linewidth=1.2)
    _reference(axes, SPEED, "commanded")
    axes.set_xlim(0.0, _WINDOW)
    _label(axes, f"{VEHICLE} on flat ground", "time [s]", "speed [m/s]")


def _draw_force(axes: Axes, result: SegmentsVsChain) -> None:
    weight = result.scenes["chain"].flat.weight
    for model in result.scenes:
        scenes = result.scenes[model]
        for drive in (scenes.flat, scenes.hill):
            axes.plot(drive.time, drive.force, color=COLOURS[model], linewidth=1.0)
    hill = result.scenes["chain"].hill
    _reference(axes, 0.0, "")
    _reference(axes, weight * math.sin(hill.slope), f"m g sin {math.degrees(hill.slope):.0f} deg")
    axes.set_xlim(0.0, _WINDOW)
    _label(axes, "drives, on the flat and up a slope", "time [s]", "force of all drives [N]")


def _draw_slide(axes: Axes, result: SegmentsVsChain) -> None:
    for model in result.scenes:
        slide = result.scenes[model].slide
        axes.plot(np.degrees(slide.slope), 1000 * slide.speed, color=COLOURS[model], linewidth=1.2)
        axes.plot(math.degrees(slide.angle), 1000 * slide.speed[slide.onset], "o", color=COLOURS[model])
    axes.axvline(
        math.degrees(math.atan(result.friction)),
        color="black",
        linestyle="--",
        linewidth=1.0,
        label="atan mu",
    )
    axes.set_ylim(-2.0, 30.0)
    _label(axes, "braked on a slope that grows steeper", "slope [deg]", "speed down it [mm/s]")


def _draw_pulls(axes: Axes, result: SegmentsVsChain) -> None:
    for model in result.scenes:
        pulls = result.scenes[model].pulls
        axes.plot([p.slip for p in pulls], [p.pull for p in pulls], "o-", color=COLOURS[model])
    limit = result.friction * result.scenes["chain"].flat.weight
    _reference(axes, limit, "mu m g")
    axes.axhspan(0.95 * limit, 1.05 * limit, color="black", alpha=0.07, linewidth=0, label="5 %")
    axes.set_xscale("log")
    axes.set_ylim(0.0, 1.2 * limit)
    _label(axes, "pull on a hitch", "slip [-]", "pull [N]")


def _draw_climb(axes: Axes, cases: Mapping[Model, Table4Case]) -> None:
    for model, case in cases.items():
        path = case.climb.trajectory
        axes.plot(path.times, np.degrees(path["pitch"]), color=COLOURS[model], linewidth=1.2)
        place, end = (0.0, "left") if model == MODELS[0] else (1.0, "right")
        words = f"{model}: {case.climb.outcome}, {case.climb.duration:.1f} s"
        axes.text(place, 1.02, words, color=COLOURS[model], ha=end, transform=axes.transAxes)
    line = cases["chain"].published
    _label(axes, f"quince, {line} (robot: {ending(line.real)})", "time [s]", "pitch [deg]", pad=20.0)


def _reference(axes: Axes, value: float, label: str) -> None:
    axes.axhline(value, color="black", linestyle="--", linewidth=1.0, label=label or None)


def _label(axes: Axes, title: str, x: str, y: str, pad: float = 6.0) -> None:
    axes.set_title(title, loc="left", fontsize=11, pad=pad)
    label_axes(axes, x, y)
    if axes.get_legend_handles_labels()[1]:
        axes.legend(loc="best", fontsize=9)


def run(session: Session) -> Outcome:
    """Run all scenes with the models whose engine is installed."""
    models, notes = runnable({model: (None, model) for model in MODELS})
    with session.counting("comparing", scene_count(models)) as done:
        result = run_segments_vs_chain(models=models, on_done=done)
    summary = result.summary()
    files = {"segments_vs_chain.json": summary, "segments_vs_chain.png": draw_segments_vs_chain(result)}
    return Outcome(segments_vs_chain(result), summary, files, notes)


def segments_vs_chain(result: SegmentsVsChain) -> tuple[Table, ...]:
    """Return both models line by line, then explanations; values off the reference are red."""
    both = result.same_outcomes is not None
    title = "Link chain beside closed forms and the physical robot"
    if both:
        cases = len(result.scenes["chain"].climbs.cases)
        title = f"Segments and link chain: {result.agreeing} of {len(result.lines)} agree, "
        title += f"{result.same_outcomes} of {cases} climbs end alike"
    models = list(result.scenes)
    headers = ("", "quantity", *models, "reference", *(("difference", "agree") if both else ()))
    numbers = Table(*headers, title=title)
    reasons = Table.grid(padding=(0, 1))
    scene = ""
    for i, line in enumerate(result.lines, 1):
        if scene != line.scene:
            numbers.add_section()
            numbers.add_row("", f"[bold]{line.scene}[/bold]")
        texts = {model: _number(line, value) for model, value in line.values.items()}
        values = [f"[red]{text}[/red]" if m in line.off_reference else text for m, text in texts.items()]
        agrees = "[green]yes[/green]" if line.agree else "[red]no[/red]"
        compared = (_number(line, line.difference), agrees) if both else ()
        numbers.add_row(str(i), escape(line.quantity), *values, _number(line, line.reference), *compared)
        reasons.add_row(str(i), escape(line.why))
        scene = line.scene
    if not both:
        return (numbers,)
    reasons.add_row("", f"The chain is simulated at {result.speed_ratio:.2f} times the segments' speed.")
    return numbers, reasons


def _number(line: ComparedLine, value: float | str | None) -> str:
    """Number rounded to a hundredth of its tolerance, as text."""
    if value is None or isinstance(value, str) or line.tolerance is None:
        return "" if value is None else str(value)
    digits = max(0, 2 - math.floor(math.log10(line.tolerance)))
    return f"{round(value, digits) + 0.0:.{digits}f}"  # No minus before a zero.
