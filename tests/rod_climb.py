"""A climb in closed form: a rod of length L that drives up a step, without slip, without thickness.

Its middle is the body frame's origin; its weight acts `ahead` of that. While its nose slides up the wall, the
nose's height is what the belt travels; once it is over the edge, the way from the tail to the edge becomes
shorter by what the belt travels, until the weight is over the edge; then it falls like a cosine.
"""

import math
from dataclasses import dataclass

import numpy as np

from segtrack.logs import Motion, Signal


@dataclass(frozen=True)
class RodClimb:
    """Lengths [m], speed [m/s], times [s]; the step's face is at x = 0."""

    height: float = 0.2
    length: float = 0.6
    ahead: float = 0.05
    speed: float = 0.1
    gap: float = 0.2
    fall: float = 0.5
    after: float = 2.0

    @property
    def touch(self):
        return self.gap / self.speed

    @property
    def over_the_edge(self):
        return self.touch + self.height / self.speed

    @property
    def tipping(self):
        return self.over_the_edge + (self.length / 2 - self.ahead) / self.speed

    @property
    def level(self):
        return self.tipping + self.fall

    @property
    def peak(self):
        return math.asin(self.height / (self.length / 2 + self.ahead))

    @property
    def begin_of(self):
        """When each phase begins, by the definitions of `segtrack.logs.compare`."""
        lift = self.touch + self.length * math.sin(0.1 * self.peak) / self.speed

        def fallen(level):  # (1 + cos(pi part)) / 2 = level
            return self.tipping + self.fall * math.acos(2 * level - 1) / math.pi

        return {
            "approach": 0.0,
            "nose lift": lift,
            "pivot": self.over_the_edge,
            "crest": fallen(0.9),
            "settling": fallen(0.1),
        }

    def pitch(self, t):
        lifting = np.arcsin(np.clip(self.speed * (t - self.touch) / self.length, 0.0, 1.0))
        way = self.length - self.speed * (t - self.over_the_edge)
        pivoting = np.arcsin(np.clip(self.height / np.maximum(way, 1e-9), 0.0, 1.0))
        falling = self.peak * (1 + np.cos(np.pi * np.clip((t - self.tipping) / self.fall, 0, 1))) / 2
        parts = [t < self.touch, t < self.over_the_edge, t < self.tipping]
        return np.select(parts, [0.0 * t, lifting, pivoting], falling)

    def position(self, t):
        pitch, half = self.pitch(t), self.length / 2
        before = np.minimum(t, self.touch) * self.speed - self.gap - half
        past = half - self.length + self.speed * (t - self.over_the_edge)  # Of the middle, beyond the edge.
        x = np.select(
            [t < self.touch, t < self.over_the_edge, t < self.tipping, t < self.level],
            [before, -half * np.cos(pitch), past * np.cos(pitch), -self.ahead * np.cos(pitch)],
            self.speed * (t - self.level) - self.ahead,
        )
        z = np.select(
            [t < self.touch, t < self.over_the_edge, t < self.tipping],
            [0.0 * t, half * np.sin(pitch), self.height + past * np.sin(pitch)],
            self.height - self.ahead * np.sin(pitch),
        )
        return np.stack([x, 0.0 * t, z], axis=1)

    def motion(self, rate=50.0, noise=0.0, seed=0, name="rod", **more):
        t = np.arange(0.0, self.level + self.after, 1.0 / rate)
        draw = np.random.default_rng(seed)
        belts = {
            f"belt_speed.{side}": Signal(t, np.full(len(t), self.speed), 0.0) for side in ("left", "right")
        }
        pitch = Signal(t, self.pitch(t) + noise * draw.standard_normal(len(t)), noise)
        yaw = Signal(t, np.zeros(len(t)), 0.0)
        position = Signal(t, self.position(t), 0.0)
        return Motion(name, belts | {"pitch": pitch, "yaw": yaw, "position": position} | more)
