"""Contacts of points with one face: those of points one by one, in vectors, from the state alone."""

from __future__ import annotations

import platform
import re
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
import pytest
from numpy.typing import NDArray

import segtrack
from segtrack import terrain
from segtrack.compliant import REPORT, belt_contact, copy_memory
from segtrack.ground import (
    NONE,
    add_contact_loads,
    allocate_loads,
    excess_of,
    face_contacts,
)
from segtrack.kernels import Kernel, compiling, entry
from segtrack.native import step as native_step
from segtrack.native.tree import candidates_view, history_view, memory_view, vehicle_view
from segtrack.native.vehicles import vehicle_of

GROUNDS = {
    "flat": terrain.Plane(),
    "step": terrain.Step(height=0.06, distance=0.2),
    "field": terrain.StepField(seed=1, max_height=0.06, cell=0.2, rows=6, columns=6, distance=-0.6),
}


@contextmanager
def interpreted() -> Iterator[None]:
    """Kernels run as plain Python."""
    with pytest.MonkeyPatch.context() as patch:
        for kind in (Kernel, *Kernel.__subclasses__()):
            patch.setattr(
                kind, "__call__", lambda one, *given, **more: one.py_func(*given, **more), raising=False
            )
        yield


def driven(name: str, track_model: str, ground: str, step: float, seed: int) -> segtrack.World:
    """A vehicle that turns on the ground, under commands that have just changed."""
    draw = np.random.default_rng(seed)
    world = segtrack.World(engine="native", time_step=step)
    world.add_terrain(GROUNDS[ground])
    robot = world.add_vehicle(name, track_model=track_model, yaw=0.3)
    world.run(0.2)
    for _ in range(2):
        left, right = draw.uniform(-0.3, 0.3, 2).tolist()
        robot.set_belt_speed(left=left, right=right)
        world.run(0.03)
    return world


class Gathered:
    """Contacts of a vehicle in the next step, with memory of their own; `alone` for points one by one."""

    def __init__(self, world: segtrack.World, alone: bool) -> None:
        model = world.robots[0].model
        vehicles, (ground,) = model._packed.items[0], model._grounds.items
        memories = model._allocate_memory(model._memory.sections.shape[1])
        copy_memory(memories, model._memory)
        histories = type(vehicles.histories)(*(array.copy() for array in vehicles.histories))
        lists = type(vehicles.candidates)(*(array.copy() for array in vehicles.candidates))
        lists.clear_until[:] = np.inf
        self.work, self.links, self.belts = vehicles.work, len(model.tree.masses), len(model.belts)
        with interpreted(), pytest.MonkeyPatch.context() as patch:
            if alone:
                several = belt_contact.clearance
                patch.setattr(belt_contact, "clearance", lambda *given: (several(*given)[0], NONE, NONE))
            self.memory = memory_view(memories, 0)
            vehicle, state = vehicle_of(vehicles.arrays, 0), vehicle_view(vehicles.states, 0)
            native_step.move_links(vehicle.tree, state, self.work)
            native_step.gather_contacts(
                vehicle,
                ground,
                state,
                history_view(histories, 0),
                self.memory,
                candidates_view(lists, 0),
                self.work,
                np.zeros((0, REPORT)),
                3.0 * world.time_step,
                world.time_step,
            )
        self.in_faces = int(self.work.contacts.with_faces.used[0])

    def loads(self, step: float, seed: int) -> tuple[list[NDArray[np.float64]], float]:
        """Loads for velocity changes drawn at random, and what is beyond limits with others."""
        draw, loads = np.random.default_rng(seed), allocate_loads(self.links, self.belts)
        contacts, scale = self.work.contacts, 1e-3
        with interpreted():
            for passed in range(2):
                changes, turns = scale * draw.normal(size=(2, self.links, 3))
                belts = scale * draw.normal(size=self.belts)
                for array in loads:
                    array[:] = 0.0
                add_contact_loads(contacts, changes, turns, belts, passed, loads, step)
            excess = excess_of(contacts, changes, turns, -belts)
        return [array.copy() for array in loads], excess

    def shears(self) -> NDArray[np.float64]:
        """Shear displacements that are remembered, by point, solid and axis."""
        contacts = self.memory.contacts
        known = np.where(contacts.solid_ids[:, None] != NONE, contacts.shear_displacements, 0.0)
        return known.reshape(-1, 3, 3).sum(axis=1)


CASES = [
    pytest.param(name, track_model, ground, step, marks=[] if quick else pytest.mark.slow)
    for name in segtrack.bundled_vehicles()
    if "conveyor" not in name  # Which stand on no belt.
    for track_model in ("compliant", "surface")
    for ground in GROUNDS
    for step in (0.001, 0.004)
    for quick in [name in ("quince", "packbot") and (step == 0.004) == (ground == "step")]
]


