"""`segtrack reproduce segments-vs-chain`: both track models side by side."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from functools import partial

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from rich.markup import escape
from rich.table import Table

from segtrack.experiments.hitch import Pull, pull_hitch
from segtrack.experiments.parallel import run_parallel
from segtrack.experiments.traction import SLOPE, SPEED, Slide, SteadyDrive, drive_steadily, slide_down
from segtrack.report.outcome import Outcome
from segtrack.report.side_view import SEGMENT_COLOURS, label_axes, new_figure
from segtrack.reproduce.okada_cases import TABLE_4, Table4Case, ending, run_table_4
from segtrack.reproduce.registry import Session, runnable
from segtrack.reproduce.segments_vs_chain_lines import (
    MODELS,
    VEHICLE,
    ComparedLine,
    Model,
    Scenes,
    SegmentsVsChain,
    compare,
    track_friction,
)

_AROUND = math.radians(3.0)
"""Range around the closed form in which a slide is looked for [rad]."""


def scene_count(models: Sequence[Model] = MODELS) -> int:
    """Return how often `run_segments_vs_chain` calls its `on_done`."""
    return len(models) * (2 + len(TABLE_4))


def run_segments_vs_chain(
    *,
    models: Sequence[Model] = MODELS,
    on_done: Callable[[], object] | None = None,
) -> SegmentsVsChain:
    """Let both models, or the chain alone, go through all scenes.

    On flat ground one model drives after the other, while nothing else runs, so that their
    real-time factors can be compared; all the rest goes on in processes of their own.

    Args:
        models: Models that run; `chain` is among them.
        on_done: Called after flat ground, after slope and hitch, and after each step, of each model.
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
    """Draw flat ground, slope and hitch in a row, the climbs below it, each with its reference."""
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
    """Drive all scenes with the models that run here."""
    models, notes = runnable({model: (None, model) for model in MODELS})
    with session.counting("comparing", scene_count(models)) as done:
        result = run_segments_vs_chain(models=models, on_done=done)
    summary = result.summary()
    files = {"segments_vs_chain.json": summary, "segments_vs_chain.png": draw_segments_vs_chain(result)}
    return Outcome(segments_vs_chain(result), summary, files, notes)


def segments_vs_chain(result: SegmentsVsChain) -> tuple[Table, ...]:
    """Return both track models line by line, then why; what is off the reference is red."""
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
    """A value to a hundredth of its tolerance."""
    if value is None or isinstance(value, str) or line.tolerance is None:
        return "" if value is None else str(value)
    digits = max(0, 2 - math.floor(math.log10(line.tolerance)))
    return f"{round(value, digits) + 0.0:.{digits}f}"  # No minus before a zero.
