"""An operator's controls as commands: closed forms, and what must never move a vehicle."""

import math
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from segtrack.description import load_vehicle
from segtrack.errors import InvalidValueError
from segtrack.recording import Command
from segtrack.station.bindings import BUTTONS, KEYS, STICKS, bindings, help_text
from segtrack.station.inputs import Controls, InputMapper, InputSettings

QUINCE, PACKBOT = load_vehicle("quince"), load_vehicle("packbot")
TOP = 0.5
"""Of Quince's belts [m/s]; its flippers turn at 1 rad/s."""
FRONT, REAR = ("front_left", "front_right"), ("rear_left", "rear_right")
LT, RT, LB, RB, A, B, BACK, START, UP, DOWN = 6, 7, 4, 5, 0, 1, 8, 9, 12, 13
DT = 0.01


def pad(*pressed, axes=(0.0, 0.0, 0.0, 0.0)):
    return Controls(axes=axes, buttons=tuple(number in pressed for number in range(17)))


def keys(*codes):
    return Controls(keys=frozenset(codes))


def touch(*axes, finger=True):
    return Controls(touch=axes, dead_man=finger)


def mapper(**settings):
    return let_go(InputMapper(QUINCE, InputSettings(dead_zone=0.0, **settings)))


def let_go(inputs):
    inputs.update(Controls(), 0.0)
    return inputs


def flippers(front=0.0, rear=0.0):
    return dict.fromkeys(FRONT, front) | dict.fromkeys(REAR, rear)


REST = Command(0.0, 0.0, flippers())


@pytest.mark.parametrize(
    ("axes", "left", "right"),
    [
        ((0, -1, 0, 0), TOP, TOP),
        ((0, 1, 0, 0), -TOP, -TOP),
        ((0, -0.5, 0, 0), TOP / 2, TOP / 2),
        ((1, 0, 0, 0), TOP / 2, -TOP / 2),
        ((-1, 0, 0, 0), -TOP / 2, TOP / 2),
        ((1, -1, 0, 0), TOP, TOP / 3),  # 1.5 and 0.5, slowed down together.
        ((1, 1, 0, 0), -TOP / 3, -TOP),
        ((0, 0, 1, 0), 0, 0),
    ],
)
def test_left_stick_is_a_twist(axes, left, right):
    command = mapper().update(pad(RT, axes=axes), DT)
    assert (command.left, command.right) == pytest.approx((left, right))
    assert command.flipper_speeds == flippers()


def test_sticks_are_belts_in_their_mode():
    command = mapper(mode="belts").update(pad(LT, axes=(1, -1, 1, 0.5)), DT)
    assert command == Command(TOP, -TOP / 2, flippers())


def test_mode_changes_once_a_press():
    inputs = mapper()
    for _ in range(3):
        inputs.update(pad(BACK), DT)
    assert inputs.mode == "belts"
    inputs.update(pad(), DT)
    inputs.update(pad(BACK), DT)
    assert inputs.mode == "twist"


@pytest.mark.parametrize(
    ("chosen", "front", "rear"), [((), 1, 1), ((LB,), 0, 1), ((RB,), 1, 0), ((LB, RB), 1, 1)]
)
def test_shoulder_buttons_choose_flippers(chosen, front, rear):
    inputs = mapper()
    assert inputs.update(pad(RT, UP, *chosen), DT).flipper_speeds == flippers(front, rear)
    assert inputs.update(pad(RT, DOWN, *chosen), DT).flipper_speeds == flippers(-front, -rear)
    stick = pad(RT, *chosen, axes=(0, 0, 0, -0.25))
    assert inputs.update(stick, DT).flipper_speeds == flippers(front / 4, rear / 4)


def test_flatten_leaves_no_speed():
    assert mapper().update(pad(RT, A, UP), DT) == Command(0.0, 0.0, flippers(), flatten=True)
    assert mapper().update(keys("KeyF", "KeyQ"), DT) == Command(0.0, 0.0, flippers(), flatten=True)


@pytest.mark.parametrize("buttons", [(), (A,), (UP,), (LB, RB, DOWN), (START,)])
def test_pad_moves_nothing_without_its_dead_man(buttons):
    everything = pad(*buttons, axes=(1, -1, 1, -1))
    for mode in STICKS:
        assert mapper(mode=mode).update(everything, DT) == REST


def test_touch_moves_nothing_without_a_finger():
    assert mapper().update(touch(0, -1, 0, -1), DT) == Command(TOP, TOP, flippers(1, 1))
    assert mapper().update(touch(0, -1, 0, -1, finger=False), DT) == REST


