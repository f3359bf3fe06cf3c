"""Export to SDF: masses, poses and joints of the file are the vehicle's, and plugins name its links."""

from __future__ import annotations

import functools
from pathlib import Path
from tempfile import TemporaryDirectory
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

import numpy as np
import pytest
from exported_files import pose_of, whole_of_sdf

from segtrack import bundled_vehicles, export_vehicle, load_vehicle
from segtrack.description import SteeringByLoads, place_tracks, vehicle_links

QUICK = ("conveyor", "example_rover", "m113", "quince")
DIFFERENTIAL = str(bundled_vehicles()["absolem"].with_name("differential.yaml"))
ALL = [
    pytest.param(name, marks=() if name in (*QUICK, DIFFERENTIAL) else pytest.mark.slow)
    for name in (*sorted(bundled_vehicles()), DIFFERENTIAL)
]


@functools.cache
def model_of(name: str) -> Element:
    """Element `model` of an exported vehicle."""
    with TemporaryDirectory() as folder:
        root = ElementTree.parse(export_vehicle(name, "sdf", out=Path(folder) / "own.sdf").file).getroot()
    assert root.tag == "sdf" and root.get("version") in ("1.9", "1.11")
    (model,) = root
    return model


@pytest.mark.parametrize("name", ALL)
def test_the_files_mass_center_and_inertia_are_the_vehicles(name: str) -> None:
    got, expected = whole_of_sdf(model_of(name)), vehicle_links(load_vehicle(name)).whole
    assert got.mass == pytest.approx(expected.mass, rel=1e-9)
    assert got.center == pytest.approx(expected.center, abs=1e-9)
    assert got.inertia == pytest.approx(expected.inertia, rel=1e-9, abs=1e-9 * expected.inertia.max())


@pytest.mark.parametrize("name", ALL)
def test_links_of_tracks_are_where_the_tracks_are_and_plugins_name_them(name: str) -> None:
    model, vehicle = model_of(name), load_vehicle(name)
    links = {str(link.get("name")): pose_of(link) for link in model.iterfind("link")}
    controlled = [
        plugin.findtext("link")
        for plugin in model.iterfind("plugin[@name='gz::sim::systems::TrackController']")
    ]
    for track, link in zip(place_tracks(vehicle, {}), controlled, strict=True):
        origin, rotation = links[str(link)]
        assert origin == pytest.approx(track.frame.origin, abs=1e-9)
        assert rotation == pytest.approx(track.frame.rotation, abs=1e-9)


@pytest.mark.parametrize("name", ALL)
def test_joints_make_one_tree_of_all_links(name: str) -> None:
    model = model_of(name)
    links = [str(link.get("name")) for link in model.iterfind("link")]
    joints = [(joint.findtext("parent"), joint.findtext("child")) for joint in model.iterfind("joint")]
    names = links + [str(joint.get("name")) for joint in model.iterfind("joint")]
    assert len(set(names)) == len(names)  # SDF wants one namespace for both.
    root = model.get("canonical_link")
    children = [child for parent, child in joints if parent != "world"]
    assert sorted(map(str, children)) == sorted(set(links) - {root})
    assert ("world", root) in joints if load_vehicle(name).body.fixed else ("world", root) not in joints


def test_the_plugin_of_the_vehicle_has_its_gauge_sides_and_height() -> None:
    model, vehicle = model_of("quince"), load_vehicle("quince")
    (plugin,) = model.iterfind("plugin[@name='gz::sim::systems::TrackedVehicle']")
    assert plugin.get("filename") == "gz-sim-tracked-vehicle-system"
    left = {element.text for element in plugin.iterfind("left_track/link")}
    assert left == {"left_track", "front_left_belt_track", "rear_left_belt_track"}
    assert len(plugin.findall("right_track")) == 3
    assert float(plugin.findtext("tracks_separation") or "nan") == pytest.approx(vehicle.gauge)
    assert float(plugin.findtext("tracks_height") or "nan") == pytest.approx(2 * (0.075 + 0.016))


@pytest.mark.parametrize("given", [None, 0.37])
def test_the_plugins_steering_efficiency_is_the_vehicles_own(tmp_path: Path, given: float | None) -> None:
    vehicle = load_vehicle("packbot").model_copy(update={"steering_efficiency": given})
    file = export_vehicle(vehicle, "sdf", out=tmp_path / "own.sdf").file
    plugin = ElementTree.parse(file).find("model/plugin[@name='gz::sim::systems::TrackedVehicle']")
    assert plugin is not None
    got = float(plugin.findtext("steering_efficiency") or "nan")
    assert got == pytest.approx(SteeringByLoads(vehicle).efficiency({}), rel=1e-9)
    assert got == pytest.approx(given or 0.77, abs=0.005)  # What the documentation says of a PackBot.


def test_tracks_and_flippers_are_as_fast_and_strong_as_the_vehicles() -> None:
    model, vehicle = model_of("quince"), load_vehicle("quince")
    speeds = {
        (plugin.findtext("min_velocity"), plugin.findtext("max_velocity"))
        for plugin in model.iterfind("plugin[@name='gz::sim::systems::TrackController']")
    }
    assert speeds == {("-0.5", "0.5")}
    flipper = vehicle.flippers["rear_left"]
    axis = model.find("joint[@name='rear_left_flipper_joint']/axis")
    assert axis is not None
    limits = [
        float(axis.findtext(f"limit/{key}") or "nan") for key in ("lower", "upper", "effort", "velocity")
    ]
    assert limits == [*flipper.limits, flipper.max_torque, flipper.max_speed]
    assert [float(word) for word in (axis.findtext("xyz") or "").split()] == [0.0, flipper.raise_axis, 0.0]


def test_friction_lies_along_the_track_in_every_shape_of_it() -> None:
    model = model_of("quince")
    shapes = model.findall("link[@name='left_track']/collision")
    assert len(shapes) == 4
    for shape in shapes:
        _, rotation = pose_of(shape)
        ode = shape.find("surface/friction/ode")
        assert ode is not None and (ode.findtext("mu"), ode.findtext("mu2")) == ("0.6", "0.6")
        way = rotation @ np.array([float(word) for word in (ode.findtext("fdir1") or "").split()])
        assert way == pytest.approx([1.0, 0.0, 0.0], abs=1e-9)


def test_a_joint_that_mimics_names_its_leader() -> None:
    model = model_of(DIFFERENTIAL)
    joints = {str(joint.get("name")) for joint in model.iterfind("joint")}
    (mimic,) = model.iterfind("joint/axis/mimic")
    assert mimic.get("joint") in joints and mimic.findtext("multiplier") == "-1"


def test_springs_and_dampers_of_a_suspension_are_in_the_file() -> None:
    model = model_of("m113")
    dynamics = model.find("joint[@name='arm_left_2_joint']/axis/dynamics")
    assert dynamics is not None
    values = {key.tag: float(key.text or "nan") for key in dynamics}
    assert values["spring_stiffness"] == pytest.approx(9557.0)
    assert values["spring_reference"] == pytest.approx(0.2269)
    assert values["damping"] == pytest.approx(500.0)
