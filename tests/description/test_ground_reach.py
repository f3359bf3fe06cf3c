"""Shapes of a user's body that carry it beside its belts are named, and left out where the file says so."""

import logging
import math

import numpy as np
import pytest
import yaml
from command_line import run
from pybullet_utils.bullet_client import BulletClient
from tables import each_row

import segtrack
from segtrack import terrain
from segtrack.batch import Batch
from segtrack.description import bundled_vehicles, load_vehicle, low_shapes, parse_vehicle
from segtrack.errors import VehicleFileError
from segtrack.experiments import belt_share

TIP = 0.093
"""Tips of the belts below the body's origin: 0.085 of the path and 0.008 of grousers [m]."""
WEIGHT = (
    '<inertial><mass value="20"/><inertia ixx="0.3" iyy="0.6" izz="0.7" ixy="0" ixz="0" iyz="0"/></inertial>'
)
UP = math.cos(0.2) * math.cos(0.1)
"""Upward component of an axis that was turned by a roll of 0.2 and a pitch of 0.1."""
BOX = '<collision><origin xyz="{} {} {}"/><geometry><box size="0.5 0.08 0.186"/></geometry></collision>'
ROUND = (
    '<collision><origin xyz="{} {} 0" rpy="1.5707963 0 0"/><geometry><cylinder radius="0.093" length="0.08"/>'
    "</geometry></collision>"
)


def vehicle(folder, collisions, **body):
    """Two belts on a URDF whose link `base` has the collisions."""
    (folder / "own.urdf").write_text(f'<robot name="r"><link name="base">{WEIGHT}{collisions}</link></robot>')
    track = {
        "path": {"pulleys": [{"x": x, "z": 0, "radius": 0.085} for x in (-0.25, 0.25)]},
        "width": 0.08,
        "belt": {"mass": 2.0},
        "grousers": {"count": 40, "shape": {"box": {"length": 0.006, "height": 0.008}}},
        "drive": {"max_force": 200.0, "max_speed": 1.0},
    }
    mounts = {"left": [0, 0.22, 0], "right": [0, -0.22, 0]}
    tracks = {name: {**track, "mount": {"parent": "base", "xyz": xyz}} for name, xyz in mounts.items()}
    body = {"urdf": str(folder / "own.urdf"), **body}
    return parse_vehicle({"name": "own", "source": "made up", "body": body, "tracks": tracks}, folder=folder)


def stand_ins():
    """Shapes that stand for tracks, as URDFs have them: their outer size is that of the belts."""
    return "".join(
        BOX.format(0, y, 0) + "".join(ROUND.format(x, y) for x in (-0.25, 0.25)) for y in (0.22, -0.22)
    )


@pytest.mark.parametrize(
    ("shape", "depth"),
    [
        ('<geometry><box size="0.4 0.1 0.2"/></geometry>', 0.1 - TIP),
        ('<origin xyz="0 0 0" rpy="0.3 0 0"/><geometry><box size="0.4 0.1 0.2"/></geometry>',
         0.1 * math.cos(0.3) + 0.05 * math.sin(0.3) - TIP),
        ('<origin xyz="0 0 -0.02"/><geometry><sphere radius="0.1"/></geometry>', 0.12 - TIP),
        ('<origin rpy="0.2 0.1 0"/><geometry><cylinder radius="0.1" length="0.3"/></geometry>',
         0.15 * UP + 0.1 * math.sqrt(1 - UP**2) - TIP),
        ('<origin rpy="0 1.5707963 0"/><geometry><capsule radius="0.0925" length="0.3"/></geometry>',
         0.0925 - TIP),
        ('<geometry><box size="0.4 0.1 0.183"/></geometry>', None),
    ],
)  # fmt: skip
def test_the_depth_of_a_shape_below_the_tips_is_that_of_its_lowest_point(shape, depth, tmp_path):
    low = low_shapes(vehicle(tmp_path, f"{BOX.format(0, 0, 0.1)}<collision>{shape}</collision>"))
    assert [s.link for s in low] == ([] if depth is None else ["base"])
    if depth is not None:
        assert low[0].shape.startswith("collision 2 (") and low[0].depth == pytest.approx(depth, abs=1e-6)


@each_row("name", sorted(set(bundled_vehicles()) - {"conveyor"}))
def test_bundled_vehicles_stand_on_their_belts(name):
    assert low_shapes(load_vehicle(name)) == ()


def warnings(caplog):
    """What the logger said of the vehicle."""
    messages = [r.getMessage() for r in caplog.records if r.levelno == logging.WARNING]
    return [message for message in messages if message.startswith("own: ")]


