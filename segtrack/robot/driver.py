"""Driver who holds a speed and a straight line by throttle, brake and steering."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from segtrack.errors import InvalidValueError, finite, finite_vector
from segtrack.robot.robot import Robot


class PidController:
    """Proportional, integral and derivative of an error, with an output in [-1, 1].

    The output is Kp e + Ki integral of e + Kd de/dt. The integral takes the mean of an interval's two errors,
    the derivative is their difference over it, 0 in the first one. While the output is at a limit, the
    integral does not grow beyond it (conditional integration), so that nothing has to be unwound later.

    Attributes:
        gains: Kp, Ki [1/s] and Kd [s], each per unit of the error.
    """

    def __init__(self, gains: Sequence[float], name: str = "gains") -> None:
        """Begin with no integral.

        Args:
            gains: Kp, Ki [1/s] and Kd [s].
            name: Name of the gains, for messages.

        Raises:
            InvalidValueError: Not three finite numbers, or a negative one.
        """
        self.gains = finite_vector(name, gains, 3)
        if min(self.gains) < 0:
            raise InvalidValueError(name, "at least 0 each", gains)
        self._integral, self._error = 0.0, math.nan

    def update(self, error: float, interval: float) -> float:
        """Return the output for an error, and what it was an interval [s] ago."""
        proportional, integral, derivative = self.gains
        before = error if math.isnan(self._error) else self._error
        self._error = error
        direct = proportional * error + derivative * (error - before) / interval
        grown = self._integral + integral * interval * (before + error) / 2
        if abs(direct + grown) <= 1.0 or (direct + grown) * (grown - self._integral) <= 0.0:
            self._integral = grown
        return min(max(direct + self._integral, -1.0), 1.0)


class LineDriver:
    """A driver of a robot with two sides, asked once a control step.

    Of the speed's controller a positive output is throttle, a negative one brake. The other controller's
    output steers, left positive: its error is the way to the left from a point ahead of the body frame's
    origin to the line. The inner side gets (1 - abs(steering)) of the throttle, and is braked by
    `steering_brake` x abs(steering) besides. These are laws of Project Chrono: of `ChPathFollowerDriver`, and
    of its drivelines `ChSimpleTrackDriveline` (no steering brake) and `ChTrackDrivelineBDS` (one of 1).

    It is no part of a world: a copy of it belongs beside a world's snapshot.

    Attributes:
        speed: Forward speed to hold [m/s]; may be set anew at any time.
    """

    def __init__(
        self,
        speed: float,
        *,
        line: Sequence[Sequence[float]] | None = None,
        speed_gains: Sequence[float] = (0.6, 0.3, 0.0),
        steering_gains: Sequence[float] = (0.5, 0.0, 0.0),
        look_ahead: float = 5.0,
        steering_brake: float = 1.0,
    ) -> None:
        """Take a seat; the gains are those of Chrono's demonstration of an M113.

        Args:
            speed: Forward speed to hold [m/s], at least 0.
            line: Two points (x, y) in the world, from the first to the second of which it follows a straight
                line without end [m]; if not given it does not steer.
            speed_gains: Kp [s/m], Ki [1/m] and Kd [s^2/m] from a speed [m/s].
            steering_gains: Kp [1/m], Ki [1/(m s)] and Kd [s/m] from an offset [m].
            look_ahead: Distance of the point ahead [m].
            steering_brake: Brake of the inner side at full steering, in [0, 1]. Without one it can hardly
                steer while it needs no throttle.

        Raises:
            InvalidValueError: A number that is not finite or out of range, or points that coincide.
        """
        self.speed = finite("speed of a driver [m/s]", speed)
        given = {"speed of a driver [m/s]": speed, "look_ahead of a driver [m]": look_ahead}
        given["steering_brake of a driver"] = steering_brake
        for name, value in given.items():
            if finite(name, value) < 0:
                raise InvalidValueError(name, "at least 0", value)
        self._look_ahead, self._steering_brake = look_ahead, min(steering_brake, 1.0)
        self._speed_controller = PidController(speed_gains, "speed_gains of a driver")
        self._steering_controller = PidController(steering_gains, "steering_gains of a driver")
        self._line: tuple[np.ndarray, np.ndarray] | None = None
        if line is not None:
            points = [np.array(finite_vector("point of a driver's line [m]", point, 2)) for point in line]
            if len(points) != 2 or not np.any(points[1] - points[0]):
                raise InvalidValueError("line of a driver [m]", "two points apart", line)
            along = points[1] - points[0]
            self._line = points[0], along / np.hypot(*along)

    def drive(self, robot: Robot, interval: float) -> None:
        """Command a robot's throttles and brakes for the next interval [s], until it is asked again.

        Raises:
            InvalidValueError: The interval is not positive and finite.
        """
        if finite("interval of a driver [s]", interval) <= 0:
            raise InvalidValueError("interval of a driver [s]", "greater than 0", interval)
        body = robot.body_motion()
        ahead = body.rotation[:, 0]
        wanted = self._speed_controller.update(self.speed - float(body.velocity @ ahead), interval)
        throttle, brake, steering = max(wanted, 0.0), max(-wanted, 0.0), 0.0
        if self._line is not None:
            begin, along = self._line
            x, y = (body.position + self._look_ahead * ahead)[:2] - begin
            steering = self._steering_controller.update(float(along[1] * x - along[0] * y), interval)
        inner = throttle * (1.0 - abs(steering)), brake + self._steering_brake * abs(steering)
        left, right = ((throttle, brake), inner) if steering < 0 else (inner, (throttle, brake))
        robot.set_throttle(left[0], right[0], left_brake=left[1], right_brake=right[1])