@pytest.mark.parametrize(
    ("names", "moved"),
    [
        ((), tuple(QUINCE.flippers)),
        (("front_left",), ("front_left",)),
        (("front_left", "rear_right"), ("front_left", "rear_right")),
        (("arm",), tuple(QUINCE.flippers)),
    ],
)
def test_the_touch_stick_moves_the_flippers_that_are_touched(names, moved):
    held = Controls(touch=(0, 0, 0, -1), dead_man=True, touch_flippers=names)
    speeds = mapper().update(held, DT).flipper_speeds
    assert tuple(name for name, speed in speeds.items() if speed > 0) == tuple(moved)
    assert not any(mapper().update(replace(held, dead_man=False), DT).flipper_speeds.values())


@pytest.mark.parametrize(
    ("code", "left", "right"),
    [
        ("KeyW", 1, 1),
        ("ArrowUp", 1, 1),
        ("KeyS", -1, -1),
        ("ArrowDown", -1, -1),
        ("KeyA", -0.5, 0.5),
        ("ArrowLeft", -0.5, 0.5),
        ("KeyD", 0.5, -0.5),
        ("ArrowRight", 0.5, -0.5),
    ],
)
def test_key_ramps_up_and_stops_at_once(code, left, right):
    inputs, ramp = mapper(ramp=1.6), 1.6
    for step in range(1, 100):
        effect = min(1.0, ramp * step * DT)
        command = inputs.update(keys(code), DT)
        assert (command.left, command.right) == pytest.approx((left * effect * TOP, right * effect * TOP))
    assert inputs.update(keys(), DT) == REST
    again = inputs.update(keys(code), DT)
    assert again.left == pytest.approx(left * ramp * DT * TOP)


def test_ramp_is_one_of_time_not_of_calls():
    fine, coarse = mapper(), mapper()
    for _ in range(40):
        last = fine.update(keys("KeyW", "KeyD"), 0.005)
    same = coarse.update(keys("KeyW", "KeyD"), 0.2)
    assert (last.left, last.right) == pytest.approx((same.left, same.right))


def test_key_that_reverses_begins_at_rest():
    inputs = mapper()
    inputs.update(keys("KeyW"), 10.0)
    assert inputs.update(keys("KeyS"), DT).left == pytest.approx(-2.0 * DT * TOP)


def test_opposite_keys_cancel():
    every = keys("KeyW", "KeyS", "KeyA", "ArrowRight", "KeyQ", "KeyE", "KeyZ", "KeyC")
    assert mapper().update(every, 1.0) == REST


@pytest.mark.parametrize(
    ("code", "front", "rear"), [("KeyQ", 1, 0), ("KeyE", -1, 0), ("KeyZ", 0, 1), ("KeyC", 0, -1)]
)
def test_keys_turn_flippers(code, front, rear):
    assert mapper().update(keys(code), DT) == Command(0.0, 0.0, flippers(front, rear))


def test_inputs_add_up_and_are_clipped():
    both = Controls(
        axes=(0, -1, 0, -1), buttons=pad(RT).buttons, keys=frozenset({"KeyW", "KeyQ"}), touch=(0, -1, 0, -1)
    )
    assert mapper().update(both, 10.0) == Command(TOP, TOP, flippers(1, 1))


@pytest.mark.parametrize("stop", [keys("Space"), pad(B), pad(RT, B), None])
def test_emergency_stop_latches(stop):
    inputs, drive = mapper(), Controls(axes=(0, -1, 0, 0), buttons=pad(RT).buttons, keys=frozenset({"KeyF"}))
    assert inputs.update(drive, DT).left == TOP
    if stop is None:
        inputs.stop()
    else:
        assert inputs.update(stop, DT) == REST
    assert inputs.stopped
    for held in (drive, keys(), drive, touch(0, -1, 0, 0)):
        assert inputs.update(held, DT) == REST
    assert inputs.stopped


@pytest.mark.parametrize("release", [keys("Enter"), pad(START), None])
def test_nothing_moves_after_a_release_before_all_was_let_go(release):
    inputs, drive = mapper(), pad(RT, axes=(0, -1, 0, 0))
    inputs.stop()
    if release is None:
        inputs.release()
    else:
        inputs.update(pad(), DT)
        inputs.update(release, DT)
    assert not inputs.stopped
    inputs.stop()
    inputs.release()
    assert inputs.update(drive, DT) == inputs.update(keys("KeyW"), DT) == REST
    assert inputs.waits
    assert inputs.update(pad(), DT) == REST
    assert not inputs.waits
    assert inputs.update(drive, DT).left == TOP


@pytest.mark.parametrize(
    ("release", "stop"),
    [(keys("Enter"), keys("Enter", "Space")), (pad(START), pad(START, B)), (pad(START), None)],
)
def test_a_release_that_is_held_undoes_no_stop_before_it_is_pressed_anew(release, stop):
    inputs = mapper()
    inputs.update(release, DT)
    if stop is None:
        inputs.stop()
    else:
        inputs.update(stop, DT)
    for _ in range(3):
        inputs.update(release, DT)
        assert inputs.stopped
    inputs.update(keys(), DT)
    inputs.update(release, DT)
    assert not inputs.stopped


