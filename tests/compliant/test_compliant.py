"""Belts whose grousers touch the ground by themselves: geometry, and one belt against closed forms."""

import math
from itertools import pairwise

import numpy as np
import pytest
from quick import some_of
from scenes import tilted_world, vary
from tables import each_row

import segtrack
from segtrack import terrain
from segtrack.compliant import bar_section, face_section, hull_section, pack_belts, rod_section
from segtrack.compliant.belt import place_on_path, section_pose
from segtrack.description import REST_DEPTH, ContactSpec, belt_designs, load_vehicle, vehicle_links
from segtrack.geometry import normal_of, tangent_of
from segtrack.ground import (
    Grouser,
    Tread,
    allocate_contact_history,
    contact_parameters,
    pack_ground,
    touch_point,
)

VEHICLES = sorted(segtrack.bundled_vehicles())
DRIVING = [name for name in VEHICLES if name != "conveyor"]


def designs(name, smooth=False):
    vehicle = load_vehicle(name)
    mass = sum(link.mass for link in vehicle_links(vehicle).masses)
    return belt_designs(vehicle, mass, smooth)


# Geometry


@each_row("name", VEHICLES)
def test_a_section_is_where_the_path_is(name):
    belts = designs(name)
    arrays = pack_belts(belts)
    rng = np.random.default_rng(0)
    for t, belt in enumerate(belts):
        for at in rng.uniform(-2, 3, 50) * belt.path.perimeter:
            x, z, cosine, sine, curvature = section_pose(arrays, t, at)
            np.testing.assert_allclose((x, z), belt.path.point(at)[0], atol=1e-12)
            heading = belt.path.heading(at)[0]
            np.testing.assert_allclose((cosine, sine), (math.cos(heading), math.sin(heading)), atol=1e-12)
            segment = belt.path.segments[belt.path.segment_of(at)]
            assert curvature == pytest.approx(segment.turn / segment.length)


@each_row("name", VEHICLES)
def test_a_belts_angular_momentum_is_that_of_its_pieces(name):
    """The integral of r x t along the path, by small chords."""
    for belt in designs(name):
        along = np.linspace(0, belt.path.perimeter, 20001)
        middles = (along[1:] + along[:-1]) / 2
        points, tangents = belt.path.point(middles), tangent_of(belt.path.heading(middles))
        about_y = points[:, 1] * tangents[:, 0] - points[:, 0] * tangents[:, 1]
        # The drive's reflected mass has none of it: its rotor does not run around the path.
        assert belt.spin_momentum == pytest.approx(belt.belt_mass * about_y.mean(), rel=1e-3)


@each_row("name", VEHICLES)
@each_row("smooth", [False, True])
def test_sections_cover_the_belt_once(name, smooth):
    for belt in designs(name, smooth):
        grousers = np.array(
            [len(belt.sections[k].points) > 3 or belt.sections[k].points[0, 2] > 0 for k in belt.kinds]
        )
        faces = belt.lengths[~grousers].sum()
        assert faces == pytest.approx(belt.path.perimeter)
        assert belt.riding == (not smooth)
        if grousers.any():
            assert belt.lengths[grousers].sum() == pytest.approx(belt.path.perimeter)
            homes = np.sort(belt.coordinates[grousers] % belt.path.perimeter)
            assert np.ptp(np.diff(homes)) < 1e-9


def test_uniform_pressure_on_a_face_has_its_true_moments():
    """Force, and second moments about the middle: width^2 / 12 across."""
    section = bar_section(0.018, 0.005, 0.016, 0.17)
    assert section.weights.sum() == pytest.approx(1.0)
    assert section.weights @ section.points[:, 1] ** 2 == pytest.approx(0.17**2 / 12)
    assert section.areas.sum() == pytest.approx(0.005 * 0.17)
    assert np.abs(section.points[:, 1]).max() == 0.085  # It stands to its corners, and tips over there.


def test_pieces_hold_the_points_that_belong_to_them():
    """Points lie on the surface of a convex piece, whose planes look outwards."""
    hull = [(x, y, z) for x in (-0.01, 0.01) for y in (-0.03, 0.03) for z in (0.0, 0.02)]
    for section in (
        bar_section(0.018, 0.005, 0.016, 0.17),
        rod_section(0.01, 0.1),
        face_section(0.01, 0.015, 0.02, 0.1, 0.01),
        hull_section(hull),
    ):
        planes = section.pieces[0]
        np.testing.assert_allclose(np.linalg.norm(planes[:, :3], axis=1), 1.0)
        heights = section.points @ planes[:, :3].T - planes[:, 3]
        assert heights.max() < 1e-9
        np.testing.assert_allclose(heights.max(axis=1), 0.0, atol=1e-9)


