"""`segtrack reproduce maxxii`: recorded steady turns of a physical tracked vehicle (Focchi et al. 2024)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Annotated

import numpy as np
import typer
from matplotlib.figure import Figure
from numpy.typing import NDArray
from rich.table import Table

from segtrack.description import VehicleDescription, load_vehicle
from segtrack.engine import find_track_model, resolve
from segtrack.errors import InvalidValueError, Phrase
from segtrack.experiments import DrivenTurns, drive_turns, run_parallel, uniform_turns, with_contact_length
from segtrack.logs.fit import DATA, PARTS, UNIFORM
from segtrack.logs.mapping import SteadyTable, map_file
from segtrack.report import SEGMENT_COLOURS, Outcome, new_figure
from segtrack.reproduce.registry import Session, TrackModels, runnable

VEHICLE = "maxxii"
TRACK_MODELS = ("compliant", "segments", "chain")
LENGTHS = (0.6, 0.7, 0.8)
"""On the ground, the middle one the vehicle file's; none is published [m]."""
FEW = 27
"""Turns that slow track models drive."""


@cache
def gauge() -> float:
    """Distance between the tracks' middles [m]."""
    return load_vehicle(VEHICLE).require_track_offsets().gauge


@cache
def recorded_turns() -> SteadyTable:
    """Table of all recorded turns."""
    return SteadyTable.of(map_file(DATA / "maxxii_indoor.csv", DATA / "maxxii_indoor.yaml").motion)


@dataclass(frozen=True, eq=False)
class SimulatedTurns:
    """Recorded turns, driven by one model.

    Attributes:
        model: Track model, or `uniform pressure` for planar friction without a simulator.
        length: Length of the tracks on the ground [m].
        rows: Indices of the recorded turns (n,).
        yaw_rate: Simulated yaw rates (n,) [rad/s].
        real_time_factor: Simulated over elapsed time [-]; None without a simulator.
    """

    model: str
    length: float
    rows: NDArray[np.intp]
    yaw_rate: NDArray[np.float64]
    real_time_factor: float | None

    @property
    def turning(self) -> NDArray[np.bool_]:
        """Mask of the rows with a turn (n,); straight ones have no ratio."""
        return recorded_turns().turning[self.rows]

    @property
    def over_no_slip(self) -> NDArray[np.float64]:
        """Ratio of simulated to no-slip yaw rate, for the turning rows (n,) [-]."""
        return self.yaw_rate[self.turning] / self._no_slip_rate

    @property
    def measured_over_no_slip(self) -> NDArray[np.float64]:
        """Ratio of measured to no-slip yaw rate, for the turning rows (n,) [-]."""
        return recorded_turns().yaw_rate(gauge())[self.rows][self.turning] / self._no_slip_rate

    @property
    def measured_over_simulated(self) -> NDArray[np.float64]:
        """Ratio of measured to simulated yaw rate, for the turning rows (n,) [-]."""
        return self.measured_over_no_slip / self.over_no_slip

    @property
    def _no_slip_rate(self) -> NDArray[np.float64]:
        return recorded_turns().no_slip_rate(gauge())[self.rows][self.turning]

    def summary(self) -> dict[str, object]:
        """Return a JSON-serialisable dict."""
        return {
            "model": self.model,
            "contact_length": self.length,
            "turns": len(self.rows),
            "simulated_over_no_slip": quartiles(self.over_no_slip),
            "measured_over_no_slip": quartiles(self.measured_over_no_slip),
            "measured_over_simulated": quartiles(self.measured_over_simulated),
            "real_time_factor": self.real_time_factor,
            "rows": self.rows.tolist(),
            "yaw_rate": self.yaw_rate.tolist(),
        }


def quartiles(values: NDArray[np.float64]) -> list[float]:
    """Lower quartile, median and upper quartile."""
    return [float(value) for value in np.percentile(values, [25, 50, 75])]


def run_maxxii(
    track_models: Sequence[str] = TRACK_MODELS,
    rows: int | None = None,
    workers: int | None = None,
    on_part: Callable[[], object] = lambda: None,
) -> tuple[SimulatedTurns, ...]:
    """Drive the recorded turns with each track model; compliant ones with all `LENGTHS`, others with one.

    Args:
        track_models: Names of track models.
        rows: Number of turns, evenly spread over the recording; by default all for compliant belts and `FEW`
            for others.
        workers: Number of processes; by default the number of cores.
        on_part: Function called after each of `part_count` parts.

    Returns:
        For each length the planar friction of uniform pressure; then each track model.

    Raises:
        UnknownNameError: No such track model.
        InvalidValueError: There are not so many turns.
    """
    for track_model in track_models:
        resolve(None, track_model)
    plan = [
        (track_model, length, chosen_rows(track_model, rows))
        for track_model in track_models
        for length in (LENGTHS if _is_fast(track_model) else LENGTHS[1:2])
    ]
    jobs = [(length, track_model, part) for track_model, length, chosen in plan for part in _parts(chosen)]
    done = iter(run_parallel(_drive, jobs, workers=workers, on_done=on_part))
    found = []
    for length in LENGTHS:
        chosen = chosen_rows("compliant", rows)
        turns = uniform_turns(_of_length(length), recorded_turns().belts[chosen])
        found.append(SimulatedTurns(UNIFORM, length, chosen, turns.yaw_rate, None))
    for track_model, length, chosen in plan:
        parts = [next(done) for _ in _parts(chosen)]
        rates = np.concatenate([part.yaw_rate for part in parts])
        factor = sum(part.simulated for part in parts) / sum(part.elapsed for part in parts)
        found.append(SimulatedTurns(track_model, length, chosen, rates, factor))
    return tuple(found)


