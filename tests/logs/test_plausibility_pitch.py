"""Accelerometers beside a pitch that is all that is known of the attitude."""

from pathlib import Path

import numpy as np
import pytest

from segtrack.geometry import GRAVITY
from segtrack.logs import Channel, Log
from segtrack.logs.mapping import check_plausibility, map_log, parse_mapping

MAPPING = """
quantities:
  pitch: {channel: pitch, unit: rad, positive: nose up}
  specific_force: {channels: [fx, fy, fz], unit: m/s^2}
"""


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_gravity_pulls_a_nose_that_is_up_backwards(sign):
    times = 0.02 * np.arange(3000.0)
    pitch = np.radians(20.0) * np.sin(0.2 * times)
    values = {
        "pitch": sign * pitch,
        "fx": GRAVITY * np.sin(pitch),
        "fy": 0.0 * pitch,
        "fz": GRAVITY * np.cos(pitch),
    }
    channels = {name: Channel(name, times, own, source="drive.csv") for name, own in values.items()}
    mapped = map_log(Log(Path("drive.csv"), "csv", channels), parse_mapping(MAPPING))
    against = [finding.seen.name for finding in check_plausibility(mapped).findings]
    assert against == ([] if sign > 0 else ["accelerometer against attitude"])
