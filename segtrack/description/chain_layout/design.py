"""The design of a track as a link chain, of its loop, shoes, wheels and contacts."""

from __future__ import annotations

from segtrack.chain.design import TrackDesign
from segtrack.chain.running_gear.design import Rail, RunningGear
from segtrack.chain.shoes.model import Chain
from segtrack.description.chain_layout.contacts import (
    design_shoe_contact,
    design_sprocket,
    design_wheel_contact,
)
from segtrack.description.chain_layout.layout import ChainLayout
from segtrack.description.chain_layout.loop import fit_loop
from segtrack.description.chain_layout.shoes import design_bushing, design_shoe, design_treads
from segtrack.description.chain_layout.wheels import design_wheels
from segtrack.description.track import TrackSpec
from segtrack.errors import InvalidValueError, Phrase

MIN_SUB_STEP = 1e-6
"""Sub-step of a chain that is worth waiting for [s]."""


def track_design(name: str, spec: TrackSpec) -> TrackDesign:
    """The link chain that a track's description asks for.

    Args:
        name: Name of the track, for messages.
        spec: The track, with its chain filled in.

    Raises:
        InvalidValueError: It cannot be closed, or does not fit around its wheels.
    """
    assert spec.chain is not None
    layout = ChainLayout(name, spec, spec.chain)
    loop = fit_loop(layout)
    shoe = design_shoe(layout, loop)
    bushing = design_bushing(layout, shoe)
    treads = design_treads(layout, shoe)
    design = TrackDesign(
        name=name,
        chain=Chain(len(loop.headings), shoe, bushing),
        running_gear=RunningGear(
            wheels=design_wheels(layout, loop),
            driven=0,
            rail=Rail(layout.thickness - loop.depth, layout.rail_stations),
            contact=design_wheel_contact(layout, shoe, bushing),
            sprocket=design_sprocket(layout, loop, shoe, bushing),
        ),
        treads=treads,
        shoe_contact=design_shoe_contact(layout, shoe, bushing, treads),
        hinges=loop.hinges,
        initial_sprocket_angle=loop.sprocket_phase,
        max_contact_force=max(spec.drive.stall_force, 2 * layout.pretension),
        parent_link_names=layout.parent_link_names,
    )
    if design.max_sub_step < MIN_SUB_STEP:
        expected = f"soft and heavy enough for sub-steps of at least {MIN_SUB_STEP:g} s"
        got = Phrase(f"one that needs {design.max_sub_step:.3g} s")
        raise InvalidValueError(f"chain of {name}", expected, got)
    return design
