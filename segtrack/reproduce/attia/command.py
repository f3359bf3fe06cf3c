"""`segtrack reproduce attia`: a vehicle with double A-arms is released, in two implementations."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from matplotlib.figure import Figure
from numpy.typing import NDArray
from rich.markup import escape
from rich.table import Table

from segtrack.report import SEGMENT_COLOURS, Outcome, label_axes, new_figure
from segtrack.reproduce.attia import native_model, vehicle
from segtrack.reproduce.attia.particle_model import ParticleVehicle
from segtrack.reproduce.attia.vehicle import ASSUMPTIONS, HeaveReading
from segtrack.reproduce.registry import Session

TIME_STEPS = (0.004, 0.001, 0.00025, 0.000125)
"""Steps of the native engine [s]; the last two, one half of the other, are extrapolated to no step."""
SHOWN_STEP = 0.001
"""Step of what is drawn and listed [s]."""
DURATION, INTERVAL = 3.0, 0.004
"""Simulated time, and that between samples [s]."""
_SHOWN_TIME = 1.5
"""Length of the plot's time axis [s]."""


@dataclass(frozen=True, eq=False)
class ReleaseResult:
    """States of the vehicle after its release; columns as in `HeaveReading`.

    Attributes:
        times: Times since the release (n,) [s].
        particles: States by the paper's particle recursion (n, 6).
        native: States by the native engine, by time step (n, 6) each.
    """

    times: NDArray[np.float64]
    particles: NDArray[np.float64]
    native: Mapping[float, NDArray[np.float64]]

    @property
    def shown(self) -> NDArray[np.float64]:
        """States by the native engine at time step `SHOWN_STEP` (n, 6)."""
        return self.native[SHOWN_STEP]

    def differences(self) -> dict[str, tuple[float, float]]:
        """Largest differences of height [m] and pitch [rad], by the native engine's time step in words."""
        found = {f"{1e3 * step:g} ms": states for step, states in self.native.items()}
        longer, shorter = list(self.native)[-2:]
        found["extrapolated to 0"] = 2 * self.native[shorter] - self.native[longer]
        return {
            step: (float(height), float(pitch))
            for step, states in found.items()
            for height, pitch in [np.abs(states - self.particles)[:, :2].max(axis=0)]
        }


def release_both(on_done: Callable[[], object] = lambda: None) -> ReleaseResult:
    """Release the vehicle in the particle recursion, and in the native engine with each of `TIME_STEPS`.

    Args:
        on_done: Function called after each run.
    """
    times = np.linspace(0.0, DURATION, round(DURATION / INTERVAL) + 1)
    particles = np.array(ParticleVehicle().release(times))
    on_done()
    native = {}
    for step in TIME_STEPS:
        native[step] = np.array(native_model.release(times.tolist(), step))
        on_done()
    return ReleaseResult(times, particles, native)


def accelerations(states: NDArray[np.float64]) -> NDArray[np.float64]:
    """Vertical accelerations by central differences of the states' heights (n - 2,) [m/s^2]."""
    return np.diff(states[:, 0], 2) / INTERVAL**2


def draw_release(result: ReleaseResult) -> Figure:
    """Plot displacement, acceleration and difference of both implementations over time."""
    figure = new_figure(7.5, 8.0)
    fall, pull, apart = figure.subplots(3, 1, sharex=True)
    colours = dict(zip(result.native, SEGMENT_COLOURS, strict=False))
    for states, label, style, width, colour in (
        (result.particles, "particles, cut joints", "-", 4.0, SEGMENT_COLOURS[5]),
        (result.shown, f"native engine, {1e3 * SHOWN_STEP:g} ms", "--", 1.5, colours[SHOWN_STEP]),
    ):
        displacement = 1e3 * (states[:, 0] - states[0, 0])
        fall.plot(result.times, displacement, style, color=colour, linewidth=width, label=label)
        pull.plot(result.times[1:-1], accelerations(states), style, color=colour, linewidth=width)
    fall.axhline(-1e3 * vehicle.RELEASE, color="black", linewidth=0.8, linestyle=":", label="rest by statics")
    fall.legend()
    seen = result.times <= _SHOWN_TIME
    for step, states in result.native.items():
        difference = 1e3 * np.abs(states[seen, 0] - result.particles[seen, 0])
        apart.semilogy(
            result.times[seen][1:], difference[1:], color=colours[step], label=f"{1e3 * step:g} ms"
        )
    apart.legend(ncols=len(result.native), fontsize=9)
    label_axes(fall, "", "displacement [mm]", "Chassis of the vehicle with double A-arms, let go")
    label_axes(pull, "", "acceleration [m/s$^2$]")
    label_axes(apart, "time [s]", "height apart [mm]")
    apart.set_xlim(0.0, _SHOWN_TIME)
    return figure


