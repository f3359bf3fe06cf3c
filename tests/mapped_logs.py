"""Logs that tests of mappings make and map."""

from pathlib import Path

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from segtrack.errors import MappingFileError
from segtrack.logs import Channel, Log
from segtrack.logs.mapping import map_log, parse_mapping

TIMES = np.arange(100.0, 110.0, 0.05)
COUNT = len(TIMES)


def channel(name, values, unit="", times=TIMES, source="log.csv", stamps=None):
    return Channel(name, times, np.asarray(values, dtype=float), unit, source, stamps)


def log_of(*channels, path="log.csv"):
    return Log(Path(path), "csv", {each.name: each for each in channels})


def mapped(log, quantities, more=""):
    return map_log(log, parse_mapping(f"{more}\nquantities:\n{quantities}", "m.yaml"))


def refused(log, quantities, more=""):
    with pytest.raises(MappingFileError) as error:
        mapped(log, quantities, more)
    return str(error.value)


def constant(value, width=None):
    return np.full(COUNT if width is None else (COUNT, width), float(value))


def backwards():
    times = TIMES.copy()
    times[120:] -= 0.35
    times[150:] -= 0.2
    return times


def with_run(length, first=60):
    values = constant(1.0)
    values[first : first + length] = np.nan
    return values


def swaying(times):
    return Rotation.from_euler(
        "ZYX", np.stack([0.4 * np.sin(0.8 * times + 0.05 * times**2), 0 * times, 0 * times], 1)
    )
