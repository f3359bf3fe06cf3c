"""A fitted vehicle as a vehicle file, which says what it was fitted to."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

from segtrack.description import VehicleDescription
from segtrack.description.calibration import Calibration, FittedLog, FittedParameter
from segtrack.errors import NotReadyError
from segtrack.files import write_text
from segtrack.logs.fit.parameters import values_of
from segtrack.logs.fit.result import Fit, FittedCase
from segtrack.logs.fit.simulated.cases import LogFiles

_UNTOLD = LogFiles("none", "0" * 64)
"""Of a log that was read from no file."""
_PATHS = ("urdf", "file")
"""Keys whose values are paths of files."""


def calibrated(found: Fit, provenance: Mapping[str, str]) -> VehicleDescription:
    """The fitted vehicle with its calibration.

    Args:
        found: A fit that went through all stages.
        provenance: What `Calibration` has of it: `date`, `version`, `vehicle`, `vehicle_sha256`, `engine` and
            `track_model`.

    Raises:
        NotReadyError: The fit was interrupted.
    """
    if not found.finished:
        raise NotReadyError("calibrate a vehicle", "the fit was interrupted")
    own = [estimate for estimate in found.estimates if estimate.unknown.log is None]
    logs = {case.case.name: _log(case) for case in found.cases if not case.case.held_out}
    calibration = Calibration(
        **provenance,
        parameters={
            estimate.name: FittedParameter(
                value=estimate.value,
                unit=estimate.unknown.unit,
                std=estimate.std,
                interval=estimate.interval,
                identified=estimate.status in ("identified", "of this model alone"),
            )
            for estimate in own
        },
        others={name: x for name, x in values_of(found.vehicle).items() if name not in found.values},
        misfit=found.misfit,
        logs=logs,
        held_out={case.case.name: _log(case) for case in found.cases if case.case.held_out},
    )
    names = ", ".join(estimate.name for estimate in own)
    source = f"{found.start.source}; {names} fitted by segtrack log fit to {', '.join(logs)}"
    return found.vehicle.model_copy(update={"source": source, "calibration": calibration})


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
