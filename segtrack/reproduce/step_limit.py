"""`segtrack reproduce step-limit`: the highest step that Quince climbs: by statics, search and a policy.

From the nominal start, at each height: an open-loop search, of which a success proves that the height can be
climbed; and the policy that comes with segtrack. What the search finds at 4 ms counts if it succeeds at 1 ms,
too. Beside them stands what slow motion can do, with grousers that hold on the step's edge, and with smooth
belts.
"""

from __future__ import annotations

import math
from contextlib import closing
from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np
import typer
from matplotlib.figure import Figure
from rich.table import Table

from segtrack.description import load_vehicle
from segtrack.envs import VectorEnvironment
from segtrack.envs.learning import ActionPlan, make_policy, search_plan
from segtrack.errors import InvalidValueError
from segtrack.experiments import StepStatics, without_grousers
from segtrack.report import Outcome, label_axes, new_figure
from segtrack.reproduce.registry import MOST_ROBOTS, Session, parse_numbers

HEIGHTS = (0.36, 0.40, 0.44, 0.48, 0.52, 0.56, 0.60)
"""Heights of the steps [m]."""
PRESETS = ("fast", "exact")
"""Presets of the native engine: of the search, and of its repetition."""
REPEATED = 16
"""Number of a generation's fastest successes that are repeated."""
TASK = "StepClimb"
_TOLERANCE = 0.01
"""Of a limit by statics, about what its grid is good for [m]."""


@dataclass(frozen=True, eq=False)
class HeightResult:
    """Results at one height.

    Attributes:
        height: Height of the step [m].
        plan: Best plan of the search.
        policy: True if the policy succeeds, by preset.
    """

    height: float
    plan: ActionPlan
    policy: dict[str, bool]

    def summary(self) -> dict[str, Any]:
        """Return a JSON-serialisable dict."""
        plan = self.plan
        return {
            "height": self.height,
            "search": plan.outcome,
            "generations": plan.generations,
            "duration": plan.duration,
            "repeated": plan.repeated,
            "policy": self.policy,
            "actions": plan.actions.tolist(),
        }


def greatest(results: list[HeightResult], succeeds: list[bool]) -> float | None:
    """Greatest of the heights that were climbed [m]; None if none was."""
    climbed = [at.height for at, good in zip(results, succeeds, strict=True) if good]
    return max(climbed, default=None)


def policy_succeeds(height: float, policy: str, preset: str) -> bool:
    """True if a policy climbs a step of a height [m] from the nominal start."""
    with closing(VectorEnvironment(TASK, 1, preset=preset, height=height)) as env:
        actor = make_policy(policy, env)
        observations, _ = env.reset(seed=0)
        while True:
            observations, _, terminated, truncated, info = env.step(actor.act(observations))
            if (terminated | truncated).any():
                return bool(info["success"][0])


def try_height(
    height: float, policy: str, robots: int, generations: int, seed: int, session: Session
) -> HeightResult:
    """Search for a plan, repeat it, and try the policy at one height [m]."""
    search, repetition = PRESETS
    with (
        closing(VectorEnvironment(TASK, robots, preset=search, height=height)) as env,
        closing(VectorEnvironment(TASK, REPEATED, preset=repetition, height=height)) as finer,
        session.counting(f"generations at {height:g} m", generations) as done,
    ):
        plan = search_plan(env, finer, generations, seed, done)
    return HeightResult(height, plan, {name: policy_succeeds(height, policy, name) for name in PRESETS})


def statics_limits(session: Session) -> dict[str, float]:
    """Greatest heights that slow motion leads up [m], by what the belts are."""
    quince = load_vehicle("quince")
    contenders = {"grousers": StepStatics(quince), "smooth": StepStatics(without_grousers(quince))}
    limits = {}
    for name, statics in contenders.items():
        total = math.ceil(math.log2(statics.highest / _TOLERANCE))
        with session.counting(f"heights by statics, {name}", total) as done:
            limits[name] = round(statics.limit(_TOLERANCE, done), 3)
    return limits