def test_what_is_held_from_the_first_moves_nothing_and_changes_no_mode():
    inputs = InputMapper(QUINCE)
    everything = Controls((0, -1, 0, 0), pad(RT, BACK).buttons, frozenset({"KeyW"}), (0, -1, 0, 0), True)
    assert inputs.update(everything, 1.0) == REST
    assert (inputs.waits, inputs.mode) == (True, "twist")
    assert inputs.update(keys("KeyW"), 1.0) == REST
    assert inputs.update(keys(), DT) == REST
    assert inputs.update(keys("KeyW"), 1.0).left == TOP


def test_stop_wins_over_release():
    inputs = mapper()
    inputs.update(keys("Space", "Enter"), DT)
    assert inputs.stopped


@pytest.mark.parametrize(("value", "effect"), [(0.1, 0), (0.2, 0), (0.6, 0.5), (1, 1), (-0.6, -0.5), (7, 1)])
def test_dead_zone_is_cut_out(value, effect):
    inputs = let_go(InputMapper(QUINCE, InputSettings(dead_zone=0.2)))
    assert inputs.update(pad(RT, axes=(0, value, 0, 0)), DT).left == pytest.approx(-effect * TOP)


def test_vehicle_without_flippers_has_none_in_its_commands():
    command = let_go(InputMapper(PACKBOT)).update(pad(RT, A, UP, axes=(0, -1, 0, -1)), DT)
    assert command == Command(2.6, 2.6, {})


def test_unknown_keys_and_buttons_do_nothing():
    assert mapper().update(Controls(buttons=(False,) * 40 + (True,), keys=frozenset({"KeyP"})), DT) == REST


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (
            lambda: Controls(axes=(0, math.nan, 0, 0)),
            "axes of the controls must be 4 finite numbers, got (0, nan, 0, 0)",
        ),
        (lambda: Controls(touch=(0, 0)), "touch of the controls must be 4 finite numbers, got (0, 0)"),
        (
            lambda: Controls(touch=(math.inf, 0, 0, 0)),
            "touch of the controls must be 4 finite numbers, got (inf, 0, 0, 0)",
        ),
        (lambda: Controls(buttons=(False,) * 65), "buttons must be at most 64, got 65"),
        (lambda: mapper().update(Controls(), math.nan), "dt [s] must be a finite number, got nan"),
        (lambda: mapper().update(Controls(), -0.1), "dt [s] must be at least 0, got -0.1"),
        (lambda: InputSettings(dead_zone=1.0), "dead zone must be in [0, 1), got 1.0"),
        (lambda: InputSettings(ramp=0.0), "ramp [1/s] must be above 0, got 0.0"),
        (lambda: InputSettings(ramp=-1.0), "ramp [1/s] must be above 0, got -1.0"),
        (lambda: InputSettings(turn=1.5), "turn must be in (0, 1], got 1.5"),
        (lambda: InputSettings(mode="tank"), "no mode 'tank'; there are: twist, belts"),
    ],
)
def test_what_makes_no_sense_is_refused(make, message):
    with pytest.raises((InvalidValueError, LookupError)) as error:
        make()
    assert str(error.value) == message


@given(
    st.tuples(*[st.floats(-9, 9)] * 4),
    st.frozensets(st.integers(0, 16)),
    st.frozensets(st.sampled_from([*KEYS])),
    st.tuples(*[st.floats(-9, 9)] * 4),
    st.booleans(),
    st.sampled_from([*STICKS]),
)
def test_whatever_is_held_stays_within_limits_and_letting_go_stops(
    axes, pressed, codes, sticks, finger, mode
):
    inputs = mapper(mode=mode)
    held = Controls(axes, tuple(i in pressed for i in range(17)), codes, sticks, finger)
    for dt in (DT, 10.0, DT):
        command = inputs.update(held, dt)
        assert max(abs(command.left), abs(command.right)) <= TOP
        assert all(abs(speed) <= 1.0 for speed in command.flipper_speeds.values())
        if inputs.stopped or inputs.waits or command.flatten:
            assert not any(command.flipper_speeds.values())
    assert inputs.update(Controls(axes), DT) == REST  # Sticks that are off their middle, and no dead-man.


def test_help_names_every_key_and_button():
    text = help_text()
    rows = [row for row in bindings() if row.device != "sticks"]
    assert sum(len(row.inputs) for row in rows) == len(KEYS) + len(BUTTONS)
    assert "keyboard  Q                      raise the front flippers" in text
    assert "flippers" not in help_text(flippers=False)
    assert len(text.splitlines()) == len(bindings())
