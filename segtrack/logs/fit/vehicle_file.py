"""Vehicle file of a fit, with a calibration and a hash of all that was not fitted."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from xml.etree import ElementTree

import yaml

from segtrack.description import (
    Calibration,
    FittedLog,
    FittedParameter,
    VehicleDescription,
    file_hash,
    map_files,
)
from segtrack.errors import FileAccessError
from segtrack.files import content_hash, write_text
from segtrack.logs.fit.cases import LogFiles
from segtrack.logs.fit.result import Fit, FittedCase
from segtrack.logs.fit.unknowns import PARAMETERS, values_of, with_parameters


def unfitted_hash(vehicle: VehicleDescription, fitted: Mapping[str, float]) -> str:
    """SHA-256 of a description without name, source and calibration, defaults left out.

    Args:
        vehicle: The vehicle.
        fitted: Mapping[str, float] of what was fitted, by name; they take the place of the vehicle's own.

    Raises:
        FileAccessError: A file that it names cannot be read.
    """
    own = values_of(vehicle)
    same = with_parameters(vehicle, {name: value for name, value in fitted.items() if name in own})
    data = same.model_dump(mode="json", exclude_defaults=True, exclude={"name", "source", "calibration"})
    return content_hash(map_files(data, _content))


def _content(key: str, path: str) -> str:
    """Content of a URDF, or hash of that of another file."""
    if key != "urdf":
        return file_hash(Path(path))
    try:
        return ElementTree.canonicalize(from_file=path, strip_text=True)
    except OSError as error:
        raise FileAccessError("read", Path(path), error.strerror or str(error)) from None


_UNTOLD = LogFiles("none", "0" * 64)
"""Description of a log that was read from no file."""


def calibrated(found: Fit, provenance: Mapping[str, str]) -> VehicleDescription:
    """The written vehicle with its calibration.

    Logs of earlier fits, and what was fitted to them and is not fitted again, stay in it. A fit of clocks
    alone, or one that identified nothing, leaves the vehicle as it was.

    Args:
        found: A fit; of one that was interrupted no uncertainty is known.
        provenance: Fields of `Calibration`: `date`, `version`, `vehicle`, `vehicle_sha256`, `engine` and
            `track_model`.
    """
    own = _parameters(found)
    if not own:
        return found.written
    earlier = found.start.calibration
    parameters = {**({} if earlier is None else earlier.parameters), **own}
    logs = {case.case.name: _log(case) for case in found.cases if not case.case.held_out}
    calibration = Calibration(
        **provenance,
        parameters=parameters,
        others={name: x for name, x in values_of(found.written).items() if name not in parameters},
        unfitted_sha256=unfitted_hash(
            found.written, {name: parameter.value for name, parameter in parameters.items()}
        ),
        misfit=found.misfit,
        logs=logs if earlier is None else _with_earlier(logs, earlier.logs),
        held_out={case.case.name: _log(case) for case in found.cases if case.case.held_out},
        interrupted=not found.finished,
    )
    fitted = "fitted by segtrack log fit" if found.finished else "of an interrupted segtrack log fit"
    source = f"{found.start.source}; {', '.join(own)} {fitted} to {', '.join(logs)}"
    return found.written.model_copy(update={"source": source, "calibration": calibration})


def _parameters(found: Fit) -> dict[str, FittedParameter]:
    """Fitted parameters of the vehicle that are written, by name."""
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
        )
        for estimate in found.estimates
        if estimate.unknown.log is None and estimate.is_bounded
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


def write_vehicle(path: Path, vehicle: VehicleDescription, remarks: Sequence[str] = ()) -> Path:
    """Write a vehicle file that `load_vehicle` reads; returns its path.

    What the description leaves to its defaults is left out. Files that it names are relative to it. Remarks
    stand at its beginning as comments.

    Raises:
        FileAccessError: The file cannot be written.
    """
    data = vehicle.model_dump(mode="json", exclude_unset=True)
    # What was fitted to is named, not referred to: it need not lie where it lay.
    named = {key: part for key, part in data.items() if key != "calibration"}
    data |= map_files(named, partial(_relative, path.parent.resolve()))
    text = yaml.safe_dump(data, sort_keys=False, width=110, allow_unicode=True)
    return write_text(path, "".join(f"# {remark}\n" for remark in remarks) + text)


def _log(case: FittedCase) -> FittedLog:
    files = case.case.files or _UNTOLD
    return FittedLog(
        file=files.log,
        sha256=files.log_sha256,
        terrain=files.terrain,
        terrain_sha256=files.terrain_sha256,
        score=case.score_written.score,
        score_before=case.score_before.score,
    )


def _relative(folder: Path, key: str, path: str) -> str:
    """A path relative to a folder, where that can be."""
    try:
        return Path(os.path.relpath(path, folder)).as_posix()
    except ValueError:  # Another drive, on Windows.
        return path