def series_of(results: list[HeightResult], policy: str, statics: dict[str, float]) -> dict[str, list[bool]]:
    """Truth values of each height (climbed or not), by who climbed and at which time step."""
    return {
        **{f"statics, {name}": [at.height <= limit for at in results] for name, limit in statics.items()},
        "search, 4 ms": [at.plan.succeeds for at in results],
        "its plan, 1 ms": [at.plan.repeated for at in results],
        f"{policy}, 4 ms": [at.policy[PRESETS[0]] for at in results],
        f"{policy}, 1 ms": [at.policy[PRESETS[1]] for at in results],
    }


def limit_table(results: list[HeightResult], policy: str, statics: dict[str, float]) -> Table:
    """Make the table of heights."""
    series = series_of(results, policy, statics)
    table = Table(
        "height [m]", "generations", *series, title="Quince at a step, nominal start: who climbs it"
    )
    for at, *climbed in zip(results, *series.values(), strict=True):
        cells = ["yes" if each else "no" for each in climbed]
        table.add_row(f"{at.height:g}", str(at.plan.generations), *cells)
    highest = [*statics.values(), *(greatest(results, own) for own in list(series.values())[len(statics) :])]
    table.add_section()
    table.add_row("greatest", "", *("none" if each is None else f"{each:g} m" for each in highest))
    return table


def draw_limits(results: list[HeightResult], policy: str, statics: dict[str, float]) -> Figure:
    """Draw who climbs which height, and the plan for the greatest one that was climbed at both time steps."""
    figure = new_figure(8.0, 6.0)
    above, below = figure.subplots(2, 1)
    heights = [at.height for at in results]
    series = series_of(results, policy, statics)
    for row, climbed in enumerate(series.values()):
        for height, good in zip(heights, climbed, strict=True):
            colour = "tab:green" if good else "lightgray"
            above.plot([height], [row], "s", color=colour, markersize=12)
    above.set_yticks(range(len(series)), list(series))
    above.invert_yaxis()
    label_axes(above, "height of the step [m]", "", "green: climbed")
    climbed_at = [at for at in results if at.plan.repeated]
    shown = max(climbed_at, key=lambda at: at.height) if climbed_at else results[-1]
    edges = np.linspace(0.0, 1.0, len(shown.plan.actions) + 1)
    for name, entries in zip(
        ("left belts", "right belts", "front", "rear"), shown.plan.actions.T, strict=True
    ):
        below.stairs(entries, edges, label=name)
    below.set_ylim(-1.7, 1.1)  # With room for the legend.
    below.legend(ncols=4, loc="lower center")
    label_axes(below, "share of the time limit [-]", "action [-]", f"plan at {shown.height:g} m")
    return figure


def run(
    session: Session,
    heights: Annotated[
        str | None, typer.Option(help="Heights in m, with commas; 0.36 to 0.60.", show_default=False)
    ] = None,
    policy: Annotated[str, typer.Option(help="Policy that is compared, as for evaluate.")] = "ppo",
    robots: Annotated[int, typer.Option(help="Plans of a generation.", min=4, max=MOST_ROBOTS)] = 128,
    generations: Annotated[int, typer.Option(help="Most generations at a height.", min=1)] = 20,
    seed: Annotated[int, typer.Option(help="Seed of the search.", min=0)] = 1,
) -> Outcome:
    """Try each height."""
    chosen = HEIGHTS if heights is None else parse_numbers("--heights", heights)
    if not chosen or len(set(chosen)) < len(chosen):
        raise InvalidValueError("--heights", "some, each of them once", heights)
    for height in chosen:  # Mistakes, before any work.
        with closing(VectorEnvironment(TASK, 1, height=height)) as env:
            make_policy(policy, env)
    statics = statics_limits(session)
    results = [try_height(height, policy, robots, generations, seed, session) for height in sorted(chosen)]
    summary = {
        "policy": policy,
        "robots": robots,
        "seed": seed,
        "statics": statics,
        "heights": [at.summary() for at in results],
    }
    files = {"step-limit.json": summary, "step-limit.png": draw_limits(results, policy, statics)}
    return Outcome([limit_table(results, policy, statics)], summary, files)
