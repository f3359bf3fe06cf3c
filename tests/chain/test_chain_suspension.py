"""Wheels of link chains on sprung arms."""

from __future__ import annotations

from pathlib import Path

import pytest
from scenes import GRAVITY

import segtrack
from segtrack import terrain

ENGINES = [
    pytest.param("native", marks=pytest.mark.slow),
    pytest.param("pybullet", marks=pytest.mark.pybullet),
]
ARMED = """
name: armed
source: made up
body: {urdf: armed.urdf}
tracks:
  left: &track
    mount: {parent: base, xyz: [0, 0.2, 0]}
    path: {pulleys: [{x: -0.25, z: 0, radius: 0.08}, {x: 0.25, z: 0, radius: 0.08}]}
    width: 0.075
    belt: {mass: 2.0}
    grousers: {count: 40, shape: {box: {length: 0.005, height: 0.008}}}
    drive: {max_force: 300.0, max_speed: 1.0}
    chain:
      road_wheels: [{x: -0.1, z: -0.05, radius: 0.02}, {link: arm_left, x: 0, z: -0.05, radius: 0.02}]
      suspension: {arm_left: {stiffness: 40.0, damping: 0.5, free_position: REST}}
  right:
    <<: *track
    mount: {parent: base, xyz: [0, -0.2, 0]}
    chain:
      road_wheels: [{x: -0.1, z: -0.05, radius: 0.02}, {link: arm_right, x: 0, z: -0.05, radius: 0.02}]
      suspension: {arm_right: {stiffness: 40.0, damping: 0.5, free_position: REST}}
"""


def armed(folder: Path, rest: float) -> Path:
    """A vehicle file whose arms trail behind their pivots, 0.1 m from their wheels' axles."""
    mass = '<mass value="{}"/>\n<inertia ixx="{}" ixy="0" ixz="0" iyy="{}" iyz="0" izz="{}"/>\n'
    link = '<link name="{}">\n<inertial>\n' + mass + "</inertial>\n</link>\n"
    joint = (
        '<joint name="arm_{0}_joint" type="revolute">\n<parent link="base"/>\n<child link="arm_{0}"/>\n'
        '<origin xyz="0.1 {1} -0.03"/>\n<axis xyz="0 1 0"/>\n'
        '<limit lower="-1" upper="1" effort="100" velocity="10"/>\n</joint>\n'
    )
    arms = [
        link.format(f"arm_{side}", 0.3, 0.002, 0.002, 0.002) + joint.format(side, y)
        for side, y in (("left", 0.2), ("right", -0.2))
    ]
    base = link.format("base", 20.0, 0.5, 0.5, 0.5)
    (folder / "armed.urdf").write_text(f'<robot name="armed">\n{base}{"".join(arms)}</robot>\n')
    (folder / "armed.yaml").write_text(ARMED.replace("REST", str(rest)))
    return folder / "armed.yaml"


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(("rest", "touches"), [(-0.05, True), (0.3, False)])
def test_a_sprung_arm_presses_on_the_chain_or_stands_where_its_spring_rests(
    tmp_path: Path, rest: float, touches: bool, engine: str
) -> None:
    """Turned by a negative angle an arm presses its wheel down; the chain on the ground pushes it back."""
    with segtrack.World(engine=engine) as world:
        world.add_terrain(terrain.Plane())
        robot = world.add_vehicle(armed(tmp_path, rest), track_model="chain")
        assert world.settle().converged
        angles = [robot.joints[f"arm_{side}_joint"].position for side in ("left", "right")]
        assert angles[0] == pytest.approx(angles[1], abs=1e-5)
        if touches:
            assert rest + 0.03 < angles[0] < 0.02
        else:
            assert angles[0] == pytest.approx(rest, abs=1e-3)
        ground = sum(track.read_chain().ground_force.sum() for track in robot.tracks.values())
        assert ground == pytest.approx(robot.mass * GRAVITY, rel=0.02)


@pytest.mark.slow
@pytest.mark.pybullet
def test_both_engines_compress_the_springs_alike(tmp_path: Path) -> None:
    """At rest, and after a drive: within 2 % of the way that the spring gives."""
    angles = {}
    for engine in ("native", "pybullet"):
        with segtrack.World(engine=engine) as world:
            world.add_terrain(terrain.Plane())
            robot = world.add_vehicle(armed(tmp_path, -0.2), track_model="chain")
            assert world.settle().converged
            at_rest = robot.joints["arm_left_joint"].position
            robot.set_belt_speed(0.2, 0.2)
            world.run(1.0)
            angles[engine] = at_rest, robot.state.position[0]
    way = angles["pybullet"][0] + 0.2
    assert way > 0.1
    assert angles["native"][0] == pytest.approx(angles["pybullet"][0], abs=0.02 * way)
    assert angles["native"][1] == pytest.approx(angles["pybullet"][1], rel=0.02)
