"""What an engineer looks at of compliant belts: readings of grousers, their history, table and picture."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import pytest
from scipy.spatial.transform import Rotation
from typer.testing import CliRunner

import segtrack
from segtrack import terrain
from segtrack.cli.app import app
from segtrack.description import Frame, place_tracks
from segtrack.experiments import GROUSER_COLUMNS, ClimbSetup, GrouserRecorder, run_climb
from segtrack.files import write_csv
from segtrack.geometry import normal_of
from segtrack.report import draw_grousers
from segtrack.report.grouser_figure import belt_loads

GRAVITY = 9.81


@pytest.fixture(scope="module")
def at_rest():
    """A Quince that stands on flat ground, and a recorder that has seen it once."""
    with segtrack.World(engine="native") as world:
        world.add_terrain(terrain.Plane())
        robot = world.add_vehicle("quince")
        world.settle()
        recorder = GrouserRecorder()
        recorder.sample(world.time, robot)
        return robot, recorder.history()


@pytest.fixture(scope="module")
def climb():
    """A short climb of a PackBot, and what was written down of its grousers."""
    recorder = GrouserRecorder(max_rows=2000)
    result = run_climb(
        ClimbSetup("packbot", step=0.05, speed=0.5, track_model="compliant"),
        observer=lambda now: recorder.sample(now.time, now.robot),
    )
    return result, recorder.history()


def test_loads_at_rest_add_up_to_the_weight(at_rest):
    robot, history = at_rest
    carried = sum(history.track_loads(name)[0] for name in robot.tracks)
    assert carried == pytest.approx(robot.mass * GRAVITY, rel=1e-3)
    rows = [dict(zip(GROUSER_COLUMNS, row, strict=True)) for row in history.rows()]
    assert sum(float(row["normal_force_N"]) for row in rows) == pytest.approx(carried, rel=1e-4)


def test_loads_along_a_belt_keep_force_and_moment_of_its_contacts(at_rest):
    robot, history = at_rest
    state = robot.state
    assert state.pitch == pytest.approx(0.0, abs=0.01)
    for placed in place_tracks(robot.description, {}):
        reading = history.readings[placed.mounted.name][0]
        # The body is level and unturned: its frame in the world is a shift.
        frame = Frame(np.eye(3), np.array(state.position)) @ placed.frame
        loads = belt_loads(placed.mounted, frame, reading)
        assert loads.normal_forces.sum() == pytest.approx(reading.normal_force.sum())
        assert loads.normal_forces @ loads.points[:, 0] == pytest.approx(
            reading.normal_force @ reading.points[:, 0]
        )
        assert loads.traction.sum() == pytest.approx(reading.tangential_force[:, 0].sum(), abs=0.05)


def test_a_grouser_is_found_where_the_belts_travel_has_taken_it(climb):
    """Coordinates by nearest place of the path, against home coordinates plus travel."""
    result, history = climb
    trajectory = result.trajectory
    track = next(result.vehicle.mounted_tracks())
    readings = history.readings[track.name]
    sample = int(np.argmax([len(reading.normal_force) for reading in readings]))
    index, reading = int(np.argmin(np.abs(trajectory.times - history.time[sample]))), readings[sample]
    turn = Rotation.from_quat(trajectory["orientation"][index]).as_matrix()
    mount = place_tracks(result.vehicle, {})[0].frame
    frame = Frame(turn, trajectory["position"][index]) @ mount
    loads = belt_loads(track, frame, reading)
    touching = np.unique(reading.grousers[reading.grousers >= 0])
    homes = np.array([footprint.coordinate for footprint in track.spec.footprints()])[touching]
    path = track.spec.belt_path
    expected = np.mod(homes + trajectory[f"track_travel.{track.name}"][index], path.perimeter)
    off = loads.coordinates[: len(touching)] - expected
    off -= path.perimeter * np.round(off / path.perimeter)
    half_tip = max(shape.kind.extent[1] for shape in track.spec.grousers.shapes)
    assert len(touching) > 3
    assert np.all(np.abs(off) < half_tip + 0.002)
    normals = normal_of(path.heading(loads.coordinates))
    np.testing.assert_allclose((loads.outwards @ frame.rotation)[:, [0, 2]], normals, atol=1e-9)


def test_samples_are_thinned_evenly_to_what_there_is_room_for(climb):
    result, history = climb
    rows = list(history.rows())
    assert 1000 <= len(rows) <= 2000
    gaps = np.diff(history.time)
    np.testing.assert_allclose(gaps, gaps[0], rtol=1e-9)
    assert gaps[0] > 0.03  # Every second sample at most was kept.
    assert history.time[-1] > result.duration - gaps[0] - 1e-9


def test_friction_obeys_coulomb_at_every_contact(climb):
    """Where a grouser is in two surfaces, each has a limit of its own; the sums obey theirs, too."""
    result, history = climb
    friction = next(result.vehicle.mounted_tracks()).spec.contact.friction
    for readings in history.readings.values():
        for reading in readings:
            along = np.linalg.norm(reading.tangential_force, axis=1)
            assert np.all(along <= friction * reading.normal_force * (1 + 1e-9))


def test_the_table_has_a_row_for_each_contact(climb, tmp_path: Path):
    _, history = climb
    write_csv(tmp_path / "grousers.csv", GROUSER_COLUMNS, history.rows())
    with (tmp_path / "grousers.csv").open() as file:
        rows = list(csv.DictReader(file))
    contacts = sum(len(reading.normal_force) for many in history.readings.values() for reading in many)
    assert list(rows[0]) == list(GROUSER_COLUMNS)
    assert len(rows) == contacts
    assert {row["track"] for row in rows} == set(history.readings)
    assert all(float(row["normal_force_N"]) > 0 and float(row["sinkage_m"]) > 0 for row in rows)


def test_no_sample_is_no_history():
    assert GrouserRecorder().history() is None


@pytest.mark.parametrize("track_model", ["compliant", pytest.param("surface", marks=pytest.mark.slow)])
def test_climb_writes_table_and_picture(track_model, tmp_path: Path):
    command = ["climb", "packbot", "--step", "0.02", "--speed", "1", "--track-model", track_model]
    done = CliRunner().invoke(app, [*command, "--out", str(tmp_path)])
    assert done.exit_code == 0, done.output
    names = {path.name for path in tmp_path.iterdir()}
    assert names == {"climb.png", "grousers.csv", "grousers.png", "summary.json", "trajectory.csv"}
    assert (tmp_path / "grousers.png").read_bytes().startswith(b"\x89PNG")
    with (tmp_path / "grousers.csv").open() as file:
        grousers = {int(row["grouser"]) for row in csv.DictReader(file)}
    assert (max(grousers) >= 0) == (track_model == "compliant")


def test_the_picture_shows_one_side_at_two_instants(climb):
    figure = draw_grousers(*climb)
    labels = [axes.get_ylabel() for axes in figure.axes]
    assert labels == [
        "z [m]",
        "right\nforce [N]",
        "z [m]",
        "right\nforce [N]",
        "normal force on a track [N]",
        "largest on one grouser [N]",
    ]
    assert "half of its rise" in figure.axes[0].get_title()
    assert "largest pitch" in figure.axes[2].get_title()
