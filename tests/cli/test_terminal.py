"""Tables in terminals of any width: no word of any cell is lost."""

import io
import math
from collections import Counter
from types import SimpleNamespace

from rich.console import Console
from rich.table import Table
from rich.text import Text
from tables import each_row

from segtrack.cli import output
from segtrack.cli.output import fit_table
from segtrack.description import bundled_vehicles, load_vehicle
from segtrack.envs.learning import CONDITIONS, Evaluation, EvaluationSetup, LevelResult, TaskSpeeds
from segtrack.envs.learning.benchmarking import BatchSpeed, SingleSpeed
from segtrack.envs.learning.results import EpisodeOutcome
from segtrack.report import batch_table, benchmark_table, evaluation_tables, vehicles_table
from segtrack.reproduce import okada_table_4
from segtrack.reproduce.okada_cases import TABLE_4
from segtrack.reproduce.speed import speed_table
from segtrack.reproduce.turning import turning_table


def table_4():
    climb = SimpleNamespace(outcome="tipped over", duration=23.4, max_pitch=0.7)
    cases = [SimpleNamespace(published=line, climb=climb, match=True) for line in TABLE_4]
    result = SimpleNamespace(cases=cases, matches=6, track_model="segments", preset="exact")
    return okada_table_4.table_4(result)


def turning():
    motion = SimpleNamespace(yaw_rate=1.0, slip=(0.691, -0.695))
    cases = [
        SimpleNamespace(
            vehicle="packbot, its own gauge of 0.445 m",
            scene="arc of 0.5 m",
            uniform=0.78,
            rig=SimpleNamespace(track_model=model),
            steered=SimpleNamespace(
                over_no_slip=0.7, no_slip_rate=1.2, over_expected=0.9, real_time_factor=91.2,
                belts=(0.2 * i, -0.2), measured=motion, expected=motion,
            ),
        )
        for i, model in enumerate(("segments", "compliant", "chain"))
    ]  # fmt: skip
    return turning_table(tuple(cases))


def speed():
    factors = {
        scene: dict.fromkeys(("segments", "compliant", "surface"), (209.2,)) for scene in ("climb", "turn")
    }
    solutions = dict.fromkeys(factors, {"compliant": 1.25})
    result = SimpleNamespace(
        factors=factors,
        median=lambda *_: 209.2,
        ratio=lambda *_: 83.1,
        solutions=solutions,
        python_fraction=0.05,
    )
    return speed_table(result)


def evaluation(table):
    policies = tuple(f"runs/long-name-{i}/policy.npz" for i in range(5))
    models = "compliant", "chain"
    setup = EvaluationSetup("StepClimb", policies, 200, track_models=models, conditions=tuple(CONDITIONS))
    episodes = (EpisodeOutcome("success", 4.0, 100.0, 10.0),) * setup.episodes
    cases = [case for model in setup.models for case in setup.cases(*model)]
    results = tuple(LevelResult(case, episodes) for case in cases)
    return evaluation_tables(Evaluation(setup, (), {}, results, 1.0))[table]


def benchmark():
    names = ("workers", "one", "real_time_factor", "all_cores", "gain", "reset", "slowest_reset")
    row = SimpleNamespace(task="RoughTerrain", **dict.fromkeys(names, 1234.5))
    return benchmark_table([row])


def batches():
    numbers = dict.fromkeys(("rate", "physics", "observation", "reward", "python", "reset"), 0.25)
    batch = BatchSpeed(num_envs=1024, threads=2, time_step=0.00385, memory=350_000_000, **numbers)
    singles = (
        SingleSpeed("native", "compliant", 0.001, 1428.0),
        SingleSpeed("pybullet", "segments", 0.001, 180.0),
    )
    return batch_table([TaskSpeeds("RoughTerrain", (batch,), singles)])


TABLES = {
    "vehicles": lambda: vehicles_table({name: load_vehicle(name) for name in bundled_vehicles()}),
    "table 4": table_4,
    "turning": turning,
    "speed": speed,
    "evaluation": lambda: evaluation(0),
    "evaluation by conditions": lambda: evaluation(1),
    "benchmark": benchmark,
    "batches": batches,
}


def words(text):
    return Counter(word for word in text.split() if any(map(str.isalnum, word)))


def said(table):
    """All words of a table's cells and headers."""
    cells = [cell for column in table.columns for cell in [column.header, *column.cells]]
    return words(" ".join(Text.from_markup(str(cell)).plain.replace("-\n", "") for cell in cells))


def printed(table, width):
    console = Console(file=io.StringIO(), width=width)
    console.print(table if width > 500 else fit_table(table, console))
    return console.file.getvalue()


@each_row("width", [80, 60, 200])
@each_row("name", TABLES)
def test_no_cell_is_lost(name, width):
    table = TABLES[name]()
    for column in table.columns:
        column.header = str(column.header).replace("[", r"\[").replace("-\n", "")
    expected, text = said(table), printed(table, width)
    assert max(len(line) for line in text.splitlines()) <= width
    assert not expected - words(text)
    assert "…" not in text


def test_a_table_that_fits_is_left_alone():
    assert printed(table_4(), 200) == printed(table_4(), 501)


def test_columns_that_need_not_wrap_keep_their_width():
    table = Table("a", "b")
    table.add_row("x" * 20, " ".join(["word"] * 40))
    lines = printed(table, 60).splitlines()
    assert any("x" * 20 in line for line in lines)
    assert {len(line) for line in lines} <= {59, 60}


def test_what_fits_nowhere_is_broken_and_not_cut():
    table = Table("name", "file", "third")
    table.add_row("quince", "/very" * 30, "end")
    text = printed(table, 40)
    joined = "".join(line.split("│")[2].strip() for line in text.splitlines() if "│" in line)
    assert joined == "quince" + "/very" * 30 + "end"
    assert max(map(len, text.splitlines())) <= 40
    assert math.prod(text.count(word) for word in ("name", "file", "third")) == 1


def test_progress_is_a_line_a_minute_where_there_is_no_terminal(monkeypatch, capsys):
    now = [0.0]
    monkeypatch.setattr(output.time, "monotonic", lambda: now[0])
    with output.progress("training", 400) as advance, output.counting("films", 4) as filmed:
        for second in range(0, 200, 10):
            now[0] = float(second)
            advance(second)
            filmed() if second in (60, 120) else None
    assert capsys.readouterr().err.splitlines() == [
        "training: 15% after 1 min, 6 min left",
        "films: 25% after 1 min, 3 min left",
        "training: 30% after 2 min, 5 min left",
        "films: 50% after 2 min, 2 min left",
        "training: 45% after 3 min, 4 min left",
    ]
