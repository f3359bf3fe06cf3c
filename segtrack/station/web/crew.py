"""Clients of a station, their roles and their links."""

from __future__ import annotations

from collections.abc import Collection

from segtrack.courses import check_operator
from segtrack.errors import NotReadyError, UnknownNameError
from segtrack.station import protocol
from segtrack.station.protocol import LinkRequest
from segtrack.station.web.client import Client
from segtrack.station.web.seats import Seats


class Crew:
    """Clients of a station, their roles and their links.

    Attributes:
        seats: Roles of the clients.
    """

    def __init__(self, instructors: Collection[str]) -> None:
        """Begin without clients; see `Seats`."""
        self.seats = Seats(instructors)
        self._clients: dict[int, Client] = {}
        self._numbers = 0
        self._links: dict[str, LinkRequest] = {}

    @property
    def clients(self) -> Collection[Client]:
        """All connected clients."""
        return self._clients.values()

    @property
    def driver(self) -> Client | None:
        """Client that drives; None without one."""
        return self._clients.get(self.seats.driver or 0)

    @property
    def who_drives(self) -> str:
        """Sentence with the driver's name."""
        return f"{self.driver_name or 'nobody'} drives"

    @property
    def driver_name(self) -> str | None:
        """Name of the driver; None if nobody drives."""
        return None if self.driver is None else self.driver.name

    @property
    def operator(self) -> str:
        """Name of the driver, or an error if nobody drives.

        Raises:
            NotReadyError: Nobody does.
        """
        if self.driver is None:
            raise NotReadyError("begin a trial", "nobody drives")
        return self.driver.name

    @property
    def driver_but_instructors(self) -> str | None:
        """Name of the driver; None if nobody drives, or an instructor."""
        if self.driver is None or self.seats.role(self.driver.id) == "instructor":
            return None
        return self.driver.name

    @property
    def drivers_link(self) -> LinkRequest | None:
        """Degradation of the driver's link; None without any."""
        return None if self.driver is None else self.driver.link

    def join(self, hello: protocol.Hello) -> Client:
        """Add a client; a degraded link of its name is kept.

        Raises:
            InvalidValueError: The name is none.
            NotReadyError: Too many look on, or the name may not instruct.
        """
        name = check_operator(hello.name)
        self._numbers += 1
        client = Client(self._numbers, name)
        self.seats.join(client.id, name, hello.role)
        self._clients[client.id] = client
        if self.seats.role(client.id) != "instructor":
            client.degrade(self._links.get(name))
        return client

    def leave(self, client: Client) -> bool:
        """Remove a client; returns True if it drove."""
        drove = client.id == self.seats.driver
        del self._clients[client.id]
        self.seats.leave(client.id)
        return drove

    def change_seat(self, client: Client, action: str, to: int | None) -> bool:
        """Take, give or release the driver's seat; returns True if the driver changed.

        Raises:
            NotReadyError: The client may not.
        """
        before = self.seats.driver
        match action:
            case "take":
                self.seats.take(client.id)
            case "give":
                self.seats.give(client.id, to)
            case "release":
                self.seats.release(client.id)
        return self.seats.driver != before

    def degrade(self, client: Client, message: LinkRequest, tried: str | None) -> None:
        """Degrade or restore the link of a client and of all of its name, for an instructor.

        Args:
            client: Client that asks (an instructor).
            message: Client whose link is meant, and the degradation.
            tried: Name of the operator on trial; None without a trial.

        Raises:
            NotReadyError: No instructor asks, the link is an instructor's, or it is a condition of the trial.
            UnknownNameError: There is no such client.
        """
        self.require_instructor(client, "degrade a link")
        if message.client not in self._clients:
            raise UnknownNameError("client", message.client, map(str, self._clients))
        if self.seats.role(message.client) == "instructor":
            raise NotReadyError("degrade a link", "an instructor's is never degraded")
        name = self._clients[message.client].name
        if name == tried:
            raise NotReadyError(f"change the link of {name}", "it is a condition of the trial that is on")
        self._links[name] = message
        if {message.video, message.telemetry, message.command} == {protocol.LinkQuality()}:
            del self._links[name]
        for other in self.clients:
            if other.name == name and self.seats.role(other.id) != "instructor":
                other.degrade(self._links.get(name))

    def require_stop(self, client: Client, on: bool) -> None:
        """Raise an error unless a client may set or release the emergency stop.

        Raises:
            NotReadyError: It may not.
        """
        if not on:
            self.require_command(client, "release the emergency stop")
        elif not self.seats.may_stop(client.id):
            raise NotReadyError("stop", "an onlooker looks on")

    def require_command(self, client: Client, what: str) -> None:
        """Raise an error unless a client drives or instructs.

        Raises:
            NotReadyError: It does not.
        """
        if not self.seats.commands(client.id):
            raise NotReadyError(what, "only the driver and an instructor can")

    def require_instructor(self, client: Client, what: str) -> None:
        """Raise an error unless a client instructs.

        Raises:
            NotReadyError: It does not.
        """
        if self.seats.role(client.id) != "instructor":
            raise NotReadyError(what, "only an instructor can")
