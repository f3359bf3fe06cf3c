"""Shoes that are not joined, on ground."""

import math

import numpy as np

from segtrack.chain import Bushing, Chain, Shoe
from segtrack.chain.shoe_contact import (
    TerrainContact,
    allocate_contact_arrays,
    allocate_shoe_history,
    allocate_terrain_rows,
    find_contact_candidates,
)
from segtrack.chain.shoe_dynamics import allocate_work_arrays, drift, kick, start_loads
from segtrack.chain.shoe_state import ChainState
from segtrack.chain.terrain_rows import add_terrain_contacts
from segtrack.ground import Grouser, Tread, contact_parameters, pack_ground, pack_treads
from segtrack.terrain import Soil, find_soil

LENGTH, WIDTH = 0.0384, 0.075
SHOE = Shoe.of_box(0.05, (LENGTH, WIDTH, 0.010))
PLATE = Tread(LENGTH, WIDTH, outer=0.005, thickness=0.010)
CLEATED = Tread(LENGTH, WIDTH, 0.005, 0.010, Grouser(height=0.008, base=0.005, top=0.005))
GRIP = contact_parameters(
    friction=0.5, stiffness=2e5, damping=50.0, tangential_stiffness=1e5, tangential_damping=20.0
)
STEP = 5e-5
DOWN = (1.0, 0.0, 0.0, 0.0)
"""A shoe that lies on its outer side: its z looks down, its y to the right."""
SAND = find_soil("LETE sand")
LINEAR = Soil.linear(1e6, 1000.0, math.radians(30), 100.0)


class Scene:
    """Links that are not joined, on ground."""

    def __init__(self, *terrains, tread=PLATE, count=1, grip=GRIP, gravity=(0, 0, -9.81)):
        self.chain = Chain(count, SHOE, Bushing(1e6), closed=False)
        self.ground, self.treads, self.grip = pack_ground(terrains), pack_treads([tread], [0] * count), grip
        self.frames, self.loads = allocate_work_arrays(self.chain)
        self.motion = allocate_shoe_history(self.treads)
        self.report, self.nearby = allocate_contact_arrays(self.ground, self.treads)
        self.rows, self.step = allocate_terrain_rows(self.treads), STEP
        self.weight = tuple(SHOE.mass * g for g in map(float, gravity))
        zeros = np.zeros((count, 3))
        self.state = ChainState(zeros, np.tile(DOWN, (count, 1)), zeros, zeros)

    def gather(self, step, weight=None):
        contact = TerrainContact(
            self.ground, self.treads, self.grip, self.motion, self.report, self.nearby, 0.005, self.rows
        )
        find_contact_candidates(contact, self.frames)
        start_loads(self.loads, self.weight if weight is None else weight)
        add_terrain_contacts(contact, self.frames, self.loads, step)

    def shear_force(self, i):
        """Force of flat ground on link i along x, in the last step [N]."""
        return self.loads.forces[i, 0] - self.weight[0]

    def run(self, duration, velocity_decay=1.0):
        """Let the links move freely."""
        for _ in range(round(duration / self.step)):
            drift(self.state.arrays, self.frames, self.chain.constants, self.step / 2)
            self.gather(self.step)
            kick(self.state.arrays, self.frames, self.loads, self.chain.constants, self.step, velocity_decay)
            drift(self.state.arrays, self.frames, self.chain.constants, self.step / 2)

    def hold(self, position=None, velocity=(0, 0, 0), orientation=None, step=None):
        """Put the links somewhere, and find what the ground does to them: forces and torques (n, 3)."""
        if position is not None:
            self.state.positions[:] = position
        if orientation is not None:
            self.state.orientations[:] = orientation
        self.state.velocities[:] = velocity
        drift(self.state.arrays, self.frames, self.chain.constants, 0.0)
        self.gather(self.step if step is None else step, weight=(0.0, 0.0, 0.0))
        n = self.chain.count
        return self.loads.forces[:n].copy(), self.loads.torques[:n].copy()


def plate_at(sinkage):
    """Where a plate that lies on its outer side is pressed in by so much."""
    return (0, 0, PLATE.outer - sinkage)


def tilted(angle):
    """Gravity as felt on a slope that rises along x."""
    return (-9.81 * math.sin(angle), 0, -9.81 * math.cos(angle))


def some_soil(**named):
    values = {
        "sinkage_exponent": 1.0,
        "cohesive_modulus": 1.0,
        "frictional_modulus": 1.0,
        "cohesion": 0.0,
        "friction_angle": 0.5,
        "shear_deformation_modulus": 0.01,
    }
    return Soil(**values | named)
