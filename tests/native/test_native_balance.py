"""Forces and moments of native vehicles and compliant belts, against balances that leave none of them out."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
import pytest
from jointed_vehicles import Limb, jointed
from scenes import GRAVITY
from scipy.spatial import ConvexHull
from scipy.spatial.transform import Rotation

import segtrack
from segtrack import terrain
from segtrack.compliant import (
    REPORT,
    Candidates,
    ContactReport,
    PartFrame,
    Room,
    add_belt_contacts,
    allocate_belt_memory,
    allocate_candidates,
    belt_contact,
    edge_contact,
    find_section_candidates,
    pack_belts,
    report_contact,
    take_places,
)
from segtrack.description import belt_designs, bundled_vehicles, load_vehicle, vehicle_links
from segtrack.ground import (
    MAX_EDGES,
    LinkMotion,
    active_contacts,
    add_contact_loads,
    allocate_contacts,
    allocate_loads,
    clear_contacts,
    implicit_contact,
    pack_ground,
)
from segtrack.ground.active_contacts import write_contact
from segtrack.ground.contact_loads import add_in_lane
from segtrack.kernels import Kernel
from segtrack.native import chain_step
from segtrack.native import step as belt_step
from segtrack.robot import Robot

STEP = 0.001


@contextmanager
def uncompiled() -> Iterator[None]:
    """Kernels run as plain Python."""
    with pytest.MonkeyPatch.context() as patch:
        for kind in (Kernel, *Kernel.__subclasses__()):
            patch.setattr(
                kind, "__call__", lambda one, *args, **more: one.py_func(*args, **more), raising=False
            )
        for module in (belt_step, chain_step):
            patch.setattr(module, "item", lambda packed, index: packed.items[index])
        yield


@contextmanager
def recorded() -> Iterator[list[list[np.ndarray]]]:
    """Velocity (3,), predicted force (3,) and added mass (3, 3) of each contact, without `compiled` code.

    Velocities are those that belts report, not those that follow from what is written of a contact's place.
    """
    seen: list[list[np.ndarray]] = []
    with pytest.MonkeyPatch.context() as patch:
        waiting, added_up = [], iter(seen)

        def write(*args):
            seen.append([])
            waiting.append(seen[-1])
            write_contact(*args)

        def report(rows, index, place, force, push, along, velocity, *rest):
            for contact in waiting:
                contact.append(np.array(velocity))
            waiting.clear()
            report_contact(rows, index, place, force, push, along, velocity, *rest)

        def add(sums, lane, lever, along, force, added):
            xx, yy, zz, xy, yz, zx = added
            if any(lever):  # Lanes without a contact have none.
                mass = np.array([[xx, xy, zx], [xy, yy, yz], [zx, yz, zz]])
                next(added_up).extend([np.array(force), mass])
            add_in_lane(sums, lane, lever, along, force, added)

        patch.setattr(implicit_contact, "write_contact", write)
        patch.setattr(active_contacts, "add_in_lane", add)
        for module in (belt_contact, edge_contact):
            patch.setattr(module, "report_contact", report)
        yield seen


def link_mass(row: np.ndarray) -> np.ndarray:
    """The matrix (6, 6) of what contacts add to a link, of its row of numbers."""
    xx, yy, zz, xy, yz, zx = row[:6]
    d, turned = np.array([[xx, xy, zx], [xy, yy, yz], [zx, yz, zz]]), row[6:15].reshape(3, 3)
    xx, yy, zz, xy, yz, zx = row[15:]
    return np.block([[d, turned.T], [turned, np.array([[xx, xy, zx], [xy, yy, yz], [zx, yz, zz]])]])


@pytest.fixture
def interpreted() -> Iterator[None]:
    """Kernels that only kernels call run as plain Python."""
    with uncompiled():
        yield


class BeltOnGround:
    """The first belt of a Quince, pitched and sunk into the ground, on a link with a centre elsewhere."""

    def __init__(self, ground: terrain.Terrain, pitch: float, sinkage: float) -> None:
        vehicle = load_vehicle("quince")
        self.design = belt_designs(vehicle, sum(m.mass for m in vehicle_links(vehicle).masses), False)[0]
        self.belts, self.ground = pack_belts([self.design]), pack_ground([ground])
        self.rotation = Rotation.from_euler("y", pitch).as_matrix()
        lowest = (self.design.points(0.0) @ self.rotation.T)[:, 2].min()
        self.origin = np.array([0.0, 0.0, -lowest - sinkage])
        self.center = self.origin + (0.05, 0.1, 0.2)

        sections, points = len(self.belts.kinds), self.belts.points.shape[1]
        self.memory, self.travel = allocate_belt_memory(sections, points, sections), 0.0

    def push(self, velocity, turning, speed, steps=1, now=True):
        """Loads on link and belt as predicted for the step's end, at velocities that do not change in it.

        And all contacts as of now, or none, for loads with the shear at the step's end.
        """
        sections, points = len(self.belts.kinds), self.belts.points.shape[1]
        report = np.zeros((now * sections * (points + 2 * MAX_EDGES), REPORT))
        room = Room(sections, len(self.ground.bounds), max(len(self.ground.edges), 1), 0)
        written = allocate_contacts(4096)
        of_one = allocate_candidates(1, room, 0, 1, len(self.belts.segments))
        near = Candidates(*(array[0] for array in of_one))
        find_section_candidates(
            self.ground, self.belts, 0, self.origin, self.rotation, self.travel, 0.01, near, self.memory,
            np.zeros((3, 3)),
        )  # fmt: skip
        take_places(self.memory, near.near, near.near_starts[1])
        for _ in range(steps):
            report[:] = 0.0
            clear_contacts(written)
            frame = PartFrame(tuple(self.origin), *map(tuple, self.rotation.T))
            motion = LinkMotion(0, 0, tuple(self.center), velocity, turning, speed, slides=False)
            add_belt_contacts(
                self.ground, self.belts, 0.8, frame, motion, self.travel, near, self.memory, written,
                report, STEP, 0.01, STEP,
            )  # fmt: skip
        loads, still = allocate_loads(1, 1), np.zeros((1, 3))
        add_contact_loads(written, still, still, np.zeros(1), 0, loads, STEP)
        return loads, ContactReport.of(report)


# Belts


@pytest.mark.parametrize("pitch", [0.0, 0.5, -0.6])
@pytest.mark.parametrize(
    ("velocity", "turning", "speed"),
    [
        ((0.0, 0.0, 0.0), (0.0, 0.0, 0.0), 0.3),
        ((0.1, -0.05, 0.02), (0.0, 0.0, 0.0), 0.0),
        ((0.1, -0.05, 0.02), (0.3, -0.2, 0.4), 0.3),
    ],
)
def test_a_belt_takes_the_power_that_its_contacts_have(interpreted, pitch, velocity, turning, speed):
    """Around arcs, too, where a section turns with the belt: its moment pulls the belt along.

    And the mass that contacts add has at link and belt the energy that it has at the contacts.
    """
    belt = BeltOnGround(terrain.Plane(), pitch, sinkage=0.004)
    with recorded() as seen:
        loads, _ = belt.push(velocity, turning, speed)
    assert len(seen) > 3
    velocities, forces, masses = (np.array(part) for part in zip(*seen, strict=True))
    power = np.sum(velocities * forces)
    energy = np.einsum("ni,nij,nj->", velocities, masses, velocities)
    taken = loads.forces[0] @ velocity + loads.torques[0] @ turning + loads.pulls[0] * speed
    assert taken == pytest.approx(power, rel=1e-9)
    own, pull = np.zeros((7, 7)), loads.belt_masses[0]
    own[:6, :6], own[6, :6], own[:6, 6], own[6, 6] = link_mass(loads.masses[0]), pull[:6], pull[:6], pull[6]
    motion = np.array([*velocity, *turning, speed])
    assert motion @ own @ motion == pytest.approx(energy, rel=1e-9)


def test_forces_of_now_are_what_the_last_step_exerted_on_a_belt(interpreted):
    """Of contacts that stick, moved on by a step: the predicted forces, changed by what they add."""
    belt, velocity, speed = BeltOnGround(terrain.Plane(), 0.0, sinkage=2e-5), (4e-5, -3e-5, 3e-5), 4e-5
    first, _ = belt.push((0.0, 0.0, 0.0), (0.0, 0.0, 0.0), 0.0, now=False)
    motion = np.array([*velocity, 0.0, 0.0, 0.0])
    change = link_mass(first.masses[0]) @ motion + speed * first.belt_masses[0][:6]
    given = np.concatenate([first.forces[0], first.torques[0]]) - change / STEP
    for place in (belt.origin, belt.center):
        place += np.array(velocity) * STEP
    belt.travel = speed * STEP
    _, contacts = belt.push(velocity, (0.0, 0.0, 0.0), speed)
    forces = contacts.tangential_forces + contacts.normal_forces[:, None] * (0.0, 0.0, 1.0)
    assert np.linalg.norm(forces.sum(axis=0)[:2]) > 0.05
    np.testing.assert_allclose(forces.sum(axis=0), given[:3], rtol=1e-6)
    np.testing.assert_allclose(contacts.forces, forces, rtol=1e-9, atol=1e-12)


def test_the_moment_of_contacts_is_about_the_centre_of_the_link(interpreted):
    belt = BeltOnGround(terrain.Plane(), 0.3, sinkage=0.004)
    with recorded() as seen:
        loads, contacts = belt.push((0.01, -0.005, 0.0), (0.0, 0.0, 0.0), 0.02)
    forces = np.array([force for _, force, _ in seen])
    assert len(contacts.forces) == len(seen)
    np.testing.assert_allclose(loads.forces[0], forces.sum(axis=0), rtol=1e-9)
    moments = np.cross(contacts.places - belt.center, forces)
    np.testing.assert_allclose(loads.torques[0], moments.sum(axis=0), rtol=1e-9)


@pytest.mark.parametrize("friction", [1.0, 0.3])
def test_points_and_edges_slide_with_the_friction_of_belt_and_ground(interpreted, friction):
    """A ridge so thin that only its edges meet the belt's face, and a plate that only points meet."""
    ridge = terrain.GroundBox(x=0.0, y=0.0, length=0.004, width=1.0, height=0.2)
    for height in (ridge.height, 0.0):
        ground = (
            terrain.Boxes(boxes=(ridge,), friction=friction) if height else terrain.Plane(friction=friction)
        )
        belt = BeltOnGround(ground, 0.0, sinkage=0.002)
        belt.origin[2] += height
        belt.center[2] += height
        _, contacts = belt.push((1.0, 0.0, 0.0), (0.0, 0.0, 0.0), 0.0, steps=30)
        edges = contacts.pressures == 0.0  # Points have a pressure.
        assert edges.any() == bool(height)
        along = np.linalg.norm(contacts.tangential_forces, axis=1)
        assert along == pytest.approx(0.8 * friction * contacts.normal_forces, rel=1e-6)


