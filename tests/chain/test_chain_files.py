"""Link chains of vehicle files: what stands for a belt, and what is refused, whole messages."""

from __future__ import annotations

import math

import pytest
import yaml
from chain_vehicles import CHAIN, parsed
from description.test_bad_input import LEFT, changed
from native_vehicles import SPRUNG
from quick import some_of
from tables import each_row

import segtrack
from segtrack import terrain
from segtrack.description import VehicleDescription, bundled_vehicles, load_vehicle
from segtrack.description.chain import check_chains, track_design
from segtrack.engine import DEFAULT_ENGINE, EngineName
from segtrack.errors import InvalidValueError, SegtrackError, VehicleFileError

pytestmark = pytest.mark.pybullet


def designs(vehicle: VehicleDescription):
    """The chains of all tracks by name."""
    return {mounted.name: track_design(mounted.name, mounted.spec) for mounted in vehicle.mounted_tracks()}


def test_a_tracks_own_chain_goes_before_its_vehicles(tmp_path) -> None:
    data = changed(
        "packbot",
        (("chain",), {"shoes": {"count": 38, "mass": 0.06}}),
        ((*LEFT, "chain"), {"shoes": {"count": 42}}),
    )
    file = tmp_path / "own.yaml"
    file.write_text(yaml.safe_dump(data))
    found = designs(load_vehicle(file))
    assert found["left"].chain.count == 42
    assert found["right"].chain.count == 38
    assert found["right"].chain.shoe.mass == 0.06
    assert found["left"].chain.shoe.mass == pytest.approx(2.0 / 42)


CHAINED = [name for name in bundled_vehicles() if name != "lugged_wheel"]


@pytest.mark.parametrize("vehicle", some_of(CHAINED, "packbot", "maxxii"))
def test_a_chain_stands_for_its_belt(vehicle: str) -> None:
    """As many shoes as grousers, as heavy together as the belt, as long as the belt at the pins' depth."""
    description = load_vehicle(vehicle)
    for mounted, design in zip(description.mounted_tracks(), designs(description).values(), strict=True):
        part, chain = mounted.spec, design.chain
        if part.grousers is not None and part.chain.shoes.count is None:
            assert chain.count == part.grousers.count
        assert chain.count * chain.shoe.mass == pytest.approx(part.belt.mass)
        depth = part.belt.thickness / 2 - chain.shoe.bushing_position[2]
        inner = part.belt_path.perimeter - 2 * math.pi * depth
        assert chain.count * chain.shoe.pitch == pytest.approx(inner, rel=0.01)


@pytest.mark.parametrize(
    "vehicle",
    some_of(
        [n for n in CHAINED if len(list(load_vehicle(n).mounted_tracks())) == 2 and n not in SPRUNG],
        "packbot",
        "triangular",
    ),
)
def test_a_vehicle_is_as_heavy_with_chains_as_with_segments_and_stands_on_them(vehicle: str) -> None:
    masses = []
    for track_model in ("segments", "chain"):
        with segtrack.World() as world:
            world.add_terrain(terrain.Plane())
            robot = world.add_vehicle(vehicle, track_model=track_model)
            masses.append(robot.mass)
            height = robot.state.position[2]
            world.run(0.05)
            assert robot.state.position[2] == pytest.approx(height, abs=0.02)
    assert masses[1] == pytest.approx(masses[0], rel=1e-9)


