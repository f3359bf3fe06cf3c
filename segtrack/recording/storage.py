"""Storage of recordings: rounding of numbers, and compression of closed files."""

from __future__ import annotations

import os
import signal
import struct
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO

import numpy as np
import zstandard
from mcap.exceptions import McapError
from mcap.reader import make_reader
from mcap.records import Attachment, Channel, Chunk, Header, McapRecord, Message, Metadata, Schema
from mcap.stream_reader import StreamReader, breakup_chunk
from mcap.writer import CompressionType, IndexType, Writer
from numpy.typing import NDArray

from segtrack.errors import FileAccessError, RecordingFileError, SegtrackError
from segtrack.files import replacing
from segtrack.rendering import VehicleLook

Numbers = NDArray[np.float64]
Rounding = Callable[[Numbers, Numbers], tuple[Numbers, Numbers]]

_CHUNK = 2**18
"""Messages that are compressed together [B]; larger chunks save 1 %."""
_FRAME = 7
MAX_RECORD = 2**28
"""Larger records are damage [B]."""
MAX_CHUNK = 2**24
"""Larger chunks are damage, once they are uncompressed [B]."""
MAX_GROWTH = 50
"""Largest size of all chunks over that of the file up to there, and a chunk more: a drive grows fourfold."""


def rounding(look: VehicleLook, reading_names: Sequence[str]) -> Rounding:
    """Return a function that rounds flat poses (..., n) and readings (..., m) as they are stored.

    The body's frame and the angles of flippers are stored to the bit: a drive that differs in anything
    differs in them soon. All else is rounded to float32, which is 6e-8 of each number.
    """
    exact_pose = np.zeros(look.size, dtype=bool)
    exact_pose[:_FRAME] = True
    exact_readings = np.array([name.endswith(" angle [rad]") for name in reading_names], dtype=bool)

    def rounded(pose: Numbers, readings: Numbers) -> tuple[Numbers, Numbers]:
        return _rounded(pose, exact_pose), _rounded(readings, exact_readings)

    return rounded


def _rounded(values: Numbers, exact: NDArray[np.bool_]) -> Numbers:
    return np.where(exact, values, values.astype(np.float32).astype(np.float64))


def read_records(file: BinaryIO) -> Iterator[McapRecord]:
    """Yield the records of a file, including those in chunks; checksums are verified.

    Raises:
        McapError: It is no MCAP file, or damaged; a chunk that would grow to too much is damage, too.
    """
    total = 0
    reader = StreamReader(file, emit_chunks=True, record_size_limit=MAX_RECORD, validate_crcs=True)
    for record in reader.records:
        if isinstance(record, Chunk):
            size = record.uncompressed_size
            if record.compression == "zstd":
                size = max(size, _frame_size(record.data))
            elif record.compression != "":
                raise McapError(f"a chunk is compressed by {record.compression!r}")
            if size > MAX_CHUNK:
                raise McapError(f"a chunk has {size} bytes")
            total += size
            if total > MAX_GROWTH * (file.tell() + MAX_CHUNK):
                raise McapError(f"chunks grow to {total} bytes")
            try:
                yield from breakup_chunk(record, validate_crc=True)
            except zstandard.ZstdError as error:
                raise McapError(str(error)) from None
        else:
            yield record


def _frame_size(data: bytes) -> int:
    try:
        return zstandard.frame_content_size(data)
    except zstandard.ZstdError as error:
        raise McapError(str(error)) from None


def compact(path: Path) -> None:
    """Compress a closed recording in chunks of messages; the file is replaced at the end.

    Raises:
        RecordingFileError: It is none, or is not whole; it stays as it is.
        FileAccessError: It cannot be read, or replaced.
    """
    try:
        with path.open("rb") as file, replacing(path) as temporary, temporary.open("wb") as out:
            _copy(read_records(file), out)
            path.stat()  # It may have been deleted meanwhile.
    except OSError as error:
        raise FileAccessError("compress", path, error.strerror or str(error)) from None
    except (McapError, EOFError, KeyError, ValueError, struct.error) as error:
        raise RecordingFileError(path.name, f"is not whole: {error}") from None


def is_uncompressed(path: Path) -> bool:
    """Return whether a recording was closed but not compressed since; reads only its end.

    Raises:
        OSError: It cannot be read.
    """
    try:
        with path.open("rb") as file:
            summary = make_reader(file).get_summary()
    except (McapError, EOFError, KeyError, ValueError, struct.error):
        return False
    return summary is not None and summary.statistics is not None and summary.statistics.chunk_count == 0


def compact_gently(path: Path) -> None:
    """Compress a recording in a process of low priority, unless it is damaged."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # The one that began it waits for it.
    os.nice(19)
    with suppress(SegtrackError):
        compact(path)


def _copy(records: Iterator[McapRecord], out: BinaryIO) -> None:
    """Copy all records; messages go to compressed chunks."""
    writer = Writer(
        out,
        chunk_size=_CHUNK,
        compression=CompressionType.ZSTD,
        index_types=IndexType.ATTACHMENT | IndexType.METADATA | IndexType.CHUNK,
        enable_data_crcs=True,
    )
    schemas: dict[int, int] = {}
    channels: dict[int, int] = {}
    for record in records:
        match record:
            case Header(profile=profile, library=library):
                writer.start(profile, library)
            case Schema(id=number) if number not in schemas:
                schemas[number] = writer.register_schema(record.name, record.encoding, record.data)
            case Channel(id=number, topic=topic, message_encoding=encoding) if number not in channels:
                channels[number] = writer.register_channel(topic, encoding, schemas[record.schema_id])
            case Metadata(name=name, metadata=texts):
                writer.add_metadata(name, texts)
            case Attachment(create_time=made, log_time=time, name=name, media_type=kind, data=data):
                writer.add_attachment(made, time, name, kind, data)
            case Message(channel_id=number, log_time=time, data=data, publish_time=wall):
                writer.add_message(channels[number], time, data, wall)
    writer.finish()