def test_the_pieces_of_a_mesh_are_those_of_the_bar_that_it_shows():
    bar = bar_section(0.018, 0.018, 0.016, 0.06)
    corners = [(x, y, z) for x in (-0.009, 0.009) for y in (-0.03, 0.03) for z in (0.0, 0.016)]
    mesh = hull_section(corners)

    def order(faces):
        return sorted(map(tuple, np.round(faces, 9) + 0.0))

    assert order(mesh.pieces[0]) == order(bar.pieces[0])


# Standing


def resting(name, **given):
    world = segtrack.World(engine="native")
    world.add_terrain(terrain.Plane())
    robot = world.add_vehicle(name, **given)
    assert world.settle().converged
    world.run(0.2)
    return world, robot


@each_row("name", DRIVING)
def test_a_vehicle_at_rest_weighs_what_its_contacts_carry(name):
    _, robot = resting(name)
    contacts = robot.model.read_contacts()
    weight = robot.mass * 9.81
    assert contacts.normal_forces.sum() == pytest.approx(weight, rel=2e-3)
    # Forces balance, and moments about the centre of mass.
    bodies = robot.model.bodies()
    center = bodies.masses @ bodies.positions / bodies.masses.sum()
    forces = contacts.tangential_forces + contacts.normal_forces[:, None] * (0, 0, 1)
    assert np.abs(forces.sum(axis=0) - (0, 0, weight)).max() < 4e-3 * weight
    size = np.ptp(contacts.places[:, 0])
    moment = np.cross(contacts.places - center, forces).sum(axis=0)
    assert np.abs(moment).max() < 4e-3 * weight * max(size, 0.1)


def test_quince_sinks_in_by_the_rest_depth_on_its_ground_lines():
    _, robot = resting("quince", flippers=dict.fromkeys(load_vehicle("quince").flippers, 1.0))
    readings = [robot.tracks[side].read_grousers() for side in ("left", "right")]
    share = sum(reading.normal_force.sum() for reading in readings) / (robot.mass * 9.81)
    assert 0.8 < share < 1.0  # Flippers' pulleys carry the rest.
    # Each grouser stands for a pitch of the line with six points; at the ends three of them touch.
    spec = robot.tracks["left"].spec
    for reading in readings:
        covered = len(reading.sinkage) / 6 * spec.pitch / spec.ground_length
        assert reading.sinkage.mean() == pytest.approx(share * REST_DEPTH / covered, rel=0.02)


def test_readings_at_rest_add_up_and_do_not_slip():
    world, robot = resting("packbot")
    world.run(0.2)
    total = 0.0
    for track in robot.tracks.values():
        reading = track.read_grousers()
        assert reading.load.sum() == pytest.approx(reading.normal_force.sum())
        assert np.count_nonzero(reading.load) in (13, 14)
        assert np.abs(reading.slip_velocity).max() < 1e-6
        total += reading.normal_force.sum()
        with pytest.raises(ValueError, match="read-only"):
            reading.normal_force[0] = 0.0
    assert total == pytest.approx(robot.mass * 9.81, rel=1e-4)


@pytest.mark.parametrize("name", ["packbot", "quince"])
def test_forces_of_a_reading_carry_a_vehicle_that_stands_askew_on_a_slope(name):
    world = segtrack.World(engine="native")
    world.add_terrain(terrain.Ramp(distance=-3.0, slope=math.radians(15), length=8.0, width=8.0))
    robot = world.add_vehicle(name, position=(1.0, 0.0), yaw=math.radians(45))
    assert world.settle().converged
    world.run(0.3)
    forces = np.concatenate([track.read_grousers().force for track in robot.tracks.values()])
    weight = robot.mass * 9.81
    np.testing.assert_allclose(forces.sum(axis=0), (0.0, 0.0, weight), rtol=1e-6, atol=1e-6 * weight)


def test_readings_of_a_vehicle_that_bounces_are_finite():
    """Also of contacts that come apart in the next step: they have the force of now."""
    world, robot = resting("packbot")
    x, y, z = robot.state.position
    robot.reset_base_pose((x, y, z + 0.3), (0.0, 0.05, 0.0, 1.0))
    counts = set()
    for _ in range(600):
        world.run(0.001)
        for track in robot.tracks.values():
            reading = track.read_grousers()
            assert np.isfinite(reading.force).all()
            normal = reading.force - reading.tangential_force
            assert np.linalg.norm(normal, axis=1) == pytest.approx(reading.normal_force)
            assert (normal[:, 2] > 0).all()
            counts.add(len(normal))
    assert 0 in counts and len(counts) > 10


