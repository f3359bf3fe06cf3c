"""One vehicle of N, in the arrays that they share."""

from __future__ import annotations

from segtrack.compliant.candidates import Candidates
from segtrack.ground.history import ContactHistory
from segtrack.ground.vectors import compiled
from segtrack.native.state import VehicleState


@compiled
def vehicle_view(states: VehicleState, i: int) -> VehicleState:
    """State of vehicle `i` of N."""
    return VehicleState(
        states.position[i],
        states.orientation[i],
        states.velocity[i],
        states.angular_velocity[i],
        states.joint_angles[i],
        states.joint_speeds[i],
        states.joint_torques[i],
        states.joint_commands[i],
        states.travels[i],
        states.speeds[i],
        states.forces[i],
        states.energies[i],
        states.commands[i],
        states.references[i],
        states.targets[i],
        states.limits[i],
        states.holding[i],
        states.frictions[i],
        states.drive_factors[i],
        states.push[i],
        states.slack[i],
    )


@compiled
def history_view(histories: ContactHistory, i: int) -> ContactHistory:
    """Memory of the contacts of vehicle `i` of N."""
    return ContactHistory(
        histories.solid_ids[i],
        histories.shear_displacements[i],
        histories.sinkages[i],
        histories.edge_ids[i],
        histories.edge_shear_displacements[i],
    )


@compiled
def candidates_view(candidates: Candidates, i: int) -> Candidates:
    """Candidates of vehicle `i` of N."""
    return Candidates(
        candidates.near[i],
        candidates.near_counts[i],
        candidates.solids[i],
        candidates.solid_counts[i],
        candidates.edges[i],
        candidates.edge_counts[i],
    )
