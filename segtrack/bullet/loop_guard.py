"""Whether somebody else's loop calls `before_step`, without which a robot's drives stand still."""

from __future__ import annotations

from collections.abc import Sequence

import pybullet

from segtrack.bullet.client import connection_required
from segtrack.errors import NotReadyError


class LoopGuard:
    """Finds a loop that steps the simulation and has forgotten `before_step`.

    A contact presses only once a step has been solved, whatever was placed, reset or restored before; a
    vehicle that has contacts which press has been stepped.

    Attributes:
        is_prepared: Whether `before_step` has been called; then there is nothing left to find.
    """

    def __init__(self, client: int, bodies: Sequence[int], name: str) -> None:
        """Guard a vehicle that has just been loaded, by PyBullet's ids of its bodies."""
        self._client, self._bodies, self._name = client, bodies, name
        self.is_prepared = False

    def check(self) -> None:
        """Refuse to go on with a vehicle whose loop forgets it.

        Raises:
            NotReadyError: The simulation has taken steps, none of them with `before_step`.
        """
        if self.is_prepared:
            return
        with connection_required(self._client, f"read {self._name}", self._bodies[0]):
            contacts = [
                contact
                for body in self._bodies
                for contact in pybullet.getContactPoints(bodyA=body, physicsClientId=self._client)
            ]
        if any(contact[9] > 0 for contact in contacts):
            reason = (
                "the simulation has taken steps without robot.before_step(), which belongs before each one"
            )
            raise NotReadyError(f"use {self._name}", reason)
