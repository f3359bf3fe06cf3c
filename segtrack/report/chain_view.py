"""Side view of link chains: outlines of shoes and wheels, and shoes coloured by a load."""

from __future__ import annotations

import math

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import PolyCollection
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

from segtrack.chain import ChainReading, TrackDesign
from segtrack.description import MountedTrack, VehicleDescription
from segtrack.experiments import ChainHistory
from segtrack.report.side_view import FILL, Polygon, Role

Array = NDArray[np.float64]


def shoe_outlines(design: TrackDesign, reading: ChainReading) -> tuple[list[Array], list[Array]]:
    """Plates of all shoes, and grousers of shoes that have one: polygons (4, 2) in world (x, z) [m]."""
    turns = Rotation.from_quat(reading.orientations).as_matrix()[:, [0, 2]][:, :, [0, 2]]
    plates, grousers = [], []
    for kind, turn, middle in zip(design.kinds, turns, reading.positions[:, [0, 2]], strict=True):
        tread = design.treads[kind]
        plate = _trapezoid(tread.x, tread.length, tread.length, tread.outer - tread.thickness, tread.outer)
        plates.append(plate @ turn.T + middle)
        if (bar := tread.grouser) is not None:
            tip = tread.outer + bar.height
            grousers.append(
                _trapezoid(tread.x + bar.x, bar.base, bar.top, tread.outer, tip) @ turn.T + middle
            )
    return plates, grousers


def wheel_outlines(design: TrackDesign, reading: ChainReading) -> list[Array]:
    """Circles of the wheels on which the chain runs (a sprocket's pitch circle), in world (x, z) [m]."""
    turn = np.linspace(0, 2 * math.pi, 49)
    circle = np.stack([np.cos(turn), np.sin(turn)], axis=1)
    gear = design.running_gear
    radii = [min(radius for _, radius in wheel.profile) for wheel in gear.wheels]
    if gear.sprocket is not None:
        radii[gear.driven] = design.pitch_radius
    return [radius * circle + middle for radius, middle in zip(radii, reading.wheels[:, [0, 2]], strict=True)]


def tracks_of_one_side(vehicle: VehicleDescription) -> tuple[MountedTrack, ...]:
    """Tracks of the side towards the viewer, flippers' last since they are in front."""
    tracks = sorted(vehicle.mounted_tracks(), key=lambda track: track.flipper is not None)
    side = "right" if any(track.side == "right" for track in tracks) else tracks[0].side
    return tuple(track for track in tracks if track.side == side)


def chain_polygons(vehicle: VehicleDescription, history: ChainHistory, index: int) -> list[Polygon]:
    """Shoes and wheels of all chains at one sample, as polygons for `side_view`."""
    polygons = []
    for track in vehicle.mounted_tracks():
        design, reading = history.designs[track.name], history.readings[track.name][index]
        plates, grousers = shoe_outlines(design, reading)
        belt: Role = "belt" if track.flipper is None else "flipper belt"
        parts: tuple[tuple[Role, list[Array]], ...] = (
            ("wheel", wheel_outlines(design, reading)),
            (belt, plates),
            ("grouser", grousers),
        )
        polygons += [Polygon(role, points, track.y) for role, outlines in parts for points in outlines]
    return polygons


def paint_chain(
    axes: Axes,
    design: TrackDesign,
    reading: ChainReading,
    values: Array,
    colours: str,
    greatest: float,
    zorder: float,
) -> PolyCollection:
    """Paint wheels, grousers and plates of a chain; values colour the plates.

    Args:
        axes: Axes to paint on.
        design: Design of the chain.
        reading: Reading of the chain at an instant.
        values: Value of each shoe (n,), at least 0.
        colours: Name of the colour map.
        greatest: Value at the end of the colour map.
        zorder: Layer of the wheels; grousers and plates are 0.1 and 0.2 in front of them.

    Returns:
        The plates, for a colour bar.
    """
    plates, grousers = shoe_outlines(design, reading)
    colour, opacity = FILL["wheel"]
    wheels = PolyCollection(wheel_outlines(design, reading), facecolors=colour, alpha=opacity)
    bars = PolyCollection(grousers, facecolors=FILL["grouser"][0])
    shoes = PolyCollection(plates, cmap=colours, edgecolors="black", linewidths=0.4)
    shoes.set_array(values)
    shoes.set_clim(0.0, greatest or 1.0)
    for part, collection in enumerate((wheels, bars, shoes)):
        collection.set_zorder(zorder + 0.1 * part)
        axes.add_collection(collection)
    return shoes


def _trapezoid(x: float, base: float, top: float, low: float, high: float) -> Array:
    ends = (x - base / 2, low), (x + base / 2, low), (x + top / 2, high), (x - top / 2, high)
    return np.array(ends)