def test_a_reading_tells_grousers_from_faces_by_how_far_they_stand_out():
    """A belt pressed in deep, at every place of its first grousers: points off its path are on grousers."""
    world = segtrack.World(engine="native", gravity=0.0)
    world.add_terrain(terrain.Plane())
    robot = world.add_vehicle("packbot")
    x, y, z = robot.state.position
    robot.reset_base_pose((x, y, z - 0.03), (0.0, 0.0, 0.0, 1.0))
    track, seen = robot.tracks["left"], set()
    path, tall = track.spec.belt_path, track.spec.grousers.height
    outline = np.insert(path.point(np.linspace(0.0, path.perimeter, 1500)), 1, 0.0, axis=1)
    for travel in path.perimeter * np.arange(12) / 12:
        robot.model.state.travels[0, 0] = travel
        reading, frame = track.read_grousers(), track.parent_motion()
        placed = (frame.position + outline @ frame.rotation.T)[:, [0, 2]]
        apart = np.linalg.norm(reading.points[:, None, [0, 2]] - placed, axis=2).min(axis=1)
        assert ((reading.grousers >= 0) == (apart > tall / 2)).all()
        seen |= set(reading.grousers.tolist())
    assert seen == set(range(-1, reading.grouser_count))


def test_reading_changes_nothing():
    runs = []
    for read in (False, True):
        world, robot = resting("quince")
        robot.set_belt_speed(0.1, -0.2)
        for _ in range(20):
            world.run(0.02)
            if read:
                robot.tracks["left"].read_grousers()
        runs.append(robot.state)
    assert runs[0] == runs[1]


# Friction


@pytest.mark.parametrize("side", [False, True])
def test_a_vehicle_slides_where_its_friction_across_or_along_says(side):
    """Held belts on a slope that rises ahead or to the left: it slides beyond atan of that friction."""
    vehicle = vary("packbot", contact={"friction": 0.6, "lateral_friction": 0.45})
    limit = math.degrees(math.atan(0.45 if side else 0.6))
    for slope, slides in ((limit - 1.0, False), (limit + 1.0, True)):
        world, robot = tilted_world(vehicle, slope, sideways=side)
        before = np.array(robot.state.position)
        world.run(1.0)
        moved = np.linalg.norm(np.array(robot.state.position) - before)
        assert (moved > 0.02) == slides
        assert slides or moved < 1e-4  # It holds, and does not creep.


def test_friction_across_has_no_effect_along_and_helps_to_turn():
    rates, ways = [], []
    for lateral in (None, 0.36):
        vehicle = vary("packbot", contact={"friction": 0.6, "lateral_friction": lateral})
        world, robot = resting(vehicle)
        robot.set_belt_speed(0.2, 0.2)
        world.run(1.0)
        ways.append(robot.state.position[0])
        robot.set_belt_speed(-0.2, 0.2)
        world.run(0.5)
        yaw = robot.state.yaw
        world.run(1.0)
        rates.append(robot.state.yaw - yaw)
    assert ways[0] == pytest.approx(ways[1], rel=1e-3)
    assert rates[1] > 1.05 * rates[0]


def test_friction_across_needs_friction_along():
    with pytest.raises(ValueError, match="must have friction above 0 with lateral_friction"):
        ContactSpec(friction=0.0, lateral_friction=0.5)
    assert ContactSpec(friction=0.6, lateral_friction=0.45).lateral_ratio == pytest.approx(0.75)
    assert ContactSpec(friction=0.6).lateral_ratio == 1.0


# Edges


def boxes(*places):
    """Small boxes of one height: x, y, length, width [m]."""
    return terrain.Boxes(
        boxes=tuple(
            terrain.GroundBox(x=x, y=y, length=length, width=width, height=0.05)
            for x, y, length, width in places
        )
    )