def run(session: Session) -> Outcome:
    """Release the vehicle in both implementations."""
    with session.counting("letting go", 1 + len(TIME_STEPS)) as done:
        result = release_both(done)
    at_rest = {
        "statics": vehicle.rest_reading(),
        "particles": HeaveReading(*result.particles[-1].tolist()),
        f"native, {1e3 * SHOWN_STEP:g} ms": HeaveReading(*result.shown[-1].tolist()),
    }
    falls = {"particles": result.particles, f"native, {1e3 * SHOWN_STEP:g} ms": result.shown}
    shapes = {name: _shape(result.times, states) for name, states in falls.items()}
    summary = {
        "mass": vehicle.total_mass(),
        "declared": ASSUMPTIONS,
        "rest": {name: reading._asdict() for name, reading in at_rest.items()},
        "motion": shapes,
        "largest_difference": {
            step: {"height": height, "pitch": pitch} for step, (height, pitch) in result.differences().items()
        },
    }
    rows = [
        {"time": time}
        | {f"particles_{key}": value for key, value in zip(HeaveReading._fields, own, strict=True)}
        | {f"native_{key}": value for key, value in zip(HeaveReading._fields, other, strict=True)}
        for time, own, other in zip(
            result.times.tolist(), result.particles.tolist(), result.shown.tolist(), strict=True
        )
    ]
    files = {"attia.json": summary, "attia.csv": rows, "attia.png": draw_release(result)}
    tables = [_declared_table(), _rest_table(at_rest), _shape_table(shapes), _difference_table(result)]
    return Outcome(tables, summary, files)


def _shape(times: NDArray[np.float64], states: NDArray[np.float64]) -> dict[str, float]:
    """Characteristic numbers of a release, by name."""
    heights = states[:, 0] - vehicle.REST_HEIGHT
    lowest = int(np.argmin(heights))
    return {
        "largest upward acceleration [m/s^2]": float(accelerations(states).max()),
        "lowest below rest [mm]": float(-1e3 * heights[lowest]),
        "at [s]": float(times[lowest]),
        "then highest above rest [mm]": float(1e3 * heights[lowest:].max()),
        "within 0.1 mm of rest from [s]": float(times[np.flatnonzero(np.abs(heights) > 1e-4)[-1] + 1]),
    }


def _declared_table() -> Table:
    table = Table("declared", "", title="What the paper leaves open: only the shape of the motion is claimed")
    for meaning, value in ASSUMPTIONS.items():
        table.add_row(escape(meaning), value)
    return table


def _rest_table(at_rest: Mapping[str, HeaveReading]) -> Table:
    """Heights, pitch and forces at rest, of both implementations and by statics."""
    table = Table("", *at_rest, title=f"Rest, {vehicle.total_mass():g} kg, after {DURATION:g} s")
    rows: Sequence[tuple[str, str, float]] = (
        ("height", "height of the chassis [mm]", 1e3),
        ("pitch", "pitch [mrad]", 1e3),
        ("front_load", "load of a front tyre [N]", 1.0),
        ("rear_load", "load of a rear tyre [N]", 1.0),
        ("front_strut", "force of a front strut [N]", 1.0),
        ("rear_strut", "force of a rear strut [N]", 1.0),
    )
    for key, meaning, factor in rows:
        table.add_row(
            escape(meaning), *(f"{factor * getattr(reading, key) + 0.0:.3f}" for reading in at_rest.values())
        )
    return table


def _shape_table(shapes: Mapping[str, Mapping[str, float]]) -> Table:
    table = Table("", *shapes, title="Fall of the chassis")
    for meaning in next(iter(shapes.values())):
        table.add_row(escape(meaning), *(f"{shape[meaning]:.3f}" for shape in shapes.values()))
    return table


def _difference_table(result: ReleaseResult) -> Table:
    """Largest differences of both implementations, by time step."""
    fall = np.ptp(result.particles[:, 0])
    table = Table(
        "step of the native engine",
        "height [mm]",
        "over the fall [-]",
        "pitch [mrad]",
        title="Largest difference from the particles",
    )
    for step, (height, pitch) in result.differences().items():
        table.add_row(step, f"{1e3 * height:.5f}", f"{height / fall:.1e}", f"{1e3 * pitch:.5f}")
    return table
