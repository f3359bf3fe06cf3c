"""What there is of compressed bytes, whole or not."""

from __future__ import annotations

import bz2
from typing import Any

import lz4.frame
import zstandard

_STEP = 512
"""Bytes that are unpacked at a time where not all can be."""


def unpack(data: bytes | memoryview, compression: str) -> tuple[bytes | memoryview, bool]:
    """Unpack bytes.

    Args:
        data: Compressed.
        compression: By which: `zstd`, `lz4` or `bz2`; `none` or empty for none.

    Returns:
        What there is, and whether that is all.

    Raises:
        ValueError: No such compression is known.
    """
    if compression in ("", "none"):
        return data, True
    makers: dict[str, Any] = {
        "zstd": lambda: zstandard.ZstdDecompressor().decompressobj(),
        "lz4": lz4.frame.LZ4FrameDecompressor,
        "bz2": bz2.BZ2Decompressor,
    }
    if compression not in makers:
        raise ValueError(compression)
    stream = makers[compression]()
    try:
        whole = stream.decompress(data)
        if stream.eof:
            return whole, True
        return whole, False
    except (RuntimeError, ValueError, OSError, EOFError, MemoryError, zstandard.ZstdError):
        return _beginning(makers[compression](), bytes(data)), False


def _beginning(stream: Any, data: bytes) -> bytes:
    """All that comes out before the first error: a block is checked before any of it comes out."""
    parts = []
    try:
        for start in range(0, len(data), _STEP):
            parts.append(stream.decompress(data[start : start + _STEP]))
    except (RuntimeError, ValueError, OSError, EOFError, MemoryError, zstandard.ZstdError):
        pass
    return b"".join(parts)
