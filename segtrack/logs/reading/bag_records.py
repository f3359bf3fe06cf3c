"""Walk through the records of a bag's file and of its chunks, with resumption behind damage."""

from __future__ import annotations

from abc import ABC, abstractmethod

from segtrack.logs.reading.bag_content import BATCH, BagFileContent

Message = tuple[int, int, int, int]
"""Message in the bytes of a file: connection, receive time [ns], first byte, and the one behind the last."""


class RecordReader(ABC):
    """A walk through the records of a file and of its chunks.

    Attributes:
        content: Receiver of messages and of sentences on damage.
        count: Number of messages.
        last_time: Receive time of the last message [ns]; None before the first.
        is_cut: True if the file ends in the middle of a record.
        ended: True once the last record of the file has been met.
    """

    def __init__(self, content: BagFileContent) -> None:
        """No record has been read yet."""
        self.content = content
        self.count = 0
        self.last_time: int | None = None
        self.is_cut = self.ended = False

    @abstractmethod
    def message_at(self, data: memoryview, at: int) -> Message | None:
        """Return the message whose record begins at a byte, quickly; None if there is none."""

    @abstractmethod
    def take_record(self, data: memoryview, at: int, where: str, batch: list[Message]) -> int | None:
        """Take a record of any other kind; returns where it ends, None if it is not sound."""

    @abstractmethod
    def find_next(self, data: memoryview, start: int) -> int | None:
        """Return the first byte of the next sound record; None if there is none."""

    def records(self, data: memoryview, at: int, where: str, resumes: bool) -> None:
        """Read records.

        Args:
            data: Bytes of the file, or of a chunk.
            at: First byte of the records.
            where: Name of the chunk, for messages; empty for the file.
            resumes: True to go on behind a damaged place.
        """
        batch: list[Message] = []
        end, before, after_message = len(data), at, False
        while at < end and not (self.ended and not where):
            message = self.message_at(data, at)
            if message is not None and message[3] <= end:
                batch.append(message)
                stop, after_message = message[3], True
            else:
                taken = self.take_record(data, at, where, batch)
                if taken is None:
                    following = self.find_next(data, before + 1) if resumes else None
                    if following is not None and following < at and after_message and batch:
                        batch.pop()  # Its length was damaged, and led beyond sound records.
                    taken = self.resume(at, before, following, end, where)
                stop, after_message = taken, False
            if len(batch) > BATCH:
                self.hand_on(data, batch, kept=int(after_message))
            before, at = at, stop
        self.hand_on(data, batch)

    def hand_on(self, data: memoryview, batch: list[Message], kept: int = 0) -> None:
        """Hand messages on, but for so many of the last ones."""
        count = len(batch) - kept
        if count > 0:
            numbers, times, starts, stops = zip(*batch[:count], strict=True)
            del batch[:count]
            self.count += count
            self.last_time = times[-1]
            spans = zip(starts, stops, strict=True)
            self.content.take(numbers, times, [data[start:stop] for start, stop in spans])

    def resume(self, at: int, before: int, following: int | None, end: int, where: str) -> int:
        """Add a damaged record to the damage; return the byte to go on from.

        Args:
            at: First byte of the record.
            before: First byte of the record before it.
            following: First byte of the next sound record behind `before`; None if there is none.
            end: Number of bytes.
            where: Name of the chunk; empty for the file.
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

    def add_partial_chunk(self, where: str, there: int, size: int, count: int) -> None:
        """Add a chunk that is not whole to the damage."""
        self.content.damage.append(
            f"{where} is not whole: {there} of its {size} bytes could be read, {count} messages"
        )
