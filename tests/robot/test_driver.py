"""A driver against linear systems in closed form, and on a bulldozer."""

import math

import numpy as np
import pytest
from scipy.linalg import expm

from segtrack.engine import FrameMotion
from segtrack.errors import InvalidValueError
from segtrack.robot import LineDriver, PidController
from segtrack.terrain import Plane
from segtrack.world import World

MASS, FORCE, DRAG = 1000.0, 4000.0, 50.0
"""A point mass [kg] with a drive [N] and a resistance [N s/m]."""
GAINS = 0.6, 0.3, 0.1


def driven_speed(interval, duration, wanted=1.0):
    """Speed of the mass from 0, its controller asked at each interval and its force constant in between."""
    controller, speed, decay = PidController(GAINS), 0.0, math.exp(-DRAG / MASS * interval)
    for _ in range(round(duration / interval)):
        force = FORCE * controller.update(wanted - speed, interval)
        speed = speed * decay + force / DRAG * (1 - decay)
    return speed


def speed_in_closed_form(duration, wanted=1.0):
    """Speed of the mass under a controller without delay, by the matrix exponential of (error, integral).

    m v' = F (Kp e + Ki i + Kd e') - c v with e' = -v', i' = e; the derivative of the constant wanted speed
    is none, as it has none in the first interval.
    """
    proportional, integral, derivative = GAINS
    inertia = MASS + FORCE * derivative
    system = np.array([
        [-(FORCE * proportional + DRAG) / inertia, -FORCE * integral / inertia, DRAG * wanted / inertia],
        [1.0, 0.0, 0.0],
        [0.0, 0.0, 0.0],
    ])  # fmt: skip
    return wanted - (expm(system * duration) @ np.array([wanted, 0.0, 1.0]))[0]


@pytest.mark.parametrize("duration", [0.5, 1.0, 3.0, 20.0])
def test_a_speed_is_held_as_the_linear_system_says_at_any_interval(duration):
    exact = speed_in_closed_form(duration)
    errors = [abs(driven_speed(interval, duration) - exact) for interval in (0.02, 0.01, 0.005)]
    assert errors[0] < 0.02 and errors[2] < errors[0] / 2 + 1e-9, "of first order in the interval"
    assert abs(speed_in_closed_form(60.0) - 1.0) < 1e-3, "the integral leaves no error"


def test_an_integral_does_not_wind_up_behind_a_limit():
    """A step of 20 m/s holds the throttle open for many seconds; the speed then ends without overshoot.

    What is left when the output leaves its limit is at most an integral of 1, Ki e having been held.
    """
    controller, speed, fastest, interval = PidController((0.6, 0.3, 0.0)), 0.0, 0.0, 0.01
    for _ in range(4000):
        speed += interval / MASS * (FORCE * controller.update(20.0 - speed, interval) - DRAG * speed)
        fastest = max(fastest, speed)
    assert speed == pytest.approx(20.0, abs=1e-3)
    assert fastest < 20.0 * 1.02


def test_a_derivative_is_that_of_the_error():
    controller = PidController((0.0, 0.0, 0.25))
    outputs = [controller.update(0.3 * 0.1 * k, 0.1) for k in range(4)]
    assert outputs == pytest.approx([0.0, 0.075, 0.075, 0.075])


def test_an_integral_goes_back_while_the_output_is_at_the_other_limit():
    """The derivative has the output at 1 once; the integral falls by the mean errors all the same."""
    controller = PidController((0.0, 1.0, 1.0))
    outputs = [controller.update(error, 0.1) for error in (-0.5, -0.1, -0.1)]
    assert outputs == pytest.approx([-0.05, 1.0, -0.05 - 0.03 - 0.01])


class Cart:
    """A vehicle whose speed is constant, and whose yaw rate is the difference of its throttles."""

    def __init__(self, offset, speed, yaw_rate):
        self.x, self.y, self.yaw, self.speed, self.yaw_rate = 0.0, offset, 0.0, speed, yaw_rate
        self.pedals = (0.0, 0.0, 0.0, 0.0)

    def body_motion(self):
        c, s = math.cos(self.yaw), math.sin(self.yaw)
        rotation = np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])
        at, velocity = np.array([self.x, self.y, 0.0]), self.speed * rotation[:, 0]
        return FrameMotion(at, (0.0, 0.0, 0.0, 1.0), rotation, at, velocity, np.zeros(3))

    def set_throttle(self, left, right, *, left_brake, right_brake):
        self.pedals = left, right, left_brake, right_brake

    def move(self, interval):
        left, right, *_ = self.pedals
        self.yaw += interval * self.yaw_rate * (right - left)
        self.x += interval * self.speed * math.cos(self.yaw)
        self.y += interval * self.speed * math.sin(self.yaw)


