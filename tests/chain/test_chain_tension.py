"""Pretension is that of a chain at rest, built or settled on the ground, in both engines; data of wheels."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from chain_vehicles import CHAIN, parsed
from jointed_vehicles import Limb, urdf_text
from scipy.spatial.transform import Rotation

import segtrack
from segtrack import terrain
from segtrack.chain import DriveCommand, TrackChain, advance_tracks, kinetic_energy, tension_tracks
from segtrack.description.chain import track_design
from segtrack.engine import EngineName
from segtrack.ground import KINEMATIC, ParentFrames
from segtrack.reproduce.chain_speed import chain_vehicle
from segtrack.robot import Robot, Track

ENGINES = ["native", pytest.param("pybullet", marks=pytest.mark.pybullet)]


def tension_of_runs(track: Track) -> float:
    """Mean tension of joints that are straight, within a degree, between shoes that bear nothing [N]."""
    reading = track.read_chain()
    along = Rotation.from_quat(reading.orientations).apply((1, 0, 0))
    straight = np.einsum("ij,ij->i", along, np.roll(along, 1, axis=0)) > np.cos(np.radians(1))
    free = (reading.ground_force == 0) & (np.roll(reading.ground_force, 1) == 0)
    assert (straight & free).sum() >= 4
    return float(reading.tension[straight & free].mean())


def pretension_of(track: Track) -> float:
    given = track.spec.chain.tensioner.pretension
    return 0.2 * track.spec.drive.stall_force if given is None else given


def tracks_of(robot: Robot) -> dict[str, Track]:
    """All tracks, those of flippers included."""
    return dict(robot.tracks)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(
    "vehicle",
    [
        "packbot",
        *(
            pytest.param(name, marks=pytest.mark.slow)
            for name in ("quince", "maxxii", "bulldozer", "conveyor", "example_rover", "okada_example")
            + ("tapered", "triangular", "trapezoidal")
        ),
    ],
)
def test_a_chain_that_was_built_has_its_pretension(vehicle: str, engine: EngineName) -> None:
    """Without weight and ground, on every track of every vehicle, whatever its wrap."""
    with segtrack.World(engine=engine, gravity=0.0) as world:
        robot = world.add_vehicle(vehicle, track_model="chain", position=(0, 0, 1))
        for track in tracks_of(robot).values():
            assert tension_of_runs(track) == pytest.approx(pretension_of(track), rel=0.02)


@pytest.mark.slow
def test_runs_pull_an_idler_by_equal_moments_and_teeth_take_the_rest() -> None:
    """The bulldozer as built, 24 kN: 23.7 and 24.3 kN in its runs, and 0.91 of it in the mean of all joints.

    An idler turns freely, so that its runs' tensions are as 1 to the distances of their lines from its axle,
    which differ since shoes lie on it as a polygon. Around the sprocket each tooth takes a part of the
    tension, down to a fifth in the middle. So a mean over all joints says less than the runs have.
    """
    with segtrack.World(engine="native", gravity=0.0) as world:
        track = world.add_vehicle("bulldozer", track_model="chain", position=(0, 0, 1)).tracks["left"]
        reading, built = track.read_chain(), tension_of_runs(track)
    axle = reading.wheels[np.argmax(reading.wheels[:, 0])]
    along = Rotation.from_quat(reading.orientations).apply((1, 0, 0))
    away = axle - reading.positions
    distances = np.abs(away[:, 0] * along[:, 2] - away[:, 2] * along[:, 0])
    upper, lower = (np.argmin(np.abs(away[:, 0] - 0.6) + (side * away[:, 2] > 0)) for side in (1, -1))
    moments = reading.tension[[upper, lower]] * distances[[upper, lower]]
    assert moments[0] == pytest.approx(moments[1], rel=0.005)
    assert built == pytest.approx(24e3, rel=0.005)
    assert 0.88 * built < reading.tension.mean() < 0.94 * built


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("vehicle", ["packbot", pytest.param("bulldozer", marks=pytest.mark.slow)])
def test_a_vehicle_that_settles_on_the_ground_has_its_pretension_there(
    vehicle: str, engine: EngineName
) -> None:
    with segtrack.World(engine=engine) as world:
        world.add_terrain(terrain.Plane())
        robot = world.add_vehicle(vehicle, track_model="chain")
        assert world.settle().converged
        settled = {name: tension_of_runs(track) for name, track in tracks_of(robot).items()}
        for name, track in tracks_of(robot).items():
            assert settled[name] == pytest.approx(pretension_of(track), rel=0.02)
        saved = world.save()
        world.run(0.05)
        after = [track.read_chain().tension for track in tracks_of(robot).values()]
        world.restore(saved)
        world.run(0.05)
        again = [track.read_chain().tension for track in tracks_of(robot).values()]
        np.testing.assert_array_equal(after, again)


@pytest.mark.parametrize("stiffness", [5e3, 1e6])
def test_the_springs_stiffness_takes_nothing_of_the_pretension(stiffness: float) -> None:
    """Nor does a stretching chain, or shoes that bend."""
    tensioner = {"pretension": 80.0, "stiffness": stiffness}
    bushing = {"bending_stiffness": 0.5, "bending_damping": 0.01}
    vehicle = parsed("packbot", (CHAIN, {"tensioner": tensioner, "bushing": bushing}))
    with segtrack.World(engine="native", gravity=0.0) as world:
        robot = world.add_vehicle(vehicle, track_model="chain", position=(0, 0, 1))
        assert tension_of_runs(robot.tracks["left"]) == pytest.approx(80.0, rel=0.02)


@pytest.mark.slow
def test_a_heavy_vehicle_settles_with_its_pretension() -> None:
    """2 x 63 shoes of 8.55 kg, whose weight makes the upper run sag."""
    with segtrack.World(engine="native", time_step=1e-3) as world:
        world.add_terrain(terrain.Plane())
        robot = world.add_vehicle(chain_vehicle("m113_like"), track_model="chain")
        assert world.settle().converged
        for track in robot.tracks.values():
            assert tension_of_runs(track) == pytest.approx(pretension_of(track), rel=0.02)


def test_a_drive_works_against_the_inertias_of_all_wheels() -> None:
    """Force times way is the energy of shoes and wheels, but for what bushings and contacts damp."""
    given = {
        "sprocket": {"inertia": 4e-2},
        "idler": {"inertia": 2e-2},
        "even_rollers": {"inertia": 1e-5},
        "tensioner": {"pretension": 60.0},
    }
    (mounted, *_) = parsed("packbot", (CHAIN, given)).mounted_tracks()
    design = track_design(mounted.name, mounted.spec)
    still = ParentFrames(np.zeros((1, 3)), np.eye(3)[None], *np.zeros((2, 1, 3)))
    chain = TrackChain(design, still)
    tension_tracks([chain])
    chain.assemble(still)
    force = 30.0
    for _ in range(300):
        advance_tracks([chain], [still], [DriveCommand(10.0, force)], KINEMATIC, 1e-3)
    shoes = kinetic_energy(design.chain, chain.state)
    inertias = [wheel.inertia for wheel in design.running_gear.wheels]
    turning = float(inertias @ chain.wheels.speeds**2) / 2
    assert turning > shoes / 2
    assert shoes + turning == pytest.approx(force * chain.travel, rel=0.02)


def test_a_chain_that_ran_and_is_tensioned_anew_begins_its_travel_anew() -> None:
    """And keeps what it runs from then on when it is put elsewhere."""
    (mounted, *_) = parsed("packbot").mounted_tracks()
    still = ParentFrames(np.zeros((1, 3)), np.eye(3)[None], *np.zeros((2, 1, 3)))
    chain = TrackChain(track_design(mounted.name, mounted.spec), still)
    for _ in range(2):
        tension_tracks([chain])
        assert chain.travel == pytest.approx(0.0, abs=1e-3)
        for _ in range(100):
            advance_tracks([chain], [still], [DriveCommand(0.5, 30.0)], KINEMATIC, 1e-3)
        ran = chain.travel
        assert ran > 0.02
        chain.assemble(still)
        assert chain.travel == pytest.approx(ran, abs=1e-12)


def test_a_chain_has_its_pretension_however_many_links_its_robot_has(tmp_path: Path) -> None:
    """Twelve links that could touch something, and nothing near them."""
    limbs = [Limb(f"arm{n}", xyz=(0.0, 0.0, 0.3), collision=(0.02, 0.02, 0.02)) for n in range(12)]
    (tmp_path / "many.urdf").write_text(urdf_text(limbs))
    vehicle = parsed("packbot", (("body",), {"urdf": str(tmp_path / "many.urdf")}))
    with segtrack.World(engine="native", gravity=0.0) as world:
        robot = world.add_vehicle(vehicle, track_model="chain", position=(0, 0, 1))
        for track in tracks_of(robot).values():
            assert tension_of_runs(track) == pytest.approx(pretension_of(track), rel=0.02)
