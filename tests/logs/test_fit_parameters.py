"""What can be fitted: each parameter is read back as it was set, and bad choices are refused."""

from __future__ import annotations

from pathlib import Path

import pytest
from tables import each_row

from segtrack.description import load_vehicle, parse_vehicle
from segtrack.errors import InvalidValueError, SegtrackError, VehicleFileError
from segtrack.experiments import with_contact_length, with_gauge
from segtrack.logs.fit import PARAMETERS, Choice, Prior, values_of, with_parameters
from segtrack.logs.fit.study import write_vehicle
from segtrack.logs.fit.unknowns import Unknown, unknowns_of

QUINCE = load_vehicle("quince")


@each_row("name", PARAMETERS)
@each_row("vehicle", ["quince", "bulldozer", "maxxii"])
def test_a_parameter_is_read_back_as_it_was_set_and_no_other_changes(name: str, vehicle: str) -> None:
    before = load_vehicle(vehicle)
    value = PARAMETERS[name].value_of(before) + 0.01
    after = with_parameters(before, {name: value})
    others = {
        "mass": ("contact_stiffness",),
        "contact_length": ("contact_stiffness",),
        "pulley_radius": ("contact_stiffness", "contact_length"),
        "friction": ("lateral_friction",),
    }
    for other, found in values_of(after).items():
        if other == name:
            assert found == pytest.approx(value)
        elif other not in others.get(name, ()):  # These follow where the file does not give them.
            assert found == pytest.approx(PARAMETERS[other].value_of(before))


def test_a_stiffer_contact_keeps_its_share_of_critical_damping() -> None:
    one, four = (with_parameters(QUINCE, {"contact_stiffness": k}) for k in (1e4, 4e4))
    contacts = [next(vehicle.mounted_tracks()).spec.contact for vehicle in (one, four)]
    assert contacts[1].damping == pytest.approx(2 * contacts[0].damping)


def test_flippers_go_along_with_the_ends_of_longer_tracks_and_grousers_keep_their_pitch() -> None:
    longer = with_contact_length(QUINCE, 0.635)
    before, after = QUINCE.flippers["front_left"].mount.xyz, longer.flippers["front_left"].mount.xyz
    assert after == pytest.approx((before[0] + 0.05, *before[1:]))
    before, after = QUINCE.flippers["rear_left"].mount.xyz, longer.flippers["rear_left"].mount.xyz
    assert after == pytest.approx((before[0] - 0.05, *before[1:]))
    pitch = QUINCE.tracks["left"].pitch
    assert longer.tracks["left"].pitch == pytest.approx(pitch, rel=0.02)


def test_a_gauge_is_the_distance_of_the_tracks() -> None:
    left, right = (track.y for track in with_gauge(load_vehicle("maxxii"), 0.7).mounted_tracks())
    assert (left, right) == pytest.approx((0.35, -0.35))


@pytest.mark.parametrize("name", ["quince", "example_rover"])
def test_a_vehicle_is_written_as_a_file_that_reads_the_same(name: str, tmp_path: Path) -> None:
    vehicle = with_parameters(load_vehicle(name), {"friction": 0.7123456789, "drive_lag": 0.05})
    assert load_vehicle(write_vehicle(tmp_path / "sub" / "fitted.yaml", vehicle)) == vehicle


def test_scaled_unknowns_run_from_bound_to_bound() -> None:
    straight, ratio = (
        Unknown("mass", "kg", 15.0, 10.0, 30.0),
        Unknown("k", "-", 1.0, 0.1, 10.0, is_ratio=True),
    )
    assert [straight.value(x) for x in (0, 0.25, 1)] == pytest.approx([10, 15, 30])
    assert [ratio.value(x) for x in (0, 0.5, 1)] == pytest.approx([0.1, 1, 10])
    for unknown in (straight, ratio):
        assert unknown.scaled(unknown.value(0.3)) == pytest.approx(0.3)
        slope = (unknown.value(0.3 + 1e-6) - unknown.value(0.3 - 1e-6)) / 2e-6
        assert unknown.slope(0.3) == pytest.approx(slope)