@pytest.mark.parametrize(
    "places",
    [
        [(0.0, 0.0, 0.03, 0.7)],  # A wall across, thinner than the gap between two grousers.
        [(0.0, y, 0.9, 0.01) for y in (-0.2225, 0.2225)],  # Rails along the tracks, narrower than these.
        [(0.0, y, 0.9, 0.1) for y in (-0.27, 0.27)],  # Kerbs under the tracks' outer edges.
        [(x, y, 0.006, 0.006) for x in (-0.2, 0.2) for y in (-0.21, 0.22)],  # Four posts.
    ],
    ids=["wall", "rails", "kerbs", "posts"],
)
def test_packbot_stands_on_what_is_thinner_than_its_grousers(places):
    world = segtrack.World(engine="native")
    world.add_terrain(boxes(*places))
    robot = world.add_vehicle("packbot", position=(0.003, 0.0))
    world.settle(max_time=20.0)
    contacts = robot.model.read_contacts()
    assert contacts.normal_forces[contacts.places[:, 2] > 0.03].sum() > 0.5 * robot.mass * 9.81
    assert robot.state.position[2] > 0.05 + 0.08 - 0.005  # Belts' faces, or tips, are on top.
    assert np.linalg.norm(robot.state.velocity) < 1e-3


@pytest.mark.parametrize("height", [0.05, 0.12])
def test_a_track_drives_against_a_kerb_beside_it_and_stays_outside(height):
    """A robot that comes to a long wall at an angle is turned along it, or climbs it, and is never in it.

    A wall that is lower than the pulleys' axles has their grousers over it, which come down on it.
    """
    wall = terrain.GroundBox(x=2.0, y=0.5, length=6.0, width=0.2, height=height)
    world = segtrack.World(engine="native")
    world.add_terrain(terrain.Boxes(boxes=(wall,)))
    robot = world.add_vehicle("packbot", position=(0.0, 0.0), yaw=math.radians(10))
    robot.set_belt_speed(0.3, 0.3)
    deepest = 0.0
    for _ in range(40):
        world.run(0.1)
        robot.model.place_links()
        points = robot.model._outer_points()
        inside = np.minimum(points[:, 1] - 0.4, height - points[:, 2])
        deepest = max(deepest, float(inside.max()))
    assert deepest < 2e-3
    assert robot.state.position[0] > 0.8
    assert (robot.bounds()[1][1] < 0.4 + 2e-3) == (height > 0.1)


def test_a_grousers_flank_hooks_on_an_edge():
    """Friction alone holds nothing here: a smooth step edge between two grousers carries the pull."""
    vehicle = vary("packbot", contact={"friction": 0.0})
    world = segtrack.World(engine="native")
    world.add_terrain(
        terrain.Boxes(boxes=(terrain.GroundBox(x=0, y=0, length=0.028, width=2, height=0.006),))
    )
    robot = world.add_vehicle(vehicle)
    world.settle()
    start = robot.state.position[0]
    robot.apply_force((-20.0, 0.0, 0.0), robot.state.position)
    world.run(1.0)
    assert abs(robot.state.position[0] - start) < 0.04  # Within one pitch: a flank came to the edge.
    smooth = segtrack.World(engine="native")
    smooth.add_terrain(terrain.Plane())
    free = smooth.add_vehicle(vehicle)
    smooth.settle()
    free.apply_force((-20.0, 0.0, 0.0), free.state.position)
    smooth.run(1.0)
    assert free.state.position[0] < -0.3


# Soil


@pytest.mark.parametrize("soil", ["LETE sand", "dry sand", "heavy clay 40%"])
def test_a_grouser_in_soil_is_as_hard_to_press_in_and_to_drag_as_a_shoes(soil):
    """The same bar as a belt's section and as a chain's shoe, pressed in by 4 mm and dragged by 30 mm."""
    kind = terrain.find_soil(soil)
    ground = pack_ground([terrain.Plane(soil=kind)])
    base, top, height, width, depth = 0.018, 0.005, 0.016, 0.17, 0.004
    tread = Tread(0.04, width, 0.0, 0.01, Grouser(height, base, top))
    section = bar_section(base, top, height, width)
    shoe = (tread.contact_points[-4:], tread.areas[-4:], tread.sides[-4:], np.full(4, 0.25))
    pulls = []
    for face in ((section.points, section.areas, section.sides, section.weights), shoe):
        history, force = allocate_contact_history(len(face[0]), 1), np.zeros(3)
        for _ in range(300):
            force[:] = 0.0
            for p, (place, area, side, weight) in enumerate(zip(*face, strict=True)):
                point = (place[0], place[1], -depth + (height - place[2]))
                force += touch_point(
                    ground,
                    contact_parameters(0.6, 4e6, 0.0, 4e6),
                    history,
                    p,
                    np.array([0]),
                    1,
                    point,
                    (1.0, 0.0, 0.0),
                    (0.0, 1.0, 0.0),
                    area,
                    side,
                    weight,
                    1e-4,
                )[0]
        pulls.append(force)
    np.testing.assert_allclose(pulls[0], pulls[1], rtol=0.02, atol=1e-9)
    expected = (kind.cohesive_modulus / top + kind.frictional_modulus) * depth**kind.sinkage_exponent
    assert pulls[0][2] == pytest.approx(expected * top * width, rel=0.02)
    strength = kind.cohesion + expected * math.tan(kind.friction_angle)
    sheared = 1 - math.exp(-0.03 / kind.shear_deformation_modulus)
    assert -pulls[0][0] == pytest.approx(strength * sheared * top * width, rel=0.02)


