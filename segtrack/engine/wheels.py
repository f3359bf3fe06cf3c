"""The track models `wheels:N`: how many wheels a track has."""

from __future__ import annotations

import re

from segtrack.errors import InvalidValueError


def wheel_count(track_model: str) -> int:
    """N of the name of a track model `wheels:N`.

    Raises:
        InvalidValueError: It is no number, or less than 2.
    """
    count = int(track_model[7:]) if re.fullmatch("wheels:[0-9]{1,4000}", track_model) else 0
    if count < 2:
        raise InvalidValueError("track model wheels:N", "at least 2 wheels", track_model)
    return count
