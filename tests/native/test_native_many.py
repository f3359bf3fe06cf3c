"""Vehicles side by side in the native engine's arrays: each is by itself, whatever others and threads do."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import segtrack
from segtrack import terrain
from segtrack.compliant.candidates import Room, allocate_candidates
from segtrack.compliant.edge_contact import REPORT
from segtrack.compliant.memory import allocate_belt_memory
from segtrack.ground.broadphase import ContactHistory
from segtrack.ground.pack import pack_ground
from segtrack.ground.tuples import Packed
from segtrack.native.step import CROWDED, DONE, NOT_FINITE, Vehicles, advance
from segtrack.native.tree import VehicleState, allocate_tree_work

COUNT = 60


class Many:
    """N copies of a Quince before a step, of different masses and commands."""

    def __init__(self, vehicles):
        with segtrack.World(engine="native", time_step=0.004) as world:
            world.add_terrain(terrain.Step(height=0.1, distance=0.3))
            model = world.add_vehicle("quince").model
            self.kind, self.grounds, self.model = model.arrays, model._grounds, model
        self.terrains = np.zeros(vehicles, dtype=np.intp)
        self.states = VehicleState(*(np.repeat(array, vehicles, axis=0) for array in model.state))
        self.history = ContactHistory(*(np.repeat(array, vehicles, axis=0) for array in model._history))
        places = model._memory.sections.shape[1]
        sections, points = len(self.kind.belts.kinds), self.kind.belts.points.shape[1]
        self.memory = allocate_belt_memory(sections, points, places, (vehicles,))
        alike = {
            name: np.repeat(getattr(self.kind.tree, name)[None], vehicles, axis=0)
            for name in ("masses", "centers", "inertias", "max_torques", "max_speeds")
        }
        drives = np.repeat(self.kind.drives[None], vehicles, axis=0)
        self.arrays = self.kind._replace(tree=self.kind.tree._replace(**alike), drives=drives)
        for i in range(vehicles):
            self.arrays.tree.masses[i] *= 1.0 + 0.1 * i
            self.states.commands[i] = 0.1 + 0.02 * i
        self.near = self.candidates(Room(places, 8, 16))
        self.done = np.zeros(vehicles, dtype=np.intp)
        self.outcomes = np.zeros((vehicles, 4), dtype=np.intp)

    def candidates(self, room):
        hulls, tracks = len(self.kind.hull.links), len(self.model.tracks)
        segments = len(self.kind.belts.segments)
        return allocate_candidates(len(self.states.position), room, hulls, tracks, segments)

    def run(self, first, last, steps=COUNT):
        work = allocate_tree_work(self.kind.tree)
        things = self.arrays, self.terrains, self.states, self.history, self.memory, self.near, work
        gravity, no_report = (0.0, 0.0, -9.81), np.zeros((0, REPORT))
        vehicles = Packed.of(Vehicles(*things, self.done, self.outcomes))
        advance(vehicles, self.grounds, no_report, first, last, gravity, 0.004, steps, 1.0)


@pytest.fixture(scope="module")
def alone():
    """Vehicles of which each was taken by a call of its own."""
    many = Many(4)
    for i in range(4):
        many.run(i, i + 1)
    return many


def test_vehicles_do_not_depend_on_threads_or_on_others(alone):
    for split in (((0, 4),), ((0, 2), (2, 4)), ((1, 4), (0, 1))):
        many = Many(4)
        with ThreadPoolExecutor(len(split)) as pool:
            list(pool.map(lambda span, many=many: many.run(*span), split))
        assert (many.done == COUNT).all() and (many.outcomes[:, 0] == DONE).all()
        for name, one, other in zip(VehicleState._fields, many.states, alone.states, strict=True):
            np.testing.assert_array_equal(one, other, err_msg=name)


def test_parameters_differ_by_vehicle(alone):
    """Heavier ones sink in deeper, in proportion to their mass."""
    resting = Many(3)
    for i in range(3):
        resting.arrays.tree.masses[i] = (1 + i) * resting.kind.tree.masses
    resting.states.commands[:] = 0.0
    resting.states.position[:, 0] -= 1.0
    resting.run(0, 3, 500)
    first, second, third = resting.states.position[:, 2]
    assert first - second > 1e-5
    assert second - third == pytest.approx(first - second, rel=5e-3)  # Arcs come to touch.


def test_one_that_diverges_or_is_crowded_leaves_the_others_alone(alone):
    many = Many(4)
    places = many.memory.sections.shape[1]
    many.states.velocity[1] = np.nan
    many.near = many.candidates(Room(places, 0, 16))
    many.states.position[2, 2] += 50.0  # Far from what would crowd it.
    many.run(0, 4)
    assert many.outcomes[:, 0].tolist() == [CROWDED, NOT_FINITE, DONE, CROWDED]
    assert many.done.tolist() == [0, 0, COUNT, 0]
    many.near = many.candidates(Room(places, 8, 16))
    many.states.slack[:] = 0.0
    many.run(0, 4)
    for name, one, other in zip(VehicleState._fields, many.states, alone.states, strict=True):
        np.testing.assert_array_equal(one[[0, 3]], other[[0, 3]], err_msg=name)


def test_each_vehicle_is_on_the_terrain_of_its_index(alone):
    many, flat = Many(2), pack_ground((terrain.Plane(),))
    many.grounds = Packed.joined([Packed.of(flat), many.grounds])
    many.terrains[:] = 1, 0
    many.run(0, 2)
    first, second = many.states.position[:, 2]
    assert first == alone.states.position[0, 2]
    only = Many(2)
    only.grounds = Packed.of(flat)
    only.run(1, 2)
    assert second == only.states.position[1, 2] != alone.states.position[1, 2]
