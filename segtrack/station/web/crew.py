"""Crew of a station: its clients, their seats and their links."""

from __future__ import annotations

from collections.abc import Collection

from segtrack.errors import NotReadyError, UnknownNameError
from segtrack.scoring import check_operator
from segtrack.station import protocol
from segtrack.station.protocol import LinkRequest
from segtrack.station.web.client import Client
from segtrack.station.web.seats import Seats


class Crew:
    """Clients of a station, and what each may do.

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
        """All clients."""
        return self._clients.values()

    @property
    def driver(self) -> Client | None:
        """The client that drives."""
        return self._clients.get(self.seats.driver or 0)

    @property
    def who_drives(self) -> str:
        """Name of the driver, in words."""
        return f"{self.driver_name or 'nobody'} drives"

    @property
    def driver_name(self) -> str | None:
        """Name of the driver; None if nobody drives."""
        return None if self.driver is None else self.driver.name

    @property
    def operator(self) -> str:
        """Name of whoever drives.

        Raises:
            NotReadyError: Nobody does.
        """
        if self.driver is None:
            raise NotReadyError("begin a trial", "nobody drives")
        return self.driver.name

    @property
    def driver_but_instructors(self) -> str | None:
        """Name of whoever drives, unless it is an instructor or nobody."""
        if self.driver is None or self.seats.role(self.driver.id) == "instructor":
            return None
        return self.driver.name

    @property
    def drivers_link(self) -> LinkRequest | None:
        """Degradation of the driver's link."""
        return None if self.driver is None else self.driver.link

    def join(self, hello: protocol.Hello) -> Client:
        """Take in a client, over the link of whoever has its name.

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
        """Let a client go; returns True if it drove."""
        drove = client.id == self.seats.driver
        del self._clients[client.id]
        self.seats.leave(client.id)
        return drove

    def change_seat(self, client: Client, action: str, to: int | None) -> bool:
        """Take, give or release the driver's seat; returns True if another client drives, or none.

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
        """Degrade the link of a client, and of all of its name, or mend it, as an instructor asks.

        Args:
            client: Client that asks.
            message: Client whose link it is, and the degradation.
            tried: Name of whoever's trial is on.

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
        """Check that a client may set the emergency stop, or release it.

        Raises:
            NotReadyError: It may not.
        """
        if not on:
            self.require_command(client, "release the emergency stop")
        elif not self.seats.may_stop(client.id):
            raise NotReadyError("stop", "an onlooker looks on")

    def require_command(self, client: Client, what: str) -> None:
        """Check that a client drives or instructs.

        Raises:
            NotReadyError: It does not.
        """
        if not self.seats.commands(client.id):
            raise NotReadyError(what, "only the driver and an instructor can")

    def require_instructor(self, client: Client, what: str) -> None:
        """Check that a client instructs.

        Raises:
            NotReadyError: It does not.
        """
        if self.seats.role(client.id) != "instructor":
            raise NotReadyError(what, "only an instructor can")
