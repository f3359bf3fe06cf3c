"""What an engineer looks at of a link chain: readings, their history, its table and its pictures."""

from __future__ import annotations

import csv
import dataclasses
import json
from pathlib import Path

import numpy as np
import pytest
from matplotlib.collections import PolyCollection
from typer.testing import CliRunner

import segtrack.bullet.belts.chains
import segtrack.cli.climb
from segtrack.chain import ChainReading, advance_tracks
from segtrack.cli.app import app
from segtrack.errors import DivergedError, NotReadyError
from segtrack.experiments import CHAIN_COLUMNS, ChainRecorder, ClimbInterrupted, ClimbSetup, run_climb
from segtrack.files import write_csv
from segtrack.rendering import Camera
from segtrack.report import draw_chains, draw_climb
from segtrack.report.chain_view import shoe_outlines, wheel_outlines
from segtrack.terrain import Plane
from segtrack.world import World

SETUP = ClimbSetup(vehicle="packbot", step=0.05, speed=1.0, track_model="chain")
STOP = 0.5
"""The climb is interrupted here [s]."""


def stop(progress):
    if progress.time >= STOP - 1e-9:
        raise KeyboardInterrupt


@pytest.fixture(scope="module")
def climb():
    """A climb that ends with Ctrl-C on the way to its step."""
    with pytest.raises(ClimbInterrupted) as caught:
        run_climb(SETUP, observer=stop)
    return caught.value.result


@pytest.fixture(scope="module")
def at_rest():
    """Readings of a robot that stands, what its ground bears and its weight, and what its chains are."""
    with World() as world:
        world.add_terrain(Plane())
        robot = world.add_vehicle("packbot", track_model="chain")
        world.run(0.9)
        borne = []
        for _ in range(10):
            world.run(0.01)
            readings = {name: track.read_chain() for name, track in robot.tracks.items()}
            borne.append(sum(reading.ground_force.sum() for reading in readings.values()))
        designs = {name: track.chain_design for name, track in robot.tracks.items()}
        return readings, (np.mean(borne), robot.mass * 9.81), designs


def test_ground_carries_the_weight(at_rest):
    _, (borne, weight), _ = at_rest
    assert borne == pytest.approx(weight, rel=0.02)


def test_wheels_carry_what_is_not_chain(at_rest):
    """What the chains exert on their wheels bears the body."""
    readings, (_, weight), designs = at_rest
    forces = sum(reading.wheel_forces.sum(axis=0) for reading in readings.values())
    chains = sum(design.chain.count * design.chain.shoe.mass for design in designs.values())
    np.testing.assert_allclose(forces, [0.0, 0.0, weight - 9.81 * chains], atol=0.02 * weight)


def test_tension_at_rest_is_half_of_what_the_tensioner_pushes(at_rest):
    readings, _, designs = at_rest
    for name, reading in readings.items():
        (tensioner,) = [w.tensioner for w in designs[name].running_gear.wheels if w.tensioner is not None]
        upper = reading.positions[:, 2] > reading.positions[:, 2].max() - 0.002
        assert np.mean(reading.tension[upper]) == pytest.approx(tensioner.preload / 2, rel=0.05)
        assert np.all(np.abs(reading.tension) <= reading.pin_force * (1 + 1e-12))


def test_pressure_is_force_over_plate_and_only_what_touches_is_pressed_or_slips(at_rest):
    readings, _, designs = at_rest
    for name, reading in readings.items():
        (tread,) = designs[name].treads
        np.testing.assert_allclose(reading.pressure * tread.length * tread.width, reading.ground_force)
        touching = reading.ground_force > 0
        assert 8 < touching.sum() < len(touching) / 2
        assert np.all(reading.sinkage[touching] > 0)
        assert np.all(reading.slip_velocity[~touching] == 0)
        assert np.abs(reading.slip_velocity).max() < 2e-3


def test_readings_change_nothing_and_are_read_only():
    def state(look):
        with World("fast") as world:
            world.add_terrain(Plane())
            robot = world.add_vehicle("packbot", track_model="chain")
            robot.drive(0.5, 0.2)
            bodies = world.client.getNumBodies()
            for _ in range(10):
                world.step()
                if look:
                    one, two = (robot.tracks["left"].read_chain() for _ in range(2))
                    for field in dataclasses.fields(ChainReading):
                        np.testing.assert_array_equal(getattr(one, field.name), getattr(two, field.name))
                    Camera(robot, size=(64, 64)).take()
            assert world.client.getNumBodies() == bodies
            world.save()
            return robot.state, robot.model.tracks[0].belt.chain.state.positions.tobytes()

    assert state(True) == state(False)


