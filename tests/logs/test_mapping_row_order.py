"""Rows that come late, put in order of the clock that is used."""

from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose

from segtrack.logs import Channel, Log
from segtrack.logs.mapping import map_log, parse_mapping

MAPPING = """
sources: {/imu: {sort: true, clock: CLOCK}}
quantities:
  pitch: {channel: /imu.pitch, unit: rad, positive: nose up}
  yaw_rate: {channel: /imu.rate, unit: rad/s}
"""


def imu_log(order):
    """Messages of a device with a clock of its own, up to 15 ms late, in an order (n,)."""
    at = 0.01 * np.arange(400.0)
    late = 0.005 + 0.015 * np.random.default_rng(1).random(len(at))
    values = {"/imu.pitch": np.sin(at), "/imu.rate": np.cos(3 * at)}
    channels = {
        name: Channel(name, (1000 + at + late)[order], own[order], source="/imu", stamps=(5 + at)[order])
        for name, own in values.items()
    }
    return Log(Path("drive.mcap"), "mcap", channels)


@pytest.mark.parametrize("clock", ["header", "receive"])
def test_rows_that_come_late_are_the_motion_of_rows_in_order(clock):
    mapping = parse_mapping(MAPPING.replace("CLOCK", clock))
    order = np.arange(400)
    order[100:103], order[250:252] = (102, 100, 101), (251, 250)
    mixed, even = (map_log(imu_log(rows), mapping).motion for rows in (order, np.arange(400)))
    times = np.linspace(0.1, 3.8, 50)
    for key in ("pitch", "yaw_rate"):
        assert_allclose(mixed.signals[key].at(times), even.signals[key].at(times), atol=1e-3)
