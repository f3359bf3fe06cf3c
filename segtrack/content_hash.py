"""SHA-256 of what a file says, whatever its layout, comments and order of keys."""

from __future__ import annotations

import hashlib
import json
from typing import Any


def content_hash(data: Any) -> str:
    """SHA-256 of parsed YAML or JSON, in hexadecimal digits; numbers count to nine digits."""
    text = json.dumps(_plain(data), sort_keys=True, separators=(",", ":"), default=str)
    return hashlib.sha256(text.encode()).hexdigest()


def _plain(data: Any) -> Any:
    match data:
        case dict():
            return {str(key): _plain(value) for key, value in data.items()}
        case list() | tuple():
            return [_plain(value) for value in data]
        case int() | float() if not isinstance(data, bool):
            return float(f"{data:.9g}") + 0.0
        case _:
            return data