def part_count(track_models: Sequence[str], rows: int | None) -> int:
    """Return the number of parts of `run_maxxii`."""
    counts = {name: len(_parts(chosen_rows(name, rows))) for name in track_models}
    return sum(count * (len(LENGTHS) if _is_fast(name) else 1) for name, count in counts.items())


def chosen_rows(track_model: str, rows: int | None) -> NDArray[np.intp]:
    """Return the indices (n,) of the turns for a track model, evenly spread over the recording.

    Raises:
        InvalidValueError: There are not so many.
    """
    total = len(recorded_turns().belts)
    count = rows if rows is not None else total if _is_fast(track_model) else FEW
    if not 1 <= count <= total:
        raise InvalidValueError("rows", f"1 to {total}", Phrase(f"{count}"))
    return ((np.arange(count) + 0.5) * total / count).astype(np.intp)


def _parts(rows: NDArray[np.intp]) -> list[NDArray[np.intp]]:
    return np.array_split(rows, min(PARTS, len(rows)))


def _drive(job: tuple[float, str, NDArray[np.intp]]) -> DrivenTurns:
    """Drive turns one by one, each from the start, on tracks of a length [m]."""
    length, track_model, rows = job
    return drive_turns(_of_length(length), recorded_turns().belts[rows], track_model)


def _of_length(length: float) -> VehicleDescription:
    return with_contact_length(load_vehicle(VEHICLE), length)


def _is_fast(track_model: str) -> bool:
    return find_track_model(track_model).faster is not None


_MARKERS = "os^Dv<>"


def maxxii_table(results: Sequence[SimulatedTurns]) -> Table:
    """Return medians of yaw rates over no-slip ones, and quartiles of measured over simulated ones."""
    table = Table(title="Steady turns of MAXXII: yaw rates over those without slip")
    headers = (
        "",
        "length\n[m]",
        "turns",
        "simu-\nlated",
        "mea-\nsured",
        "measured /\nsimulated",
        "x real\ntime",
    )
    for header in headers:
        table.add_column(header, no_wrap=True)
    model = ""
    for result in results:
        if model != (model := result.model):
            table.add_section()
        low, middle, high = quartiles(result.measured_over_simulated)
        table.add_row(
            result.model,
            f"{result.length:g}",
            str(len(result.rows)),
            f"{np.median(result.over_no_slip):.2f}",
            f"{np.median(result.measured_over_no_slip):.2f}",
            f"{middle:.2f} ({low:.2f}-{high:.2f})",
            "" if result.real_time_factor is None else f"{result.real_time_factor:.1f}",
        )
    return table


def draw_maxxii(results: Sequence[SimulatedTurns]) -> Figure:
    """Plot simulated over measured yaw rate of each turn, and the distribution of measured over simulated.

    Contact lengths but the middle one are shown as a band between their medians.
    """
    figure = new_figure(12.0, 5.0)
    turns, ratios = figure.subplots(1, 2)
    models = list(dict.fromkeys(result.model for result in results))
    for i, model in enumerate(models):
        colour, marker = SEGMENT_COLOURS[i], _MARKERS[i % len(_MARKERS)]
        of_model = [result for result in results if result.model == model]
        middle = next(result for result in of_model if result.length == LENGTHS[1])
        label = f"{model}, {len(middle.rows)} turns"
        turns.plot(
            middle.measured_over_no_slip, middle.over_no_slip, marker, color=colour, label=label, alpha=0.5
        )
        ordered = np.sort(middle.measured_over_simulated)
        shares = (np.arange(len(ordered)) + 0.5) / len(ordered)
        ratios.plot(ordered, shares, color=colour, label=label)
        medians = [float(np.median(result.measured_over_simulated)) for result in of_model]
        if len(medians) > 1:
            ratios.axvspan(min(medians), max(medians), color=colour, alpha=0.12, linewidth=0)
    turns.plot([0, 1.2], [0, 1.2], color="black", linewidth=0.8, linestyle=":")
    turns.set_xlabel("measured yaw rate / without slip [-]")
    turns.set_ylabel("simulated yaw rate / without slip [-]")
    turns.set_xlim(0, 1.2)
    turns.set_ylim(0, 1.2)
    turns.set_title(f"each turn, contact length {LENGTHS[1]:g} m", loc="left", fontsize=11)
    ratios.axvline(1.0, color="black", linewidth=0.8, linestyle=":")
    ratios.set_xlabel("measured / simulated yaw rate [-]")
    ratios.set_ylabel("fraction of turns below [-]")
    ratios.set_xlim(0.5, 2.0)
    bands = f"bands: medians for contact lengths of {LENGTHS[0]:g} to {LENGTHS[-1]:g} m"
    ratios.set_title(bands, loc="left", fontsize=11)
    for axes in (turns, ratios):
        axes.grid(alpha=0.25)
        axes.legend(fontsize=9)
    return figure


def run(
    session: Session,
    track_model: TrackModels = None,
    rows: Annotated[
        int | None,
        typer.Option(
            help="How many of the 270 turns; all for compliant belts, a tenth for slower track models.",
            min=1,
            show_default=False,
        ),
    ] = None,
) -> Outcome:
    """Drive the turns with the track models whose engine is installed."""
    models, notes = runnable({model: (None, model) for model in track_model or TRACK_MODELS})
    with session.counting("turning", part_count(models, rows)) as done:
        results = run_maxxii(models, rows, on_part=done)
    summary = {"models": [result.summary() for result in results]}
    files = {"maxxii.json": summary, "maxxii.png": draw_maxxii(results)}
    return Outcome(maxxii_table(results), summary, files, notes)