@each_row(
    "vehicle, values, message",
    [
        ("quince", {"frction": 1.0}, "no parameter 'frction'; there are: " + ", ".join(PARAMETERS)),
        ("quince", {"friction": -1.0}, "friction must be at least 0, got -1.0"),
        ("quince", {"lateral_friction": 0.0}, "lateral friction must be above 0, got 0.0"),
        ("quince", {"drive_lag": -0.1}, "drive lag [s] must be at least 0, got -0.1"),
        ("quince", {"contact_length": 0.0}, "contact length [m] must be above 0, got 0.0"),
        ("quince", {"track_separation": 0.0}, "gauge [m] must be above 0, got 0.0"),
        ("quince", {"com_x": float("nan")}, "com_x must be a finite number, got nan"),
        ("example_rover", {"com_x": 0.0}, "body of example_rover must be given by mass and size, got a URDF"),
        ("example_rover", {"mass": 1.0}, "body of example_rover must be given by mass and size, got a URDF"),
        ("conveyor", {"grouser_height": 0.01}, "belts of conveyor must be with grousers, got smooth ones"),
        (
            "okada_example",
            {"contact_length": 0.5},
            "track track of okada_example must be around pulleys, got explicit segments",
        ),
        (
            "lugged_wheel",
            {"contact_length": 0.5},
            "track front_left of lugged_wheel must be of a length on the ground that its pulleys give, "
            "got 0.5027 m",
        ),
    ],
)
def test_a_value_that_a_vehicle_cannot_have_is_refused(
    vehicle: str, values: dict[str, float], message: str
) -> None:
    with pytest.raises(SegtrackError) as error:
        with_parameters(load_vehicle(vehicle), values)
    assert str(error.value) == message


@pytest.mark.parametrize(
    ("choices", "message"),
    [
        ({}, "parameters must be one or more, got none"),
        ({"mas": Choice()}, f"no parameter 'mas'; there are: {', '.join(PARAMETERS)}, clock_offset"),
        (
            {"friction": Choice((0.7, 0.9))},
            "bounds of friction must be around the vehicle's 0.6, got (0.7, 0.9)",
        ),
        ({"mass": Choice((1.0, 9.0))}, "bounds of mass must be around the vehicle's 20.8 kg, got (1.0, 9.0)"),
        ({"friction": Choice((0.9, 0.2))}, "bounds of friction must be rising, got (0.9, 0.2)"),
        (
            {"contact_stiffness": Choice((0.0, 1e6))},
            "bounds of contact_stiffness must be rising and above 0, got (0.0, 1000000.0)",
        ),
        (
            {"friction": Choice(prior=Prior(0.6, 0.0))},
            "std of the prior of friction must be above 0, got 0.0",
        ),
    ],
)
def test_a_choice_that_cannot_be_fitted_is_refused(choices: dict[str, Choice], message: str) -> None:
    with pytest.raises(SegtrackError) as error:
        unknowns_of(choices, QUINCE, {"a": 0.0})
    assert str(error.value) == message


def test_each_log_has_its_own_clock() -> None:
    unknowns = unknowns_of({"clock_offset": Choice(), "friction": Choice()}, QUINCE, {"a": 0.0, "b": 0.0})
    assert [unknown.name for unknown in unknowns] == ["clock_offset.a", "clock_offset.b", "friction"]
    assert [unknown.log for unknown in unknowns] == ["a", "b", None]


def test_all_mistakes_of_a_calibration_are_found_at_once() -> None:
    data = QUINCE.model_dump(mode="json", exclude_unset=True)
    log = {"file": "a.csv", "sha256": "0" * 64, "score": 1.0, "score_before": 2.0}
    data["calibration"] = {
        "date": "2026-11-22",
        "version": "0.1.0",
        "vehicle": "quince.yaml",
        "vehicle_sha256": "short",
        "engine": "native",
        "track_model": "compliant",
        "misfit": 1.0,
        "parameters": {"friction": {"value": 0.6, "unit": "-", "std": 0.1, "interval": [0.8, 0.4]}},
        "logs": {"a": log},
        "held_ot": {},
    }
    with pytest.raises(VehicleFileError) as error:
        parse_vehicle(data)
    assert sorted(map(str, error.value.problems)) == [
        "calibration.held_ot is not a key that segtrack knows; did you mean held_out?",
        "calibration.parameters.friction.interval must rise, got [0.8, 0.4]",
        "calibration.vehicle_sha256 must be a SHA-256 of 64 hexadecimal digits, got 'short'",
    ]


def test_a_bad_gauge_names_itself() -> None:
    with pytest.raises(InvalidValueError, match=r"^gauge \[m\] must be a finite number, got 'wide'$"):
        with_gauge(QUINCE, "wide")  # type: ignore[arg-type]