def test_a_stalled_belt_moves_as_its_contacts_let_it():
    """The drive's force moves its mass, and what contacts add to that, with root and belts together."""
    with segtrack.World(engine="native", time_step=STEP) as world:
        world.add_terrain(terrain.Plane())
        robot = world.add_vehicle("packbot", track_model="compliant")
        world.settle()
        model, state, track = robot.model, robot.model.state, robot.tracks["left"]
        track.scale_drive(0.01)
        track.set_speed(0.3)
        before = np.concatenate([state.velocity[0], state.angular_velocity[0], state.speeds[0]])
        world.step()
        gained = np.concatenate([state.velocity[0], state.angular_velocity[0], state.speeds[0]]) - before
        assert track.force == pytest.approx(0.01 * track.spec.drive.stall_force)
        pull = model._work.loads.belt_masses[0]
        stored = model.tree.spin_momenta[0] * model._work.belt_rotations[0][:, 1]
        row = np.concatenate([pull[:3], pull[3:6] + stored, [model.tree.belt_masses[0] + pull[6], 0.0]])
        # It sticks: what contacts add is far more than the belt.
        assert pull[6] > 3 * model.tree.belt_masses[0]
        assert row @ gained == pytest.approx(STEP * (track.force + model._work.loads.pulls[0]), rel=1e-6)


