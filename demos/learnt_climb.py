"""A learnt policy climbs a step that fixed flippers cannot."""

from __future__ import annotations

import typer
from PIL import Image

from segtrack.cli import command
from segtrack.demos import Picture
from segtrack.envs import Environment
from segtrack.envs.learning import make_policy


def main(headless: bool = False, height: float = 0.52, picture: Picture = None) -> None:
    """Drive one episode of StepClimb with the bundled policy."""
    mode = "rgb_array" if picture is not None else None if headless else "human"
    env = Environment("StepClimb", render_mode=mode, height=height)
    policy = make_policy("ppo", env)
    observation, info = env.reset(seed=0)
    over, steps = False, 0
    while not over:
        observation, _, terminated, truncated, info = env.step(policy.act(observation))
        over, steps = terminated or truncated, steps + 1
        if picture is not None and steps == 70:
            image = Image.fromarray(env.render()).quantize(256, dither=Image.Dither.NONE)
            image.save(picture, optimize=True)
        if steps % 20 == 0 or over:
            print(f"{steps / 20:4.1f} s  {info['progress']:.2f} m along the course, slip {info['slip']:5.2f}")
    print("climbed" if info["success"] else "not climbed", f"{height:g} m with {info['energy']:.0f} J")
    env.close()


if __name__ == "__main__":
    typer.run(command(main))
