"""Records in a row, as MCAP and ROS 1 have them: what is common to reading them, damaged places included."""

from __future__ import annotations

from segtrack.logs.reading.bags.content import FileContent


class Batch:
    """Messages that have been found and not been handed on yet.

    Attributes:
        numbers: Of their connections.
        times: Of reception [ns].
        starts: First byte of each.
        stops: The byte behind the last one of each.
    """

    def __init__(self, data: memoryview) -> None:
        """No message of these bytes has been found yet."""
        self.numbers: list[int] = []
        self.times: list[int] = []
        self.starts: list[int] = []
        self.stops: list[int] = []
        self._data = data

    def __len__(self) -> int:
        """How many messages."""
        return len(self.numbers)

    def pop(self) -> None:
        """Drop the last message."""
        for column in (self.numbers, self.times, self.starts, self.stops):
            column.pop()

    def take(self, count: int) -> tuple[list[int], list[int], list[memoryview]]:
        """Take the first messages: numbers, times, and the messages themselves."""
        spans = zip(self.starts[:count], self.stops[:count], strict=True)
        taken = self.numbers[:count], self.times[:count], [self._data[start:stop] for start, stop in spans]
        for column in (self.numbers, self.times, self.starts, self.stops):
            del column[:count]
        return taken


class RecordReader:
    """A walk through the records of a file.

    Attributes:
        content: That takes the messages, and what is damaged.
        count: Of the messages.
        last_time: Of the last message [ns]; None if there has been none.
        is_cut: Whether the file ends in the middle of a record.
    """

    def __init__(self, content: FileContent) -> None:
        """No record has been read yet."""
        self.content = content
        self.count = 0
        self.last_time: int | None = None
        self.is_cut = False

    def hand_on(self, batch: Batch, kept: int = 0) -> None:
        """Hand messages on, but for so many of the last ones."""
        count = len(batch) - kept
        if count > 0:
            self.count += count
            self.last_time = batch.times[count - 1]
            self.content.take(*batch.take(count))

    def resume(self, at: int, before: int, following: int | None, end: int, where: str) -> int:
        """Where to go on from a damaged record, which is said.

        Args:
            at: Where the record begins.
            before: Where the one before it begins.
            following: Where the next sound record begins that has been found behind `before`; None if there
                is none.
            end: Of the bytes.
            where: They are; empty for the file.
        """
        behind = f" of {where}" if where else ""
        if following is not None:
            first = before if following < at else at  # Then the length of the one before was damaged.
            self.content.damage.append(f"bytes {first} to {following}{behind} are no records")
            return following
        if where:
            self.content.damage.append(f"{where} has no more records from its byte {at} on")
        else:
            self.is_cut = True
            text = f"it ends in the middle of a record, which begins at byte {at} of {end}"
            self.content.damage.append(text)
        return end

    def say_of_chunk(self, where: str, there: int, size: int, count: int) -> None:
        """Say that a chunk is not whole."""
        self.content.damage.append(
            f"{where} is not whole: {there} of its {size} bytes could be read, {count} messages"
        )
