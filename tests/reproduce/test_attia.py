"""`segtrack reproduce attia`: the vehicle with double A-arms in two implementations, and by statics."""

from __future__ import annotations

from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest

import segtrack
from segtrack import terrain
from segtrack.reproduce.attia import native_model, run, vehicle
from segtrack.reproduce.attia.command import TIME_STEPS
from segtrack.reproduce.attia.native_model import native_vehicle
from segtrack.reproduce.attia.particle_model import ParticleVehicle


class Unattended:
    """A session that shows nothing."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.done = folder, 0

    @contextmanager
    def counting(self, what: str, total: int):  # type: ignore[no-untyped-def]
        self.total = total
        yield self._count

    def _count(self) -> None:
        self.done += 1


def test_both_models_are_the_papers_913_kg() -> None:
    assert vehicle.total_mass() == 913.0
    assert sum(body.mass for body in ParticleVehicle().system.bodies) == 913.0
    with native_vehicle() as description:
        assert description.body.total_mass == 913.0


def test_loads_at_rest_bear_the_weight_and_keep_it_from_tipping() -> None:
    """Forces and moments about the chassis' centre of mass, arms level."""
    front, rear = vehicle.rest()
    assert 2 * (front.load + rear.load) == pytest.approx(913.0 * 9.81, rel=1e-12)
    middle = vehicle.REAR.x + vehicle.REAR.arm / 2
    weights = 9.81 * 2 * (26.0 * vehicle.FRONT.x + 30.0 * vehicle.REAR.x + 0.5 * middle)
    assert 2 * (front.load * vehicle.FRONT.x + rear.load * vehicle.REAR.x) == pytest.approx(
        weights, rel=1e-12
    )


def test_rest_by_statics_is_an_equilibrium_of_the_native_engine() -> None:
    """Put there, nothing accelerates: 1e-6 of weight."""
    with native_vehicle() as description, segtrack.World(engine="native", time_step=1e-3) as world:
        world.add_terrain(terrain.Plane())
        robot = world.add_vehicle(description, position=(0, 0, vehicle.REST_HEIGHT), track_model="compliant")
        for name in ("front_left", "front_right", "rear_left", "rear_right"):
            robot.joints[f"{name}_arm"].place(0.0)
            robot.joints[f"{name}_wheel"].place(0.0)
        world.step()
        assert np.abs(robot.bodies().velocities).max() < 1e-6 * 9.81 * world.time_step
        world.run(0.1)
        assert robot.state.position[2] == pytest.approx(vehicle.REST_HEIGHT, abs=1e-9)


def test_the_tyres_just_touch_the_ground_at_release() -> None:
    with native_vehicle() as description, segtrack.World(engine="native") as world:
        height = vehicle.REST_HEIGHT + vehicle.RELEASE
        robot = world.add_vehicle(description, position=(0, 0, height), track_model="compliant")
        for end in ("front_left", "front_right", "rear_left", "rear_right"):
            frame = robot.link_frame(f"{end}_wheel_link")
            assert frame.origin[2] == pytest.approx(vehicle.TYRE_RADIUS, abs=1e-12)
            np.testing.assert_allclose(frame.rotation, np.eye(3), atol=1e-12)
    built = ParticleVehicle()
    now = built.system.look(built.system.start, np.zeros_like(built.system.start))
    assert [now.place(corner.hub)[2] for corner in built.corners] == pytest.approx([vehicle.TYRE_RADIUS] * 4)
    assert np.abs(built.system.gaps(now)).max() < 1e-14


@pytest.mark.slow
def test_both_implementations_fall_alike_onto_the_rest_of_statics(tmp_path: Path) -> None:
    """What is left falls with the step, and is gone where steps are extrapolated to none."""
    session = Unattended(tmp_path)
    outcome = run(session)  # type: ignore[arg-type]
    assert session.done == session.total == 1 + len(TIME_STEPS)
    summary = outcome.summary
    statics = summary["rest"]["statics"]
    for name in ("particles", "native, 1 ms"):
        reading = summary["rest"][name]
        assert reading["height"] == pytest.approx(statics["height"], abs=1e-7)
        assert reading["pitch"] == pytest.approx(0.0, abs=1e-7)
        for load in ("front_load", "rear_load", "front_strut", "rear_strut"):
            assert reading[load] == pytest.approx(statics[load], rel=1e-6)
    differences = [row["height"] for row in summary["largest_difference"].values()]
    fall = vehicle.RELEASE + 1e-3 * summary["motion"]["particles"]["lowest below rest [mm]"]
    assert differences[1] < 2e-3 * fall
    for longer, shorter in zip(differences, differences[1:], strict=False):
        assert shorter < 0.55 * longer
    assert differences[-1] < 2e-5 * fall
    assert {path.name for path in outcome.write(tmp_path)} == {"attia.json", "attia.csv", "attia.png"}


@pytest.mark.slow
def test_loops_stay_closed_and_wheels_unsteered() -> None:
    """The sixteenth degree of freedom of the paper, steering, is free and is not excited."""
    built = ParticleVehicle()
    start = built.system.start
    path = built.system.integrate(start, np.zeros_like(start), np.linspace(0.0, 0.5, 6), built.loads)
    for now in path:
        assert np.abs(built.system.gaps(now)).max() < 1e-12
        for corner in built.corners:
            axle = now.places[corner.hub.body, 1] - now.places[corner.hub.body, 0]
            assert np.abs(axle[[0, 2]]).max() < 1e-12


def test_both_models_are_let_go_in_the_same_state() -> None:
    (native,) = native_model.release([0.0], 0.001)
    built = ParticleVehicle()
    particles = built.read(built.system.look(built.system.start, np.zeros_like(built.system.start)))
    np.testing.assert_allclose(native, particles, rtol=1e-12, atol=1e-9)
    front, _ = vehicle.rest()
    pushed = vehicle.STRUT_STIFFNESS * vehicle.FRONT.lever * front.start_angle
    assert native.front_strut == pytest.approx(front.strut + pushed, rel=1e-12)