@each_row(
    "changes, message",
    [
        (
            [(CHAIN, {"colour": "red"})],
            "chain.colour is not a key that segtrack knows; there are: shoes, bushing, driven, tensioned, "
            "sprocket, drum, idler, tensioner, even_rollers, road_wheels, suspension, shoe_contact, "
            "sub_step, sub_steps_held",
        ),
        (
            [((*LEFT, "chain"), {"shoes": {"colour": 1}})],
            "tracks.left.chain.shoes.colour is not a key that segtrack knows; there are: count, pitch, mass, "
            "inertia, thickness",
        ),
        ([(CHAIN, {"shoes": {"count": 2}})], "chain.shoes.count must be at least 3, got 2"),
        ([(CHAIN, {"shoes": {"count": 30.5}})], "chain.shoes.count must be a whole number, got 30.5"),
        ([(CHAIN, {"shoes": {"mass": -1}})], "chain.shoes.mass must be greater than 0, got -1"),
        ([(CHAIN, {"sprocket": {"teeth": 4}})], "chain.sprocket.teeth must be at least 5, got 4"),
        (
            [(CHAIN, {"idler": {"mass": -1}, "bushing": {"bending_stiffness": -2}})],
            "chain.bushing.bending_stiffness must be at least 0, got -2\n"
            "own.yaml: chain.idler.mass must be greater than 0, got -1",
        ),
        ([(CHAIN, {"idler": {"inertia": 0}})], "chain.idler.inertia must be greater than 0, got 0"),
        (
            [(CHAIN, {"even_rollers": {"contact_stiffness": 0}})],
            "chain.even_rollers.contact_stiffness must be greater than 0, got 0",
        ),
        ([(CHAIN, {"sprocket": {"friction": "x"}})], "chain.sprocket.friction must be a number, got 'x'"),
        ([(CHAIN, {"sub_step": 0})], "chain.sub_step must be greater than 0, got 0"),
        ([(CHAIN, {"sprocket": {}, "drum": {}})], "chain.sprocket must be left out where drum is given"),
        ([(CHAIN, {"road_wheels": [], "even_rollers": {}})],
         "chain.even_rollers must be left out where road_wheels is given"),
    ],
)  # fmt: skip
def test_mistakes_in_a_file_are_refused(changes, message: str) -> None:
    with pytest.raises(VehicleFileError) as error:
        parsed("packbot", *changes)
    assert str(error.value) == f"own.yaml: {message}"


def wheel(x: float, z: float, radius: float) -> dict[str, float]:
    """A road wheel in a file."""
    return {"x": x, "z": z, "radius": radius}


@each_row(
    "chain, key, complaint",
    [
        (
            {"shoes": {"count": 10}},
            "chain.shoes.count", "at least 16, for 5 to fit around its smallest pulley, got 10",
        ),
        (
            {"shoes": {"count": 30, "pitch": 0.04}},
            "chain.shoes.count", "37 or 38, which close around its wheels with a pitch of 0.04 m, got 30",
        ),
        (
            {"shoes": {"pitch": 5.0}},
            "chain.shoes.pitch", "at most 0.0964 m, for 5 to fit around its smallest pulley, got 5.0",
        ),
        (
            {"sprocket": {"teeth": 12}},
            "chain.sprocket.teeth", "13, for a pitch of 0.03779 m on a pulley of 0.082 m, got 12",
        ),
        (
            {"road_wheels": [wheel(0, -0.05, 0.015), wheel(0.01, -0.05, 0.015)]},
            "chain.road_wheels[1]", "apart from chain.road_wheels[0], got an overlap of 0.026 m",
        ),
        (
            {"road_wheels": [wheel(-0.2, 0, 0.015)]},
            "chain.road_wheels[0]", "apart from the driven wheel, got an overlap of 0.0358 m",
        ),
        (
            {"sub_step": 1e-3},
            "chain.sub_step", "above 0 and at most 7.21e-05 s, for its stiffness and damping, got 0.001",
        ),
        (
            {"shoes": {"thickness": 0.5}},
            "chain.shoes.thickness", "at most 0.0738 m, for a wheel to fit inside its tightest bend, got 0.5",
        ),
        (
            {"even_rollers": {"spacing": 1e-4}},
            "chain.even_rollers.spacing", "at least 0.00945 m, a quarter of the pitch, got 0.0001",
        ),
        (
            {"bushing": {"stiffness": 1e12}},
            "chain", "soft and heavy enough for sub-steps of at least 1e-06 s, got one that needs 7.29e-08 s",
        ),
    ],
)  # fmt: skip
def test_chains_that_cannot_be_built_are_refused(chain, key: str, complaint: str) -> None:
    vehicle = parsed("packbot", (CHAIN, chain))
    with segtrack.World() as world:
        with pytest.raises(InvalidValueError) as error:
            world.add_vehicle(vehicle, track_model="chain")
        assert str(error.value) == f"{key} of left must be {complaint}"
        assert world.client.getNumBodies() == 0