def test_adding_a_vehicle_that_stands_beside_its_belts_warns(tmp_path, caplog):
    own = vehicle(tmp_path, BOX.format(0, 0.22, -0.0025))
    told = (
        "own: 1 collision shapes of its body (link 'base') reach down to the belts' tips, 2.5 mm lower at "
        "most, and carry it beside them; `segtrack validate` names them, body.without_contact leaves them out"
    )
    with segtrack.World(engine="native") as world:
        world.add_vehicle(own)
    client = BulletClient()
    segtrack.attach(client, own, position=(0, 0, 1))
    client.disconnect()
    assert [
        r.getMessage() for r in caplog.records if r.levelno == logging.WARNING and "own" in str(r.args)
    ] == [told] * 2
    caplog.clear()
    spared = vehicle(tmp_path, BOX.format(0, 0.22, -0.0025), without_contact=["base"])
    with segtrack.World(engine="native") as world:
        world.add_vehicle(spared)
    assert warnings(caplog) == []


def test_belts_carry_all_of_the_weight_once_stand_ins_are_left_out(tmp_path):
    """As in vehicles without such shapes; with them it is a matter of stiffness, and little."""
    beside = belt_share(vehicle(tmp_path, stand_ins()))
    assert 0.05 < beside < 0.5
    spared = belt_share(vehicle(tmp_path, stand_ins(), without_contact=["base"]))
    assert spared == pytest.approx(1.0, abs=2e-3)
    assert spared == pytest.approx(belt_share(vehicle(tmp_path, "")), abs=1e-9)


@pytest.mark.parametrize(
    ("engine", "model"), [("native", "compliant"), ("pybullet", "compliant"), ("pybullet", "segments")]
)
def test_links_without_contact_do_not_hinder_turning(engine, model, tmp_path):
    """A vehicle turns as one that never had such shapes, in every engine."""

    def turned(own):
        with segtrack.World(engine=engine) as world:
            world.add_terrain(terrain.Plane())
            robot = world.add_vehicle(own, track_model=model)
            world.run(0.3)
            robot.set_belt_speed(-0.2, 0.2)
            world.run(1.0)
            return robot.state.yaw

    never = turned(vehicle(tmp_path, ""))
    assert never > 0.2
    assert turned(vehicle(tmp_path, stand_ins(), without_contact=["base"])) == pytest.approx(never, rel=1e-6)


def test_links_without_contact_are_links_of_the_urdf(tmp_path):
    with pytest.raises(VehicleFileError) as error:
        vehicle(tmp_path, "", without_contact=["base", "arm"])
    assert str(error.value) == "vehicle: body.without_contact[1] has no link 'arm'; there are: base"


def test_a_body_without_urdf_has_no_links_to_leave_out():
    data = yaml.safe_load(segtrack.description.find_vehicle("packbot").read_text())
    data["body"]["without_contact"] = ["body"]
    with pytest.raises(VehicleFileError) as error:
        parse_vehicle(data)
    assert str(error.value) == "vehicle: body.without_contact must be left out of a body without urdf"


def test_a_batch_leaves_them_out_as_well(tmp_path):
    places = []
    for own in (vehicle(tmp_path, stand_ins(), without_contact=["base"]), vehicle(tmp_path, "")):
        with Batch(own, 2, terrain=terrain.Plane()) as batch:
            batch.set_belt_speed(-0.2, 0.2)
            batch.run(0.2)
            places.append(np.concatenate([batch.state.position, batch.state.orientation], axis=1))
    np.testing.assert_allclose(*places, atol=1e-12)
    assert abs(places[0][0, 5]) > 1e-3


def test_validate_names_the_shapes_and_the_share_of_the_belts(tmp_path):
    path = tmp_path / "own.yaml"
    own = vehicle(tmp_path, stand_ins()).model_dump(mode="json", exclude_unset=True)
    path.write_text(yaml.safe_dump(own))
    told = "".join(run("validate", str(path), folder=tmp_path).stderr.split())
    for i, kind in enumerate(2 * ["box", "cylinder", "cylinder"], start=1):
        assert f"link'base':collision{i}({kind})reachesaslowasthebelts'tips" in told
    share = belt_share(load_vehicle(path))
    assert f"own:beltscarry{share:.0%}oftheweightatrestonflatground" in told
    assert told.count("body.without_contact") == 1


def test_validate_tells_what_is_hardly_meant(tmp_path):
    """Sides that the tracks' names deny, and a body as large as a mesh in mm makes it."""
    path = tmp_path / "own.yaml"
    own = vehicle(tmp_path, '<collision><geometry><box size="400 300 0.06"/></geometry></collision>')
    data = own.model_dump(mode="json", exclude_unset=True)
    for track in data["tracks"].values():
        track["mount"]["xyz"][1] *= -1
    path.write_text(yaml.safe_dump(data))
    told = " ".join(run("validate", str(path), folder=tmp_path).stderr.split())
    assert "own: track left lies on the right, at y = -0.22 m: +y is the left" in told
    assert "own: track right lies on the left, at y = 0.22 m: +y is the left" in told
    assert "own: its body's shapes reach 250 m from its centre of mass" in told