@pytest.mark.parametrize("interval", [0.02, 0.005])
def test_a_line_is_come_to_as_the_linear_system_says(interval):
    """y' = v yaw, yaw' = w Kp (0 - y - L yaw): with the throttle open, which the wanted speed sees to."""
    speed, rate, gain, ahead, offset = 5.0, 0.8, 0.2, 8.0, 0.5
    cart = Cart(offset, speed, rate)
    driver = LineDriver(100.0, line=((0, 0), (10, 0)), steering_gains=(gain, 0, 0), look_ahead=ahead)
    system = np.array([[0.0, speed], [-rate * gain, -rate * gain * ahead]])
    advance, expected = expm(system * interval), np.array((offset, 0.0))
    for _ in range(round(6.0 / interval)):
        driver.drive(cart, interval)
        cart.move(interval)
        expected = advance @ expected
        assert abs(cart.y - expected[0]) < 0.4 * interval + 2e-3 and abs(cart.yaw - expected[1]) < 0.01
    assert abs(cart.y) < 0.03 * offset


@pytest.mark.parametrize(("offset", "wanted", "pedals"), [
    (1.0, 100.0, (1.0, 0.5, 0.0, 0.5)),
    (-1.0, 100.0, (0.5, 1.0, 0.5, 0.0)),
    (1.0, 0.0, (0.0, 0.0, 1.0, 1.5)),
    (0.0, 5.5, (0.3, 0.3, 0.0, 0.0)),
])  # fmt: skip
def test_the_inner_side_has_less_throttle_and_more_brake(offset, wanted, pedals):
    cart = Cart(offset, 5.0, 0.0)
    LineDriver(wanted, line=((0, 0), (1, 0)), speed_gains=(0.6, 0, 0)).drive(cart, 0.02)
    assert cart.pedals == pytest.approx(pedals)


def test_a_line_has_a_direction_and_none_is_none_to_steer_to():
    cart = Cart(1.0, 5.0, 0.0)
    LineDriver(100.0, line=((1, 0), (0, 0)), steering_gains=(0.2, 0, 0)).drive(cart, 0.02)
    assert cart.pedals == pytest.approx((0.8, 1.0, 0.2, 0.0)), "the line is to the left of who goes its way"
    LineDriver(100.0).drive(cart, 0.02)
    assert cart.pedals == (1.0, 1.0, 0.0, 0.0)


def test_a_bulldozer_keeps_speed_and_line_whatever_the_interval():
    places = []
    for interval in (0.02, 0.01):
        world = World(engine="native", time_step=2e-3)
        world.add_terrain(Plane())
        robot = world.add_vehicle("bulldozer", track_model="surface", position=(0.0, 0.2))
        world.settle()
        robot.set_velocity(0.5)
        driver = LineDriver(
            0.5,
            line=((0, 0), (1, 0)),
            speed_gains=(4.0, 2.0, 0.0),
            steering_gains=(20.0, 5.0, 0.0),
            look_ahead=1.0,
        )
        for _ in range(round(8.0 / interval)):
            driver.drive(robot, interval)
            world.run(interval)
        state = robot.state
        assert state.velocity[0] == pytest.approx(0.5, abs=0.02)
        assert abs(state.position[1]) < 0.02 and abs(state.yaw) < 0.02
        places.append(state.position)
    np.testing.assert_allclose(*places, atol=0.05)


@pytest.mark.parametrize(("make", "message"), [
    (lambda: LineDriver(-1.0), "speed of a driver [m/s] must be at least 0, got -1.0"),
    (lambda: LineDriver(math.nan), "speed of a driver [m/s] must be a finite number, got nan"),
    (lambda: LineDriver(1.0, look_ahead=-1.0), "look_ahead of a driver [m] must be at least 0, got -1.0"),
    (lambda: LineDriver(1.0, steering_brake=-1.0), "steering_brake of a driver must be at least 0, got -1.0"),
    (lambda: LineDriver(1.0, speed_gains=(1.0, -2.0, 0.0)),
     "speed_gains of a driver must be at least 0 each, got (1.0, -2.0, 0.0)"),
    (lambda: LineDriver(1.0, steering_gains=(1.0, 2.0)),
     "steering_gains of a driver must be 3 finite numbers, got (1.0, 2.0)"),
    (lambda: LineDriver(1.0, line=((0, 0), (0, 0))),
     "line of a driver [m] must be two points apart, got ((0, 0), (0, 0))"),
    (lambda: LineDriver(1.0, line=((0, 0),)), "line of a driver [m] must be two points apart, got ((0, 0),)"),
    (lambda: LineDriver(1.0).drive(Cart(0, 1, 0), 0.0),
     "interval of a driver [s] must be greater than 0, got 0.0"),
])  # fmt: skip
def test_what_a_driver_refuses(make, message):
    with pytest.raises(InvalidValueError) as error:
        make()
    assert str(error.value) == message
