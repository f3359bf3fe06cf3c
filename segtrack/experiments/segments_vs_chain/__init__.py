"""Segments and a link chain on the same vehicles: where they agree, where not, and why.

Flat ground, a slope and a hitch are PackBot's: all its weight is on two equal tracks of its body,
so that a free body has closed forms for what is measured, and two chains are simulated instead
of Quince's six. The steps of Table IV are Quince's.
"""

from segtrack.experiments.segments_vs_chain.comparison import (
    MODELS,
    VEHICLE,
    Line,
    Model,
    Scenes,
    SegmentsVsChain,
)
from segtrack.experiments.segments_vs_chain.lines import compare
from segtrack.experiments.segments_vs_chain.run import run_segments_vs_chain, scene_count

__all__ = [
    "MODELS",
    "VEHICLE",
    "Line",
    "Model",
    "Scenes",
    "SegmentsVsChain",
    "compare",
    "run_segments_vs_chain",
    "scene_count",
]
