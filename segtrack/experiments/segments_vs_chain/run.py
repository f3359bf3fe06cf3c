"""Letting both models go through all scenes."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from segtrack.experiments import traction
from segtrack.experiments.okada.published import TABLE_4, PublishedClimb
from segtrack.experiments.okada.table_4 import run_table_4
from segtrack.experiments.parallel import run_parallel
from segtrack.experiments.segments_vs_chain.comparison import MODELS, VEHICLE, Model, Scenes, SegmentsVsChain
from segtrack.experiments.segments_vs_chain.lines import compare, track_friction
from segtrack.experiments.traction import Pull, Slide, SteadyDrive

_AROUND = math.radians(3.0)
"""A slide is looked for so far below and above the closed form [rad]."""


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
        workers: Largest number of processes at a time; as many as there are cores if not given.
        on_done: Called after flat ground, after slope and hitch, and after each step, of each model.
    """
    flats = run_parallel(_flat, MODELS, workers=1, on_done=on_done)
    others = run_parallel(_slopes_and_hitch, MODELS, workers=workers, on_done=on_done)
    scenes: dict[Model, Scenes] = {}
    for model, flat, (hill, slide, pulls) in zip(MODELS, flats, others, strict=True):
        climbs = run_table_4(track_model=model, published=published, workers=workers, on_done=on_done)
        scenes[model] = Scenes(flat, hill, slide, pulls, climbs)
    return compare(scenes)


def _flat(model: Model) -> SteadyDrive:
    return traction.drive_steadily(VEHICLE, model)


def _slopes_and_hitch(model: Model) -> tuple[SteadyDrive, Slide, tuple[Pull, ...]]:
    limit = math.atan(track_friction())
    return (
        traction.drive_steadily(VEHICLE, model, slope=traction.SLOPE),
        traction.slide_down(VEHICLE, model, begin=limit - _AROUND, end=limit + _AROUND),
        traction.pull_hitch(VEHICLE, model),
    )