def test_belts_that_are_dragged_along_brake_with_all_that_their_drives_have():
    """A push beyond what both hold moves vehicle and belts by the rest of it."""
    with segtrack.World(engine="native", time_step=STEP) as world:
        world.add_terrain(terrain.Plane())
        robot = world.add_vehicle("packbot", track_model="compliant")
        world.settle()
        for track in robot.tracks.values():
            track.scale_drive(10.0 / track.spec.drive.stall_force)
        x, y, _ = robot.state.position
        robot.apply_force((50.0, 0.0, 0.0), (x, y, 0.0))
        forces, speeds = [], []
        for _ in range(200):
            world.step()
            forces.append([track.force for track in robot.tracks.values()])
            speeds.append(robot.state.velocity[0])
        # From the step on in which the ground first pulls harder, and until then with what it pulls by.
        assert np.max(forces) < 5.0
        assert np.array(forces[100:]) == pytest.approx(-10.0, rel=1e-6)
        moving = robot.mass + sum(track.spec.moving_mass for track in robot.tracks.values())
        gained = (50.0 - 2 * 10.0) * 100 * STEP / moving
        assert speeds[-1] - speeds[99] == pytest.approx(gained, rel=0.1)


def test_the_force_of_a_chains_drive_in_a_step_is_the_mean_over_its_sub_steps():
    """A step of four sub-steps against four steps of one; afloat, and far below the drive's limit."""
    world, packbot = segtrack.World(engine="native", gravity=0.0), load_vehicle("packbot")
    chain = packbot.chain.model_copy(update={"sub_steps_held": 1})
    robot = world.add_vehicle(packbot.model_copy(update={"chain": chain}), track_model="chain")
    robot.set_belt_speed(0.01, 0.005)
    for track in robot.tracks.values():
        track.scale_drive(100.0)
    model, saved = robot.model, robot.model.save()
    sub_step, forces = 0.999 * min(chain.max_sub_step for chain in model.chains), []
    with uncompiled():
        for i in range(4):
            model.done[0] = 0
            model.advance((0.0, 0.0, 0.0), sub_step, 1, 1.0, i * sub_step)
            forces.append(model.state.forces[0].copy())
        model.restore(saved)
        model.done[0] = 0
        model.advance((0.0, 0.0, 0.0), 4 * sub_step, 1, 1.0, 0.0)
    assert np.ptp(forces, axis=0).min() > 1.0
    np.testing.assert_allclose(model.state.forces[0], np.mean(forces, axis=0), rtol=1e-9)