# Driving


@pytest.mark.parametrize("name", some_of(DRIVING, "quince", "trapezoidal"))
@pytest.mark.parametrize("track_model", ["compliant", "surface"])
def test_the_way_is_what_the_belts_travel(name, track_model):
    world = segtrack.World(engine="native")
    world.add_terrain(terrain.Plane())
    robot = world.add_vehicle(name, track_model=track_model)
    world.settle()
    speed = 0.5 * min(track.spec.drive.top_speed for track in robot.tracks.values())
    speed = min(speed, 0.3)
    robot.set_belt_speed(speed, speed)
    world.run(0.5)
    start, travels = robot.state.position[0], {n: t.travel for n, t in robot.tracks.items()}
    heights = []
    world.run(2.0, on_step=lambda: heights.append(robot.state.position[2]))
    way = robot.state.position[0] - start
    travel = np.mean([track.travel - travels[n] for n, track in robot.tracks.items()])
    if name == "lugged_wheel" and track_model == "compliant":
        # A wheel with lugs rolls on the polygon of their tips, which is higher than its rim.
        assert 1.0 < way / travel < 1.25
    else:
        assert way / travel == pytest.approx(1.0, abs=5e-3)
        # An oval belt's grousers keep it level; a smooth belt has nothing to bob on.
        assert np.ptp(heights[500:]) < (1e-4 if track_model == "surface" else 4e-3)


def test_a_belt_looks_the_same_after_a_pitch():
    """A robot whose belts have travelled by one pitch stands as before, to rounding."""
    states = []
    for pitches in (0, 1, 40):
        world, robot = resting("packbot")
        pitch = robot.tracks["left"].spec.pitch
        robot.model.state.travels[:] += pitches * pitch
        robot.model.forget_contacts()
        world.settle()
        states.append(robot.state.position)
    for one, other in pairwise(states):
        np.testing.assert_allclose(one, other, atol=2e-6)


def test_points_at_tips_go_around_an_arc_with_the_belt():
    """A raised track that spins freely moves no contact; its tips' speed is (1 + h / r) times the belt's."""
    belt = designs("quince")[0]
    arrays = pack_belts(designs("quince"))
    height, step = 0.016, 1e-6
    arc = next(i for i, s in enumerate(belt.path.segments) if s.turn != 0)
    at = float(belt.path.starts[arc] + belt.path.segments[arc].length / 3)
    tips = []
    for coordinate in (at, at + step):
        x, z, cosine, sine, curvature = section_pose(arrays, 0, coordinate)
        tips.append(np.array((x, z)) + height * normal_of(math.atan2(sine, cosine)))
    speed = np.linalg.norm(tips[1] - tips[0]) / step
    assert speed == pytest.approx(1 + height * curvature, rel=1e-5)


@pytest.mark.parametrize("name", ["quince", "triangular", "maxxii"])
@pytest.mark.parametrize("smooth", [False, True])
def test_boxes_of_segments_hold_all_that_is_on_them(name, smooth):
    """What is culled with its segment of the path is nowhere else, at any travel."""
    belts_of = designs(name, smooth)
    belts = pack_belts(belts_of)
    assert len(belts.segment_boxes) == len(belts.segments)
    for t, design in enumerate(belts_of):
        first, last = belts.section_starts[t : t + 2]
        for travel in np.linspace(0.0, design.path.perimeter, 7) * design.riding:
            for part in range(first, last):
                at = belts.coordinates[part] + travel
                x, z, cosine, sine, _ = section_pose.py_func(belts, t, at)
                box = belts.boxes[belts.kinds[part]]
                corners = box[:3] + box[3:] * np.array(np.meshgrid(*[(-1, 1)] * 3)).reshape(3, -1).T
                own = np.stack(
                    [
                        x + cosine * corners[:, 0] + sine * corners[:, 2],
                        corners[:, 1],
                        z - sine * corners[:, 0] + cosine * corners[:, 2],
                    ],
                    axis=1,
                )
                around = belts.segment_boxes[place_on_path.py_func(belts, t, at)[0]]
                assert (np.abs(own - around[:3]) <= around[3:] + 1e-9).all()
