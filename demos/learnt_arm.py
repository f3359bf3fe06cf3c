"""A robot learns to touch a button with its arm: an example of own vehicle, task, actions and reward."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import typer
from numpy.typing import NDArray
from PIL import Image

from segtrack.cli import command
from segtrack.demos import Picture
from segtrack.envs import (
    OUTCOMES,
    PARTS,
    TERMS,
    ActionMapping,
    Environment,
    EpisodeCourse,
    Number,
    ObservationPart,
    Task,
    TaskView,
    Term,
    VectorEnvironment,
    straight,
)
from segtrack.terrain import Boxes, GroundBox

VEHICLE = Path(__file__).parent / "armed_packbot" / "armed_packbot.yaml"
SHOULDER = np.array([0.15, 0.0, 0.08])  # On the body [m].
ARM = 0.4  # Length of either half of the arm [m].
NEAR = 0.08  # Distance that counts as a touch [m].
HEIGHTS = (0.35, 0.5, 0.65, 0.8)  # Of buttons to learn with [m].
CANDIDATES, BEST = 24, 6


def missing(view: TaskView) -> NDArray[np.float64]:
    """Vectors from the arms' tips to the buttons at x = y = 0: x and z in the body frames (N, 2) [m]."""
    angles = np.cumsum(view.motion.joint_positions, axis=1)
    tips = ARM * np.stack([np.cos(angles).sum(axis=1), np.sin(angles).sum(axis=1)], axis=1)
    buttons = -view.motion.position
    buttons[:, 2] += view.parameter("height")
    return (view.in_body(buttons) - SHOULDER)[:, ::2] - tips


def bent(view: TaskView) -> NDArray[np.float64]:
    """Angles of shoulders and elbows relative to the middles of their ranges (N, 2) [rad]."""
    return view.motion.joint_positions - (1.3, -1.3)


class PressButton(Task):
    """Task to touch a button on a post."""

    name = "PressButton"
    parameters = {"height": Number(0.6, 0.3, 0.85, "m", "height of the button")}
    time_limit = 3.0

    def course(self, values: Any, reach: float, rng: np.random.Generator) -> EpisodeCourse:
        """Build the post behind the button."""
        post = GroundBox(x=0.1, y=0.0, length=0.1, width=0.1, height=values["height"] + 0.05)
        return EpisodeCourse(Boxes(boxes=(post,)), straight(-1.2, 0.0))

    def outcome(self, view: TaskView) -> NDArray[np.str_]:
        """Return success for a touch."""
        return np.where(np.linalg.norm(missing(view), axis=1) < NEAR, "success", "running")


class DriveAndReach(ActionMapping):
    """Action mapping to forward speed, and speeds of the arm's joints."""

    names = ("ahead", "shoulder", "elbow")

    def command(self, robots: Any, actions: NDArray[np.float64]) -> None:
        """Command a robot, or the vehicles of a batch."""
        ahead, shoulder, elbow = actions.T
        robots.set_belt_speed(0.5 * ahead, 0.5 * ahead)
        robots.set_joint_speeds(shoulder=1.5 * shoulder, elbow=1.5 * elbow)


OWN: dict[str, Any] = {
    "vehicle": VEHICLE,
    "actions": DriveAndReach(),
    "time_step": 0.004,
    "parts": {
        **dict.fromkeys(PARTS),  # Without any that are built in.
        "missing": ObservationPart("m", "body", ("x", "z"), 2.0, lambda view, setup: missing(view)),
        "bent": ObservationPart("rad", "joint", ("shoulder", "elbow"), 3.0, lambda view, setup: bent(view)),
    },
    "terms": {
        **dict.fromkeys(TERMS),
        "success": Term(1.0, "1 when the button is touched", TERMS["success"].value),
        "near": Term(
            1.0,
            "-(distance to the button [m]) a second",
            lambda view: -np.linalg.norm(missing(view), axis=1) * view.period,
        ),
    },
}


def act(weights: NDArray[np.float64], observations: NDArray[np.float32]) -> NDArray[np.float64]:
    """Actions (N, 3) of linear policies with weights (N, 3, 5)."""
    inputs = np.append(observations, np.ones_like(observations[:, :1]), axis=1)
    return np.tanh(np.einsum("nai,ni->na", weights, inputs))


def score(envs: VectorEnvironment, weights: NDArray[np.float64]) -> tuple[NDArray[np.float64], float]:
    """Mean returns over the heights of each candidate's weights (C, 3, 5), (C,), and the rate of touches."""
    heights = np.tile(HEIGHTS, len(weights))
    for height in HEIGHTS:
        observations, _ = envs.reset(options={"reset_mask": heights == height, "height": height})
    own = np.repeat(weights, len(HEIGHTS), axis=0)
    total, alive, touched = np.zeros(len(own)), np.ones(len(own), np.bool_), 0
    while alive.any():
        observations, rewards, terminations, truncations, infos = envs.step(act(own, observations))
        total += alive * rewards
        touched += int(np.count_nonzero(alive & infos["success"]))
        alive &= ~(terminations | truncations)
    return total.reshape(len(weights), -1).mean(axis=1), touched / len(own)


def learn(generations: int) -> NDArray[np.float64]:
    """Weights (3, 5) found by the cross-entropy method: candidates are sampled around the best ones."""
    rng = np.random.default_rng(1)
    mean, spread = np.zeros((3, 5)), np.full((3, 5), 1.5)
    envs = VectorEnvironment(PressButton(), CANDIDATES * len(HEIGHTS), **OWN)
    envs.reset(seed=0)
    for generation in range(1, generations + 1):
        weights = mean + spread * rng.standard_normal((CANDIDATES, 3, 5))
        returns, rate = score(envs, weights)
        best = weights[np.argsort(returns)[-BEST:]]
        mean, spread = best.mean(axis=0), best.std(axis=0) + 0.02
        print(f"generation {generation:2}: {rate:4.0%} touch the button, mean return {returns.mean():5.2f}")
    envs.close()
    return mean


def main(headless: bool = False, generations: int = 10, picture: Picture = None) -> None:
    """Learn with many robots in one batch, then try the policy in a single environment."""
    weights = learn(generations)
    mode = "rgb_array" if headless or picture is not None else "human"
    env = Environment(PressButton(), render_mode=mode, track_model="compliant", **OWN)
    for height in (0.4, 0.75, 0.55):
        observation, info = env.reset(seed=1, options={"height": height})
        while OUTCOMES[info["outcome"]] == "running":
            observation, *_, info = env.step(act(weights[None], observation[None])[0])
        print(f"button at {height:g} m: {OUTCOMES[info['outcome']]}")
    if picture is not None:
        Image.fromarray(env.render()).quantize(256, dither=Image.Dither.NONE).save(picture, optimize=True)
    env.close()


if __name__ == "__main__":
    typer.run(command(main))