def test_a_belt_faster_than_its_vehicle_slips_along_its_shoes_and_its_drive_has_the_accounted_power():
    with World() as world:
        world.add_terrain(Plane(friction=0.02))
        robot = world.add_vehicle("packbot", track_model="chain")
        world.run(0.3)
        robot.set_belt_speed(1.0, 1.0)
        world.run(0.3)
        track = robot.tracks["left"]
        reading = track.read_chain()
        world.step()
        slipping, power = track.speed - track.ground_speed, track.power
    on_ground = reading.ground_force > 0
    slip = np.average(reading.slip_velocity[on_ground, 0], weights=reading.ground_force[on_ground])
    assert slip == pytest.approx(slipping, rel=0.1)
    assert reading.drive_torque * reading.drive_speed == pytest.approx(power, rel=0.01, abs=0.01)


def test_tracks_that_are_no_chains_have_no_readings():
    with World() as world:
        track = world.add_vehicle("packbot").tracks["left"]
        for ask in (track.read_chain, lambda: track.chain_design):
            with pytest.raises(NotReadyError) as caught:
                ask()
            assert str(caught.value) == (
                "cannot read the chain of left: only the track model 'chain' has one"
            )


def test_history_is_one_table_with_units(climb, tmp_path: Path):
    path = write_csv(tmp_path / "chain.csv", CHAIN_COLUMNS, climb.chains.rows())
    with path.open() as file:
        rows = list(csv.DictReader(file))
    assert tuple(rows[0]) == CHAIN_COLUMNS
    assert len(rows) == len(climb.chains.time) * 2 * 40
    assert float(rows[-1]["time_s"]) == STOP
    reading, row = climb.chains.readings["right"][-1], rows[-1]
    assert (row["track"], row["shoe"]) == ("right", "39")
    assert float(row["tension_N"]) == pytest.approx(reading.tension[-1], rel=1e-5)
    assert float(row["slip_m_s"]) == pytest.approx(reading.slip_velocity[-1, 0], rel=1e-5)
    assert float(row["idler_slide_m"]) == pytest.approx(reading.idler_slide, rel=1e-5)


def test_chains_are_sampled_seldom_enough_for_a_table_of_some_megabytes(monkeypatch):
    monkeypatch.setattr("segtrack.experiments.track_histories.CHAIN_ROWS", 800)
    with World("fast") as world:
        robot = world.add_vehicle("packbot", track_model="chain", position=(0, 0, 1.0))
        recorder = ChainRecorder(robot, 0.02, 0.4)
        for i in range(20):
            recorder.sample(0.02 * i)
    np.testing.assert_allclose(recorder.history().time, 0.04 * np.arange(10))


def test_outlines_are_where_shoes_and_wheels_are(climb):
    history = climb.chains
    design, reading = history.designs["left"], history.readings["left"][0]
    plates, grousers = shoe_outlines(design, reading)
    assert len(plates) == len(grousers) == design.chain.count
    np.testing.assert_allclose([p.mean(axis=0) for p in plates], reading.positions[:, [0, 2]], atol=1e-9)
    assert min(g[:, 1].min() for g in grousers) == pytest.approx(1e-3, abs=1e-4)  # Just over the ground.
    circles = wheel_outlines(design, reading)
    axles = np.array([(wheel.x, wheel.z) for wheel in design.running_gear.wheels])
    axles[[w.tensioner is not None for w in design.running_gear.wheels], 0] += reading.idler_slide
    middles = np.array([(c.min(axis=0) + c.max(axis=0)) / 2 for c in circles])
    np.testing.assert_allclose(middles - middles[0], axles - axles[0], atol=1e-9)


def polygons(axes):
    return sum(len(c.get_paths()) for c in axes.collections if isinstance(c, PolyCollection))


def test_pictures_have_as_many_polygons_as_shoes(climb):
    design = climb.chains.designs["left"]
    each = 2 * design.chain.count + len(design.running_gear.wheels)
    views = [axes for axes in draw_chains(climb).axes if axes.get_xlabel() == "x [m]"]
    assert [polygons(axes) for axes in views] == [each + 1] * 2  # The ground.
    assert polygons(draw_climb(climb).axes[0]) == 2 * each + 2  # Two tracks, the body and the ground.


def test_a_chain_that_comes_off_leaves_what_was_written_down(tmp_path: Path, monkeypatch):
    def lose(tracks, *given):
        done = advance_tracks(tracks, *given)
        time = tracks[0].state.time
        if time > 0.1105:
            raise DivergedError("shoe 7", time, "the chain has come off its wheels")
        return done

    monkeypatch.setattr(segtrack.bullet.belts.chains, "advance_tracks", lose)
    monkeypatch.setattr(segtrack.cli.climb, "write_figure", lambda path, _: path)
    arguments = ["climb", "packbot", "--track-model", "chain", "--out", str(tmp_path)]
    done = CliRunner().invoke(app, [*arguments, "--json"])
    assert done.exit_code == 2
    assert "segtrack: simulation diverged: shoe 7 at t = 0.1110 s: the chain has come" in done.stderr
    assert json.loads((tmp_path / "summary.json").read_text())["outcome"] == "diverged"
    assert (tmp_path / "trajectory.csv").read_text().count("\n") == 1 + 6
    # Of a drive that may take longer, every other sample.
    assert (tmp_path / "chain.csv").read_text().count("\n") == 1 + 3 * 80