# Body and flippers


@pytest.fixture
def floating() -> Iterator[tuple[segtrack.World, Robot]]:
    """A Quince without gravity and ground."""
    with segtrack.World(engine="native", gravity=0.0, time_step=STEP) as world:
        yield world, world.add_vehicle("quince")


def test_damping_takes_as_much_of_each_velocity(floating):
    """Of the body's and of each joint's; servos too weak to hold; slow enough for no gyroscopic force."""
    _, robot = floating
    model, state = robot.model, robot.model.state
    model.tree.max_torques[:] = 1e-12
    state.velocity[0], state.angular_velocity[0] = (2e-4, -1e-4, 3e-4), (1e-4, 2e-4, -3e-4)
    state.joint_speeds[0] = (1e-4, -2e-4, 3e-4, -4e-4)
    names = ("velocity", "angular_velocity", "joint_speeds")
    before = {name: getattr(state, name)[0].copy() for name in names}
    model.done[0] = 0
    model.advance((0.0, 0.0, 0.0), STEP, 1, 0.5, 0.0)
    for name in names:
        np.testing.assert_allclose(getattr(state, name)[0], 0.5 * before[name], rtol=1e-3, err_msg=name)


@pytest.mark.parametrize("strong", [True, False])
@pytest.mark.parametrize("side", [0, 1])
def test_a_flipper_meets_its_stop_and_never_passes_it(floating, strong, side):
    """Sent there by its servo, or thrown against it faster than its servo can brake."""
    world, robot = floating
    model, state = robot.model, robot.model.state
    limit = float(model.tree.joint_limits[0, side])
    sign = 1.0 if side else -1.0
    state.joint_angles[0, 0] = limit - sign * 0.01
    if strong:
        robot.set_flipper_speeds(front_left=sign)
    else:
        model.tree.max_torques[:] = 1e-9
        state.joint_speeds[0, 0] = sign * 2.0
    angles = []
    for _ in range(30):
        world.step()
        angles.append(sign * float(state.joint_angles[0, 0]))
    assert max(angles) == pytest.approx(sign * limit, abs=1e-9)


def test_contacts_of_a_body_that_turns_move_as_a_rigid_body_does():
    """Points and the edges of a thin wall under its belly; its frame is not at its centre of mass."""
    packbot = load_vehicle("packbot")
    body = packbot.body.model_copy(update={"size": (0.3, 0.2, 0.1), "center_of_mass": (0.05, -0.03, 0.02)})
    walls = [
        terrain.GroundBox(x=x, y=0.0, length=0.01, width=0.05, height=0.3) for x in (-0.15, -0.06, 0.07, 0.15)
    ]
    with segtrack.World(engine="native", gravity=0.0, time_step=STEP) as world:
        world.add_terrain(terrain.Boxes(boxes=tuple(walls)))
        robot = world.add_vehicle(packbot.model_copy(update={"body": body}), position=(0.0, 0.0, 0.349))
        model, state = robot.model, robot.model.state
        velocity, turning = np.array((0.2, -0.1, -0.3)), np.array((0.5, -0.8, 0.4))
        state.velocity[0], state.angular_velocity[0] = velocity, turning
        contacts = model.read_contacts()
        own = contacts.of_group(len(robot.tracks))
        edges = own.pressures == 0.0  # Points have a pressure.
        assert edges.any()
        expected = velocity + np.cross(turning, own.places - model.body_motion().center)
        np.testing.assert_allclose(own.velocities, expected, atol=1e-12)


