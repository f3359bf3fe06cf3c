"""What every part of a vehicle description shares: frozen, strict about numbers, unknown keys refused."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationInfo

from segtrack.errors import Problem

Number = Annotated[float, Field(strict=True, allow_inf_nan=False)]
Positive = Annotated[float, Field(strict=True, gt=0, allow_inf_nan=False)]
NonNegative = Annotated[float, Field(strict=True, ge=0, allow_inf_nan=False)]
Count = Annotated[int, Field(strict=True, ge=1)]
Vector = tuple[Number, Number, Number]
Name = Annotated[str, Field(strict=True, pattern=r"^[A-Za-z][A-Za-z0-9_]*$")]


def _resolve(file: str, info: ValidationInfo) -> str:
    """Make a path absolute, taking it relative to the vehicle file's folder."""
    path = Path((info.context or {}).get("folder", "."), Path(file).expanduser()).resolve()
    if not path.is_file():
        raise ValueError(f"must be an existing file, got {file!r} (looked for {path})")
    return str(path)


ExistingFile = Annotated[str, Field(strict=True), AfterValidator(_resolve)]


class MistakesError(ValueError):
    """What a part's keys get wrong together, each with its path from that part."""

    def __init__(self, problems: Iterable[Problem]) -> None:
        """List the problems."""
        self.problems = tuple(problems)
        super().__init__("; ".join(map(str, self.problems)))


class Spec(BaseModel):
    """A part of a vehicle file."""

    model_config = ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=True)


def not_zero(value: float) -> float:
    """The value.

    Raises:
        ValueError: It is zero (pydantic reports it with its path).
    """
    if value == 0:
        raise ValueError(f"must not be 0, got {value!r}")
    return value


def exactly_one(spec: Spec, names: tuple[str, ...]) -> Any:
    """The one of `names` that the part gives.

    Raises:
        ValueError: None or several of them are given (pydantic reports it with its path).
    """
    given = [name for name in names if getattr(spec, name) is not None]
    if len(given) != 1:
        raise ValueError(f"must have exactly one of {', '.join(names)}, got {', '.join(given) or 'none'}")
    return getattr(spec, given[0])
