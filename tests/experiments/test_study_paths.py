"""Paths into vehicle files: what they mean, what is refused, and vehicles with other numbers."""

import pytest

from segtrack.errors import InvalidValueError, VehicleFileError
from segtrack.experiments.study_paths import VehicleSource, find_places, parse_path, write_path

QUINCE = VehicleSource("quince")


@pytest.mark.parametrize(
    ("path", "values"),
    [
        ("body.mass", [20.8]),
        ("body.size[2]", [0.11]),
        ("tracks.left.path.pulleys[1].x", [0.2675]),
        ("tracks.*.grousers.count", [40, 40]),
        ("flippers.*.tracks.belt.path.pulleys[1].x", [0.195, 0.195, -0.195, -0.195]),
        ("tracks.left.contact.lateral_friction", [None]),
        ("tracks.left.mount.rpy[*]", [0.0, 0.0, 0.0]),
    ],
)
def test_a_path_means_the_numbers_of_the_vehicle(path, values):
    places = find_places(QUINCE.vehicle, path)
    assert [place.value for place in places] == values
    assert all(find_places(QUINCE.vehicle, write_path(place.steps)) == (place,) for place in places)


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("body.mas", "path body.mas must be of a key of body (did you mean mass?), got 'mas'"),
        (
            "tracks.left.path.pulleys[2].x",
            "path tracks.left.path.pulleys[2].x must be of an index up to 1, got 2",
        ),
        ("body.mass.x", "path body.mass.x must be no longer than body.mass, got 'x'"),
        ("body", "path body must be that of a number, got 'body'"),
        ("name", "path name must be that of a number, got 'quince'"),
        ("tracks..left", "path must be like tracks.left.path.pulleys[0].x, got 'tracks..left'"),
        ("", "path must be like tracks.left.path.pulleys[0].x, got ''"),
    ],
)
def test_a_path_that_means_no_number_is_refused(path, message):
    with pytest.raises(InvalidValueError) as error:
        find_places(QUINCE.vehicle, path)
    assert str(error.value) == message


def test_a_number_is_changed_where_it_is_and_nowhere_else():
    """Parts that the file shares by anchors become parts of their own."""
    changed = QUINCE.changed({parse_path("tracks.left.drive.max_force"): 123.0})
    assert changed.tracks["left"].drive.max_force == 123.0
    assert changed.tracks["right"].drive.max_force == 500.0
    same = changed.model_copy(update={"tracks": QUINCE.vehicle.tracks})
    assert same == QUINCE.vehicle


@pytest.mark.parametrize(
    "path", ["body.center_of_mass[2]", "tracks.left.drive.lag", "tracks.right.mount.rpy[1]"]
)
def test_a_default_that_the_file_leaves_out_can_be_changed(path):
    source = VehicleSource("packbot")
    (place,) = find_places(source.vehicle, path)
    changed = source.changed({place.steps: 0.125})
    assert find_places(changed, path)[0].value == 0.125


def test_what_the_vehicle_file_refuses_is_refused_with_its_path():
    with pytest.raises(VehicleFileError) as error:
        QUINCE.changed({("body", "mass"): -1.0})
    assert str(error.value) == "quince.yaml: body.mass must be greater than 0, got -1.0"
