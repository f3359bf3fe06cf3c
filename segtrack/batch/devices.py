"""Devices on which a batch is stepped: CPU or GPU."""

from __future__ import annotations

from importlib.util import find_spec

from segtrack.batch.fleet import Fleet
from segtrack.errors import MissingPackageError, NotReadyError, UnknownNameError

DEVICES = ("cpu", "cuda")
"""Names of devices."""


def fleet_class(device: str) -> type[Fleet]:
    """Return the class of fleets for a device.

    Raises:
        UnknownNameError: There is no such device.
        MissingPackageError: A package for the device is not installed.
        NotReadyError: This machine has no such device.
    """
    if device not in DEVICES:
        raise UnknownNameError("device of a batch", device, DEVICES)
    if device == "cpu":
        return Fleet
    if find_spec("numba_cuda") is None:
        raise MissingPackageError('Batch(device="cuda")', "numba-cuda", "gpu")
    from numba import cuda

    if not cuda.is_available():
        reason = "numba-cuda finds no GPU of NVIDIA, or no driver of it; `numba -s` says what it finds"
        raise NotReadyError('make Batch(device="cuda")', reason)
    from segtrack.batch.gpu_fleet import GpuFleet

    return GpuFleet