@pytest.mark.parametrize(("name", "track_model", "ground", "step"), CASES)
def test_points_side_by_side_are_points_one_by_one(name, track_model, ground, step):
    """Loads, masses, what is beyond limits and what is remembered: within 1e-12 of the largest, or rounding.

    Places are known to a rounding of the lever, and what gives way is a small part of it, so that shear and
    depth are equal to two such roundings, and loads to these over the shear. Moments are sums of forces times
    levers that may cancel: the largest of these terms counts for them.
    """
    for seed in range(2):
        world = driven(name, track_model, ground, step, seed)
        together = Gathered(world, alone=False)
        # A bulldozer has the step in reach of every section on the ground.
        assert together.in_faces > 0 or ground == "field" or (name, ground) == ("bulldozer", "step")
        mine, excess = together.loads(step, seed)
        shears = together.shears()
        apart = Gathered(world, alone=True)
        assert apart.in_faces == 0
        theirs, other = apart.loads(step, seed)
        low, high = world.robots[0].bounds()
        lever = float(np.linalg.norm(np.subtract(high, low))) / 2
        rounding, shear = 2 * np.finfo(float).eps * lever, float(np.abs(shears).max())
        bound = max(1e-12, rounding / shear) if shear > 0 else 1e-12
        largest = [np.abs(array).max() for array in theirs]
        largest[1] = max(largest[1], largest[0] * lever)
        for a, b, most in zip(mine, theirs, largest, strict=True):
            np.testing.assert_allclose(a, b, rtol=0, atol=bound * most)
        np.testing.assert_allclose(shears, apart.shears(), rtol=0, atol=bound * shear)
        assert excess == pytest.approx(other, rel=1e-9, abs=1e-12)
        world.close()


@pytest.mark.parametrize("track_model", ["compliant", "surface"])
@pytest.mark.parametrize("step", [0.001, 0.004])
def test_no_bit_depends_on_when_was_looked_for_what_is_near(track_model, step):
    """Of two Quinces that climb askew one looks in each step, and skips nothing."""
    worlds = []
    for often in (False, True):
        world = segtrack.World(engine="native", time_step=step)
        world.add_terrain(terrain.Step(height=0.12, distance=0.5))
        robot = world.add_vehicle("quince", track_model=track_model, yaw=0.2)
        robot.set_flippers(**dict.fromkeys(robot.flippers, 0.6))
        robot.set_belt_speed(left=0.35, right=0.3)
        for _ in range(round(1.2 / step)):
            if often:
                robot.model.forget_candidates()
            world.step()
        worlds.append([a.copy() for name, a in robot.model.state._asdict().items() if name != "slack"])
        world.close()
    for one, other in zip(*worlds, strict=True):
        np.testing.assert_array_equal(one, other)


@entry
def touch(block, table, shears, motion, base, law, lanes):
    """Contacts of a section's points with a face, as Python can call them."""
    face_contacts._touch_lanes(block, table, shears, motion, base, law, lanes)


@entry
def add(block, face, sums, change, turn, belt_change, passed, anew, step, lanes):
    """Loads of a block."""
    face_contacts._add_lanes(block, face, sums, change, turn, belt_change, passed, anew, step, lanes)


@entry
def compare(block, face, sums, change, turn, belt_change, lanes):
    """What the contacts of a block exert."""
    face_contacts._compare_lanes(block, face, sums, change, turn, belt_change, lanes)


STILL = (0.0, 0.0, 0.0)
BLOCK, FACE = np.zeros(face_contacts.BLOCK * 8), np.ones(face_contacts.FACE_NUMBERS)
MOTION = face_contacts.FaceMotion(*[STILL] * 8, 0.0, 1.0, 0.0)
LAW = face_contacts.FaceLaw(*[1.0] * 9)
SUMS = np.zeros(face_contacts.FACE_SUMS * 8)


@pytest.mark.skipif(not isinstance(touch, Kernel), reason="nothing is compiled")
@pytest.mark.skipif(platform.machine() != "x86_64", reason="names instructions of another family")
@pytest.mark.parametrize(
    ("loop", "given", "products"),
    [
        (touch, (BLOCK, np.zeros(32), np.zeros(24), MOTION, STILL, LAW, 8), 50),
        (add, (BLOCK, FACE, SUMS, STILL, STILL, 0.0, 1, 1.0, 0.001, 8), 60),
        (compare, (BLOCK, FACE, SUMS, STILL, STILL, 0.0, 8), 20),
    ],
    ids=["contacts", "loads", "limits"],
)
def test_lanes_are_taken_with_vectors(monkeypatch, loop, given, products):
    """As many products of vectors as the loop has of numbers, and a root and a division of vectors."""
    monkeypatch.setattr(compiling.KernelCache, "load_overload", lambda *_: None)  # What is kept has no text.
    monkeypatch.setattr(compiling.KernelCache, "save_overload", lambda *_: None)
    loop(*given)
    (text,) = loop.inspect_asm().values()
    assert len(re.findall(r"\bv?mulpd\b", text)) >= products
    assert re.search(r"\bv?sqrtpd\b", text)
    assert loop is compare or re.search(r"\bv?divpd\b", text)
