"""Formats that a vehicle can be exported to."""

from __future__ import annotations

from typing import Literal, get_args

Format = Literal["urdf", "mjcf", "sdf"]
FORMATS: tuple[Format, ...] = get_args(Format)
SUFFIXES: dict[Format, str] = {"urdf": ".urdf", "mjcf": ".xml", "sdf": ".sdf"}
FIRST_LINE = "<!-- Written by `segtrack export`, which overwrites it when called again. -->"
