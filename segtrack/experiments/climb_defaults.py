"""Angles at which flippers stand in a climb; the help of commands names them before anything is loaded."""

FRONT_FLIPPERS_DEG = 45.0
"""Front flippers stand at this angle unless told otherwise [deg]."""
REAR_FLIPPERS_DEG = 5.0
"""Rear flippers stand at this angle unless told otherwise [deg]. Okada et al. 2020 do not give theirs."""
