"""MuJoCo's control callback, which puts belts into its equations; one for the whole program."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import mujoco

from segtrack.errors import InvalidValueError
from segtrack.mujoco.vehicle import MujocoVehicle


class _Callback:
    """The control callback: the user's own first, then the belts of the vehicles of its data."""

    def __init__(self) -> None:
        self.previous: Callable[[Any, Any], object] | None = None
        self._vehicles: dict[int, list[MujocoVehicle]] = {}
        self._warned: set[int] = set()

    def __call__(self, model: Any, data: Any) -> None:
        if self.previous is not None:
            self.previous(model, data)
        vehicles = self._vehicles.get(id(data))
        if vehicles is not None:
            put_into(model, data, vehicles)
        elif id(data) not in self._warned and any(
            vehicle.model is model for each in self._vehicles.values() for vehicle in each
        ):
            self._warned.add(id(data))
            logging.getLogger("segtrack").warning(
                "segtrack: a vehicle has no belts in MjData that it was not attached to"
            )

    def add(self, vehicle: MujocoVehicle) -> None:
        """Let a vehicle's belts act in each step of its data.

        Raises:
            InvalidValueError: The vehicle's body has belts already.
        """
        root = int(vehicle.binding.bodies[0])
        own = self._vehicles.setdefault(id(vehicle.data), [])
        if any(int(other.binding.bodies[0]) == root for other in own):
            name = vehicle.model.body(root).name
            raise InvalidValueError("body of the MuJoCo model", "one without belts", name)
        own.append(vehicle)
        installed = mujoco.get_mjcb_control()
        if installed is not self:
            self.previous = installed
            mujoco.set_mjcb_control(self)

    def remove(self, vehicle: MujocoVehicle) -> None:
        """Let a vehicle's belts act no more; with the last one the user's own callback is back."""
        own = self._vehicles.get(id(vehicle.data), [])
        if vehicle in own:
            own.remove(vehicle)
        if not own:
            self._vehicles.pop(id(vehicle.data), None)
        if not self._vehicles and mujoco.get_mjcb_control() is self:
            mujoco.set_mjcb_control(self.previous)
            self.previous = None


CALLBACK = _Callback()
"""The one there is."""


@contextmanager
def without_callback() -> Iterator[None]:
    """Leave the control callback out: no model is compiled beside one, and a world's steps are its own."""
    installed = mujoco.get_mjcb_control()
    if installed is None:
        yield
        return
    mujoco.set_mjcb_control(None)
    try:
        yield
    finally:
        mujoco.set_mjcb_control(installed)


def put_into(model: Any, data: Any, vehicles: list[MujocoVehicle]) -> None:
    """Put the belts of vehicles into MuJoCo's equations, between `mj_step1` and `mj_step2`.

    Raises:
        DivergedError: A vehicle is no longer finite, or absurdly fast.
        NotReadyError: MuJoCo has taken steps without the belts.
    """
    if model.nu:
        mujoco.mj_fwdActuation(model, data)
    for vehicle in vehicles:
        vehicle.prepare()
    mujoco.mj_factorM(model, data)