def test_a_body_on_edges_and_points_feels_their_forces_and_moments():
    """Walls under a level belly, in its middle its edges alone; its frame is not at its centre of mass.

    At rest, and sheared: forces predicted for the step's end are those of now.
    """
    packbot = load_vehicle("packbot")
    body = packbot.body.model_copy(update={"size": (0.3, 0.2, 0.1), "center_of_mass": (0.05, -0.03, 0.02)})
    for places in ((-0.06,), (-0.15, 0.07)):
        walls = [terrain.GroundBox(x=x, y=0.02, length=0.01, width=0.05, height=0.3) for x in places]
        with segtrack.World(engine="native", gravity=0.0, time_step=STEP) as world:
            world.add_terrain(terrain.Boxes(boxes=tuple(walls)))
            robot = world.add_vehicle(packbot.model_copy(update={"body": body}), position=(0.0, 0.0, 0.349))
            model, history = robot.model, robot.model._history
            start = model.state.copy()
            world.step()
            for now, before in zip(model.state, start, strict=True):
                now[...] = before
            history.shear_displacements[..., 0] = history.edge_shear_displacements[..., 0] = 1e-5
            contacts = model.read_contacts()
            assert len(contacts.forces) > 0
            assert np.abs(contacts.tangential_forces[:, 0]).max() > 0.1
            forces = contacts.tangential_forces + contacts.normal_forces[:, None] * (0.0, 0.0, 1.0)
            moments = np.cross(contacts.places - model.body_motion().center, forces)
            work = model._reading.items[0].work
            still, no_speeds = np.zeros_like(work.changes), np.zeros_like(work.belt_changes)
            loads = allocate_loads(len(still), len(no_speeds))
            with uncompiled():
                add_contact_loads(work.contacts, still, still, no_speeds, 0, loads, STEP)
            np.testing.assert_allclose(loads.forces[0], forces.sum(axis=0), rtol=1e-9, atol=1e-9)
            np.testing.assert_allclose(loads.torques[0], moments.sum(axis=0), rtol=1e-9, atol=1e-9)


def test_flippers_meet_the_ground_as_if_it_were_looked_for_in_each_step():
    """To the bit, though the body, which is bolted down, does not move."""
    quince, angles = load_vehicle("quince"), []
    bolted = quince.model_copy(update={"body": quince.body.model_copy(update={"fixed": True})})
    for always in (False, True):
        with segtrack.World(engine="native", time_step=STEP) as world:
            world.add_terrain(terrain.Plane())
            robot = world.add_vehicle(
                bolted, position=(0.0, 0.0, 0.2), flippers=dict.fromkeys(quince.flippers, 0.1)
            )
            robot.set_flippers(**dict.fromkeys(quince.flippers, -1.0))
            for _ in range(800):
                if always:
                    robot.model.forget_candidates()
                world.step()
            angles.append([flipper.angle for flipper in robot.flippers.values()])
            assert len(robot.tracks["front_left_belt"].read_grousers().points) > 0
    assert angles[0] == angles[1]


def test_a_flipper_that_is_put_elsewhere_is_not_held_by_what_it_held_on_to():
    """Pushed from the side, belts hold on to the ground; a flipper that is put down anew does not yet."""
    with segtrack.World(engine="native", time_step=STEP) as world:
        world.add_terrain(terrain.Plane())
        robot = world.add_vehicle("quince")
        world.settle()
        robot.apply_force((0.0, 60.0, 0.0))
        world.run(0.3)
        belt, flipper = robot.tracks["front_left_belt"], robot.flippers["front_left"]
        held = np.abs(belt.read_grousers().tangential_force[:, 1]).sum()
        flipper.place(flipper.angle)
        reading = belt.read_grousers()
        assert reading.normal_force.sum() > 1.0
        assert np.abs(reading.tangential_force[:, 1]).sum() < 0.1 * held


