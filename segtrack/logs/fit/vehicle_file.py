"""A fitted vehicle as a vehicle file, which says what it was fitted to."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

from segtrack.description import VehicleDescription
from segtrack.description.calibration import Calibration, FittedLog, FittedParameter
from segtrack.files import write_text
from segtrack.logs.fit.parameters import PARAMETERS, values_of
from segtrack.logs.fit.result import Fit, FittedCase
from segtrack.logs.fit.simulated.cases import LogFiles
from segtrack.logs.fit.unfitted import unfitted_hash

_UNTOLD = LogFiles("none", "0" * 64)
"""Of a log that was read from no file."""
_PATHS = ("urdf", "file")
"""Keys whose values are paths of files."""


def calibrated(found: Fit, provenance: Mapping[str, str]) -> VehicleDescription:
    """The fitted vehicle with its calibration.

    Logs of earlier fits, and what was fitted to them and is not fitted again, stay in it. A fit of clocks
    alone leaves the vehicle as it was.

    Args:
        found: A fit; of one that was interrupted no uncertainty is known.
        provenance: What `Calibration` has of it: `date`, `version`, `vehicle`, `vehicle_sha256`, `engine` and
            `track_model`.
    """
    own = _parameters(found)
    if not own:
        return found.vehicle
    earlier = found.start.calibration
    parameters = {**({} if earlier is None else earlier.parameters), **own}
    logs = {case.case.name: _log(case) for case in found.cases if not case.case.held_out}
    calibration = Calibration(
        **provenance,
        parameters=parameters,
        others={name: x for name, x in values_of(found.vehicle).items() if name not in parameters},
        unfitted_sha256=unfitted_hash(
            found.vehicle, {name: parameter.value for name, parameter in parameters.items()}
        ),
        misfit=found.misfit,
        logs=logs if earlier is None else _with_earlier(logs, earlier.logs),
        held_out={case.case.name: _log(case) for case in found.cases if case.case.held_out},
        interrupted=not found.finished,
    )
    fitted = "fitted by segtrack log fit" if found.finished else "of an interrupted segtrack log fit"
    source = f"{found.start.source}; {', '.join(own)} {fitted} to {', '.join(logs)}"
    return found.vehicle.model_copy(update={"source": source, "calibration": calibration})


def _parameters(found: Fit) -> dict[str, FittedParameter]:
    """What was fitted of the vehicle, by name."""
    if not found.finished:
        return {
            name: FittedParameter(
                value=x, unit=PARAMETERS[name].unit, std=None, interval=None, identified=False
            )
            for name, x in found.values.items()
            if name in PARAMETERS
        }
    return {
        estimate.name: FittedParameter(
            value=estimate.value,
            unit=estimate.unknown.unit,
            std=estimate.std,
            interval=estimate.interval,
            identified=estimate.is_bounded,
        )
        for estimate in found.estimates
        if estimate.unknown.log is None
    }


def _with_earlier(logs: Mapping[str, FittedLog], earlier: Mapping[str, FittedLog]) -> dict[str, FittedLog]:
    """Logs of a fit, then those of earlier ones that are not among them, under names of their own."""
    found = dict(logs)
    known = {(log.sha256, log.terrain_sha256) for log in logs.values()}
    for name, log in earlier.items():
        if (log.sha256, log.terrain_sha256) not in known:
            names = (name, *(f"{name} ({i})" for i in range(2, len(found) + 3)))
            found[next(each for each in names if each not in found)] = log
    return found


def write_vehicle(path: Path, vehicle: VehicleDescription) -> Path:
    """Write a vehicle file that `load_vehicle` reads; returns its path.

    What the description leaves to its defaults is left out. Files that it names are relative to it.

    Raises:
        FileAccessError: The file cannot be written.
    """
    data = vehicle.model_dump(mode="json", exclude_unset=True)
    # What was fitted to is named, not referred to: it need not lie where it lay.
    data |= {key: _relative(part, path.parent) for key, part in data.items() if key != "calibration"}
    text = yaml.safe_dump(data, sort_keys=False, width=110, allow_unicode=True)
    return write_text(path, text)


def _log(case: FittedCase) -> FittedLog:
    files = case.case.files or _UNTOLD
    return FittedLog(
        file=files.log,
        sha256=files.log_sha256,
        terrain=files.terrain,
        terrain_sha256=files.terrain_sha256,
        score=case.score.score,
        score_before=case.score_before.score,
    )


def _relative(part: Any, folder: Path) -> Any:
    """A part of a file with the paths in it relative to a folder, where that can be."""
    match part:
        case dict():
            return {key: _value(key, value, folder) for key, value in part.items()}
        case list():
            return [_relative(inner, folder) for inner in part]
        case _:
            return part


def _value(key: str, value: Any, folder: Path) -> Any:
    is_path = key in _PATHS and isinstance(value, str)
    return _path(value, folder) if is_path else _relative(value, folder)


def _path(given: str, folder: Path) -> str:
    try:
        return Path(os.path.relpath(given, folder.resolve())).as_posix()
    except ValueError:  # Another drive, on Windows.
        return given