@pytest.mark.parametrize("count", [37, 38])
def test_numbers_of_shoes_that_are_asked_for_close(count: int) -> None:
    """The message on a pitch of 40 mm names two counts, the idler half a pitch to either side."""
    design = designs(parsed("packbot", (CHAIN, {"shoes": {"count": count, "pitch": 0.04}})))["left"]
    assert design.chain.count == count
    assert design.chain.shoe.pitch == pytest.approx(0.04, abs=1e-6)


@pytest.mark.parametrize("count", some_of([36, 39], 39))
def test_other_numbers_of_shoes_do_not_close(count: int) -> None:
    with pytest.raises(InvalidValueError, match="37 or 38, which close"):
        designs(parsed("packbot", (CHAIN, {"shoes": {"count": count, "pitch": 0.04}})))


def test_a_tensioner_that_tears_its_chain_apart_is_refused() -> None:
    """Bushings of 1e6 N/m stretch by a pitch under 1.92 kN; wheels give way besides."""
    told = "chain must be one that bears its tensioner, got one that breaks: simulation diverged: idler of "
    too_much = (
        "chain.tensioner.pretension of left must be at most 1.92e+03 N, which slides its idler by a pitch"
    )
    for pretension, message in ((1.9e3, told), (2e4, too_much)):
        vehicle = parsed("packbot", (CHAIN, {"tensioner": {"pretension": pretension}}))
        with segtrack.World() as world, pytest.raises(InvalidValueError) as error:
            world.add_vehicle(vehicle, track_model="chain")
        assert str(error.value).startswith(message)


@pytest.mark.parametrize("engine", some_of(["native", "pybullet"], DEFAULT_ENGINE))
@pytest.mark.parametrize(
    "chain",
    [
        {"tensioner": {"pretension": 2e4}},
        {"sub_step": 1e-3},
        {"road_wheels": [{"x": 0, "z": 0, "radius": 0.01, "link": "arm"}]},
        {"bushing": {"conical_stiffness": 1.0, "bending_stiffness": 2.0}},
        {"tensioner": {"direction": [-1, 0]}},
        {"idler": {"inertia": 1e-9}},
    ],
)
def test_a_file_is_told_what_adding_its_vehicle_would_say(chain: dict, engine: EngineName) -> None:
    vehicle = parsed("packbot", (CHAIN, chain))
    with segtrack.World(engine=engine) as world, pytest.raises(SegtrackError) as error:
        world.add_vehicle(vehicle, track_model="chain")
    assert check_chains(vehicle).problems[0] == str(error.value)


def test_a_time_step_too_long_for_chains_is_refused() -> None:
    with segtrack.World(time_step=0.02) as world:
        world.add_vehicle("packbot", track_model="chain", position=(0, 0, 1))
        with pytest.raises(InvalidValueError) as error:
            world.step()
        assert str(error.value) == "time_step [s] must be at most 0.01 with link chains, got 0.02"


def test_a_path_around_one_pulley_is_refused() -> None:
    with segtrack.World() as world:
        with pytest.raises(InvalidValueError) as error:
            world.add_vehicle("lugged_wheel", track_model="chain")
        assert str(error.value) == (
            "path of front_left, a chain must be around two or more pulleys, bending outwards, got arc_0"
        )
