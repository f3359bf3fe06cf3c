"""A log in a lab's own format becomes a report by one mapping file of 15 lines.

No robot is at hand: Quince, heavier behind than its vehicle file says and with drives that lag, climbs a step
in simulation, and what a lab would have is written down: 20 Hz, sprocket speeds of which the right one is
mounted mirror-wise, a pose in the lab's own frame with pitch nose down positive, Unix time, noise.
"""

from __future__ import annotations

import math
import webbrowser
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import typer

import segtrack
from segtrack.cli import command
from segtrack.demos import Picture
from segtrack.description import load_vehicle
from segtrack.files import write_csv, write_figure, write_text
from segtrack.logs import Motion
from segtrack.logs.compare import compare
from segtrack.logs.fit import with_parameters
from segtrack.logs.mapping import load_mapping, load_terrain, map_log
from segtrack.logs.reading import read_log
from segtrack.logs.replay import MotionRecorder, ReplaySettings, replay
from segtrack.report.logs import draw_side_views, gather, report_html

TERRAIN = "okada-step"
ROBOT = {"com_x": -0.08, "drive_lag": 0.15}
"""Parameters of the robot that its vehicle file lacks: centre of mass [m] and lag of its drives [s]."""
RADIUS = 0.075
"""Radius of the sprockets [m]."""
SPEED = 0.1
"""Speed of the belts [m/s]."""
FLIPPERS = {"front_left": 45, "front_right": 45, "rear_left": 5, "rear_right": 5}
"""Their angles [deg]."""
LAB = 3.2, -1.7, math.radians(30)
"""Pose of the terrain's origin in the lab's frame: x, y [m] and yaw [rad]."""
NOISE = [0.0] * 2 + [0.05] * 2 + [0.002] * 3 + [0.003] * 3 + [0.0] * 2
"""Standard deviations of the columns after time, in their units."""
COLUMNS = (
    "unix_time", "cmd_l", "cmd_r", "sprocket_l", "sprocket_r", "x", "y", "z", "roll", "pitch", "yaw",
    "front_flippers", "rear_flippers",
)  # fmt: skip
MAPPING = """\
vehicle: quince
terrain: okada-step
recorded: simulation
quantities:
  belt_speed_command: {left: cmd_l, right: cmd_r, reversed: [right], unit: rad/s, radius: 0.075}
  belt_speed: {left: sprocket_l, right: sprocket_r, reversed: [right], unit: rad/s, radius: 0.075}
  position: {channels: [x, y, z], unit: m, std: 0.002}
  roll: {channel: roll, unit: rad, std: 0.003}
  pitch: {channel: pitch, unit: rad, positive: nose down, std: 0.003}
  yaw: {channel: yaw, unit: rad, std: 0.003}
  flipper_angle:
    front_left: {channel: front_flippers, unit: deg}
    front_right: {channel: front_flippers, unit: deg}
    rear_left: {channel: rear_flippers, unit: deg}
    rear_right: {channel: rear_flippers, unit: deg}
"""


def main(headless: bool = False, picture: Picture = None) -> None:
    """Write the lab's log and the mapping, and make a report; without --headless a browser shows it."""
    with TemporaryDirectory() as temporary:
        folder = Path(temporary) if headless else Path("out", "log-report")
        log = write_csv(folder / "lab.csv", COLUMNS, iter(_rows(_climb()).tolist()))
        mapping = write_text(folder / "mapping.yaml", MAPPING)

        mapped = map_log(read_log(log), load_mapping(mapping))
        again = replay(mapped.motion, ReplaySettings("quince", TERRAIN))
        content = gather(mapped, again, compare(again))
        page = write_text(folder / "report.html", report_html(content, "today"))

        print(f"mapping of {len(MAPPING.splitlines())} lines; report of {page.stat().st_size / 1e6:.1f} MB")
        for row in content.rows:
            if row.phase == "whole" and row.logged is not None:
                print(f"{row.run:>9} belts: {row.quantity} off by {row.error:+.3f} {row.unit}, {row.verdict}")
        for reason in content.maturity.reasons:
            print(reason)
        if picture is not None:
            given = content.vehicle, content.terrains, content.logged, content.simulated, content.instants
            figure = draw_side_views(*given)
            assert figure is not None
            write_figure(picture, figure, dpi=80)
        if not headless:
            webbrowser.open(page.resolve().as_uri())


def _climb() -> Motion:
    """Simulated climb: motion of the robot in the terrain's frame."""
    terrain = load_terrain(TERRAIN)
    angles = {name: math.radians(angle) for name, angle in FLIPPERS.items()}
    with segtrack.World(engine="native") as world:
        for ground in terrain.terrains:
            world.add_terrain(ground)
        vehicle = with_parameters(load_vehicle("quince"), ROBOT)
        robot = world.add_vehicle(vehicle, position=(terrain.start.x, terrain.start.y), flippers=angles)
        world.run(1.0)
        recorder = MotionRecorder(robot, "climb")
        while world.time < 22.0:
            speed = SPEED if 2.0 < world.time < 19.0 else 0.0
            robot.set_belt_speed(left=speed, right=speed)
            recorder.sample(world.time, angles)
            world.run(0.05)
    return recorder.motion()


def _rows(motion: Motion) -> np.ndarray:
    """Table of the lab (n, 13), in its own units, signs, frame, clock and with noise."""
    x, y, turned = LAB
    cos, sin = math.cos(turned), math.sin(turned)
    at = motion.signals["position"].values
    sides = [
        sign * motion.signals[f"{quantity}.{side}"].values / RADIUS
        for quantity in ("belt_speed_command", "belt_speed")
        for side, sign in (("left", 1), ("right", -1))
    ]
    pose = [x + cos * at[:, 0] - sin * at[:, 1], y + sin * at[:, 0] + cos * at[:, 1], at[:, 2]]
    roll, pitch, yaw = (motion.signals[name].values for name in ("roll", "pitch", "yaw"))
    flippers = [np.degrees(motion.signals[f"flipper_angle.{end}_left"].values) for end in ("front", "rear")]
    table = np.stack([*sides, *pose, roll, -pitch, yaw + turned, *flippers], axis=1)
    table += np.random.default_rng(1).normal(size=table.shape) * NOISE
    return np.column_stack([1.79e9 + motion.signals["roll"].times, table])


if __name__ == "__main__":
    typer.run(command(main))
