"""Which belts segments can carry on flat ground: those whose straight links never run into it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from quick import some_of
from tables import each_row
from typer.testing import CliRunner

import segtrack
from segtrack import terrain
from segtrack.bullet import loader
from segtrack.cli.app import app
from segtrack.description import (
    VehicleDescription,
    bundled_vehicles,
    load_vehicle,
    parse_vehicle,
    segments_dip,
    segments_problems,
)
from segtrack.errors import VehicleFileError
from segtrack.files import write_text

BOX = {"box": {"length": 0.006, "height": 0.008}}
BAR = {"trapezoid": {"base": 0.012, "top": 0.005, "height": 0.008}}
ROD = {"cylinder": {"radius": 0.006}}
PATHS = {
    "triangle": [(-0.20, 0, 0.05), (0.12, 0, 0.05), (0.22, 0.14, 0.05)],
    "trapezoid": [(-0.15, 0, 0.05), (0.15, 0, 0.05), (0.28, 0.08, 0.05), (-0.28, 0.08, 0.05)],
    "oval": [(-0.2, 0, 0.05), (0.2, 0, 0.05)],
    "taper": [(-0.2, 0, 0.07), (0.2, 0, 0.04)],
}
SPEED = 0.3


def content(path: str, count: int, pattern: list[dict[str, Any]]) -> dict[str, Any]:
    """The content of the file of a vehicle with two tracks of a path."""
    track = {
        "path": {"pulleys": [{"x": x, "z": z, "radius": radius} for x, z, radius in PATHS[path]]},
        "width": 0.07,
        "belt": {"mass": 1.0, "thickness": 0.008},
        "grousers": {"count": count, "pattern": pattern},
        "drive": {"max_force": 150.0, "max_speed": 1.2},
    }
    sides = {"left": 0.165, "right": -0.165}
    return {
        "name": path,
        "source": "made up",
        "body": {"mass": 8.0, "size": [0.3, 0.24, 0.04]},
        "tracks": {name: {**track, "mount": {"xyz": [0, y, 0]}} for name, y in sides.items()},
    }


def vehicle_of(path: str, count: int, pattern: list[dict[str, Any]]) -> VehicleDescription:
    return parse_vehicle(content(path, count, pattern))


def drive(vehicle: VehicleDescription, track_model: str) -> tuple[float, float]:
    """Distance over belt travel, and by how much the body rises and falls [m], over 1.5 s on the flat."""
    preset = "fast" if track_model == "segments" else None
    engine = "pybullet" if track_model == "segments" else "native"
    with segtrack.World(preset, engine=engine) as world:
        world.add_terrain(terrain.Plane())
        robot = world.add_vehicle(vehicle, track_model=track_model)
        robot.set_belt_speed(SPEED, SPEED)
        world.run(0.8)
        start, travel, heights = robot.state.position[0], robot.tracks["left"].travel, []
        for _ in range(75):
            world.run(0.02)
            heights.append(robot.state.position[2])
        way = robot.state.position[0] - start
        return way / (robot.tracks["left"].travel - travel), float(np.ptp(heights))


@each_row("name", bundled_vehicles())
def test_every_bundled_vehicle_can_be_built_of_segments(name: str) -> None:
    assert segments_problems(load_vehicle(name)) == []


@pytest.mark.parametrize("path", some_of(["triangle", "trapezoid"], "triangle"))
@pytest.mark.parametrize("shapes", [1, 2])
def test_the_coarsest_belt_that_segments_may_carry_drives_exactly(path: str, shapes: int) -> None:
    pattern = [BOX, BAR] if shapes == 2 else [BOX, BOX]
    counts = range(12, 72, 6)
    allowed = [not segments_problems(vehicle_of(path, count, pattern)) for count in counts]
    first = allowed.index(True)
    assert first > 0
    ratio, bob = drive(vehicle_of(path, counts[first], pattern), "segments")
    assert ratio == pytest.approx(1.0, abs=0.01)
    assert bob < 0.0005


@pytest.mark.parametrize(("path", "count"), [("oval", 30), ("taper", 24)])
def test_patterns_on_half_circles_drive_exactly(path: str, count: int) -> None:
    ratio, bob = drive(vehicle_of(path, count, [BOX, BAR, ROD]), "segments")
    assert ratio == pytest.approx(1.0, abs=0.01)
    assert bob < 0.0005


def test_a_belt_that_segments_cannot_carry_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    vehicle = vehicle_of("triangle", 42, [BOX, BAR, ROD])
    with segtrack.World(engine="pybullet") as world, pytest.raises(VehicleFileError) as refusal:
        world.add_vehicle(vehicle, track_model="segments")
    first, second = str(refusal.value).splitlines()
    assert first == (
        "triangle with tracks of segments: tracks.left.grousers must not let straight segments run into the "
        "ground, got 7.4 mm with a belt that repeats every 89.2 mm: take more grousers, fewer shapes in "
        "pattern or larger pulleys, or another track model"
    )
    assert "tracks.right.grousers" in second
    ratio, bob = drive(vehicle, "compliant")
    assert ratio == pytest.approx(1.0, abs=0.01)
    assert bob < 0.001
    monkeypatch.setattr(loader, "segments_problems", lambda vehicle: [])
    ratio, bob = drive(vehicle, "segments")
    assert ratio < 0.95 and bob > 0.003


def test_equal_shapes_in_a_pattern_repeat_after_one_pitch() -> None:
    alike = vehicle_of("triangle", 42, [BOX, BOX, BOX]).tracks["left"]
    assert alike.period == pytest.approx(alike.pitch)
    in_pairs = vehicle_of("triangle", 44, [BOX, BAR, BOX, BAR]).tracks["left"]
    assert in_pairs.period == pytest.approx(2 * in_pairs.pitch)


def test_validate_and_draw_say_which_belts_segments_cannot_carry(tmp_path: Any) -> None:
    import yaml

    from segtrack.report import draw_vehicle

    file = write_text(tmp_path / "it.yaml", yaml.safe_dump(content("triangle", 42, [BOX, BAR, ROD])))
    done = CliRunner().invoke(app, ["validate", str(file)])
    assert done.exit_code == 0
    said = " ".join(done.stderr.split())
    assert "triangle: valid, 2 tracks" in said
    assert "triangle: not for track model segments: tracks.left.grousers must not let" in said
    figure = draw_vehicle(load_vehicle(file), 10.0)
    labels = [axes.get_xlabel() for axes in figure.axes]
    assert any("not for track model segments: they would run 7.4 mm into the ground" in x for x in labels)


def test_validate_says_which_chains_cannot_be_built() -> None:
    done = CliRunner().invoke(app, ["validate", "lugged_wheel"])
    assert done.exit_code == 0
    said = " ".join(done.stderr.split())
    assert "lugged_wheel: not for track model chain: path of front_left, a chain must be around two" in said
    assert "not for track model chain" not in CliRunner().invoke(app, ["validate", "quince"]).stderr


def test_road_wheels_of_the_vehicles_chain_count_as_those_of_its_tracks() -> None:
    """The belt runs around a wheel that reaches out of its pulleys, wherever the file says so."""
    plain = content("triangle", 42, [BOX, BAR, ROD])
    chain = {"chain": {"road_wheels": [{"x": 0.0, "z": -0.08, "radius": 0.05}]}}
    by_track = plain | {"tracks": {name: track | chain for name, track in plain["tracks"].items()}}
    found = [segments_problems(parse_vehicle(each)) for each in (by_track, plain | chain, plain)]
    assert found[0] == found[1] != found[2] != []


def test_dip_of_a_smooth_belt_is_none() -> None:
    assert segments_dip(load_vehicle("conveyor").tracks["belt"]) == 0.0
