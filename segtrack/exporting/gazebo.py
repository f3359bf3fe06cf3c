"""Plugins of gz-sim that drive tracks and flippers: TrackedVehicle, TrackController, JointPositionController.

The names of their elements are those of the classes' documentation and of gz-sim's example world
`tracked_vehicle_simple.sdf`. The height of the tracks has two names there; both are written.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from xml.etree.ElementTree import Element, SubElement

from segtrack.description import SteeringByLoads, VehicleDescription, number_text
from segtrack.exporting.belt_shapes import belt_height, convex_path
from segtrack.exporting.parts import PartJoint


def add_text(parent: Element, tag: str, text: str) -> Element:
    """Add an element with a text; returns it."""
    element = SubElement(parent, tag)
    element.text = text
    return element


def plugins(
    vehicle: VehicleDescription, body: str, links: Mapping[str, str], joints: tuple[PartJoint, ...]
) -> Iterator[Element]:
    """Yield the plugins of a vehicle's model.

    Args:
        vehicle: Vehicle.
        body: Name of the body's link.
        links: Names of the links of its tracks, by the tracks' full names.
        joints: Joints that move.
    """
    offsets = vehicle.track_offsets
    tracks = tuple(vehicle.mounted_tracks())
    if offsets is not None:
        plugin = _plugin("TrackedVehicle", "tracked-vehicle")
        add_text(plugin, "body_link", body)
        for track in tracks:
            if track.side != "center":
                add_text(SubElement(plugin, f"{track.side}_track"), "link", links[track.name])
        add_text(plugin, "tracks_separation", number_text([offsets.gauge]))
        outline, tips = convex_path(tracks[0].spec).outline(), 2 * belt_height(tracks[0].spec)
        height = number_text([float(outline[:, 1].max() - outline[:, 1].min()) + tips])
        add_text(plugin, "tracks_height", height)
        add_text(plugin, "track_height", height)
        efficiency = SteeringByLoads(vehicle).efficiency({})
        add_text(plugin, "steering_efficiency", number_text([efficiency]))
        yield plugin
    for track in tracks:
        plugin = _plugin("TrackController", "track-controller")
        speed = track.spec.drive.top_speed
        add_text(plugin, "link", links[track.name])
        add_text(plugin, "min_velocity", number_text([-speed]))
        add_text(plugin, "max_velocity", number_text([speed]))
        yield plugin
    for joint in joints:
        if joint.velocity is not None and joint.mimics is None:
            plugin = _plugin("JointPositionController", "joint-position-controller")
            add_text(plugin, "joint_name", joint.name)
            # The joint's effort bounds the torque, as that of a servo here.
            add_text(plugin, "use_velocity_commands", "true")
            add_text(plugin, "cmd_max", number_text([joint.velocity]))
            add_text(plugin, "cmd_min", number_text([-joint.velocity]))
            yield plugin


def _plugin(system: str, library: str) -> Element:
    return Element("plugin", filename=f"gz-sim-{library}-system", name=f"gz::sim::systems::{system}")
