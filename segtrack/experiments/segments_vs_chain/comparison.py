"""What both models did, and how it compares."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from segtrack.experiments.okada.table_4 import Table4
from segtrack.experiments.traction import Pull, Slide, SteadyDrive

VEHICLE = "packbot"
Model = Literal["segments", "chain"]
MODELS: tuple[Model, Model] = ("segments", "chain")


@dataclass(frozen=True)
class Scenes:
    """What one track model did; `hill` is the slope that is driven up."""

    flat: SteadyDrive
    hill: SteadyDrive
    slide: Slide
    pulls: tuple[Pull, ...]
    climbs: Table4


@dataclass(frozen=True)
class Line:
    """One quantity as both models have it.

    Attributes:
        scene: Where it was measured.
        quantity: What, with its unit in brackets.
        segments: Of the segments.
        chain: Of the link chain.
        reference: The closed form, or what was published; None if there is neither.
        tolerance: Values nearer than this agree; None for words, which agree if they are equal.
        why: What the values come from.
    """

    scene: str
    quantity: str
    segments: float | str
    chain: float | str
    reference: float | str | None
    tolerance: float | None
    why: str

    @property
    def values(self) -> dict[Model, float | str]:
        """By track model."""
        return {"segments": self.segments, "chain": self.chain}

    @property
    def difference(self) -> float | None:
        """Chain less segments; None for words."""
        if isinstance(self.chain, str) or isinstance(self.segments, str):
            return None
        return self.chain - self.segments

    @property
    def agree(self) -> bool:
        """Whether the models agree with one another."""
        return self._near(self.chain, self.segments)

    @property
    def off_reference(self) -> tuple[Model, ...]:
        """The models that do not agree with the reference."""
        if self.reference is None:
            return ()
        return tuple(model for model, value in self.values.items() if not self._near(value, self.reference))

    def _near(self, a: float | str, b: float | str) -> bool:
        if isinstance(a, str) or isinstance(b, str) or self.tolerance is None:
            return a == b
        return abs(a - b) <= self.tolerance

    def summary(self) -> dict[str, object]:
        """As plain values with the names that JSON has."""
        return {
            **vars(self),
            "difference": self.difference,
            "agree": self.agree,
            "off_reference": list(self.off_reference),
        }


@dataclass(frozen=True)
class SegmentsVsChain:
    """Both models in all scenes.

    Attributes:
        friction: Of the tracks on flat ground, slope and hitch.
        scenes: By track model.
        lines: The comparison.
    """

    friction: float
    scenes: Mapping[Model, Scenes]
    lines: tuple[Line, ...]

    @property
    def speed_ratio(self) -> float:
        """Real-time factor of the chain over that of the segments, on the flat."""
        return self.scenes["chain"].flat.real_time_factor / self.scenes["segments"].flat.real_time_factor

    @property
    def same_outcomes(self) -> int:
        """In how many cases of Table IV both models end alike."""
        pairs = zip(*(self.scenes[model].climbs.cases for model in MODELS), strict=True)
        return sum(a.climb.success == b.climb.success for a, b in pairs)

    def summary(self) -> dict[str, object]:
        """As plain values with the names that JSON has."""
        factors: dict[str, float] = {model: self.scenes[model].flat.real_time_factor for model in MODELS}
        return {
            "vehicle": VEHICLE,
            "friction": self.friction,
            "lines": [line.summary() for line in self.lines],
            "agree": sum(line.agree for line in self.lines),
            "real_time_factor": factors | {"ratio": self.speed_ratio},
            "table_4": {model: self.scenes[model].climbs.summary() for model in MODELS},
            "same_outcomes": self.same_outcomes,
        }