def box_urdf(folder, lift):
    """A body of one box, whose root lies a height below it (base_footprint) or in its middle."""
    solid = f'<origin xyz="0 0 {lift}"/><geometry><box size="0.5 0.2 0.1"/></geometry>'
    text = (
        '<robot name="body"><link name="base_footprint"><inertial>'
        f'<origin xyz="0 0 {lift}"/><mass value="20"/>'
        '<inertia ixx="0.2" iyy="0.4" izz="0.5" ixy="0" ixz="0" iyz="0"/></inertial>'
        f"<visual>{solid}</visual><collision>{solid}</collision></link></robot>"
    )
    path = folder / f"body_{lift}.urdf"
    path.write_text(text)
    return path


def test_points_of_a_hull_share_a_closed_surface():
    """Areas times normals sum up to nothing, and a third of what passes through them of x is the volume."""
    from segtrack.native.layout import hull_arrays

    for name in bundled_vehicles():
        vehicle = load_vehicle(name)
        hull, shapes = hull_arrays(vehicle, 1.0), [shape for _, shape in vehicle.body.contact_shapes()]
        volume = sum(ConvexHull(shape.corners()).volume for shape in shapes)
        assert hull.areas.sum(axis=0) == pytest.approx([0.0, 0.0, 0.0], abs=1e-12)
        assert (hull.points * hull.areas).sum() / 3 == pytest.approx(volume, rel=1e-9)


@pytest.mark.parametrize("size", [(0.6, 0.5, 0.1), (0.3, 0.5, 0.3), (0.2, 0.2, 0.6), (0.9, 0.3, 0.3)])
def test_a_belly_sinks_into_soil_by_its_weight_over_its_area(tmp_path, size):
    """In linear soil z = W / (k A), whatever else is on the body: a small box out of reach of the ground."""
    limbs = [
        Limb("mast", kind="fixed", mass=1.0, xyz=(0.0, 0.0, 0.5), collision=(0.1, 0.1, 0.02)),
        Limb("skid", kind="fixed", mass=20.0, xyz=(0.0, 0.0, -0.4), collision=size),
    ]
    with segtrack.World(engine="native") as world:
        world.add_terrain(terrain.Plane(soil=terrain.Soil.linear(1e6, 0.0, 0.5, 100.0)))
        robot = world.add_vehicle(jointed(tmp_path, limbs, {}))
        assert world.settle(1e-5).converged
        sinkage = robot.mass * GRAVITY / (1e6 * size[0] * size[1])
        assert robot.bounds()[0][2] == pytest.approx(-sinkage, rel=1e-5)


@pytest.mark.parametrize("lift", [0.0, 0.03, 0.3, -0.3])
def test_a_belly_is_as_stiff_wherever_the_root_of_its_urdf_lies(tmp_path, lift):
    from segtrack.native.layout import hull_arrays

    packbot = load_vehicle("packbot")

    def law(path):
        body = packbot.body.model_copy(update={"urdf": path, "size": None})
        return hull_arrays(packbot.model_copy(update={"body": body}), 20.0).law

    assert law(box_urdf(tmp_path, lift)) == pytest.approx(law(box_urdf(tmp_path, -0.05)))
    assert math.isfinite(law(box_urdf(tmp_path, lift)).stiffness)


def test_track_frames_of_chains_move_with_the_link_that_turns():
    world = segtrack.World(engine="native", gravity=0.0)
    robot = world.add_vehicle("packbot", track_model="chain", position=(0.0, 0.0, 1.0))
    model, state = robot.model, robot.model.state
    velocity, turning = np.array((0.2, -0.1, -0.3)), np.array((0.5, -0.8, 0.4))
    state.velocity[0], state.angular_velocity[0] = velocity, turning
    model.place_links()
    for t, chain in enumerate(model.chains):
        with uncompiled():
            mounts = model.arrays.mounts
            chain_step._place_parents(chain.arrays, model.tree, model._work, mounts, int(mounts.starts[t]))
        parents = chain.arrays.parents
        lever = model._work.belt_origins[t] - model.body_motion().center
        moving = velocity + np.cross(turning, lever)
        assert np.linalg.norm(moving - velocity) > 0.05
        for own in range(len(parents.positions)):
            np.testing.assert_allclose(parents.positions[own], model._work.belt_origins[t], atol=1e-15)
            np.testing.assert_allclose(
                parents.velocities[own], velocity + np.cross(turning, lever), atol=1e-12
            )
            np.testing.assert_allclose(parents.angular_velocities_world[own], turning, atol=1e-15)
    world.close()
