"""A replay beside its log, with what its uncertainty takes simulated."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from segtrack.experiments.parallel import Workers
from segtrack.logs.compare.beside import compare_motions
from segtrack.logs.compare.comparison import Comparison, Run, RunComparison, SplitRow
from segtrack.logs.compare.errors import Alignment, check_alignment
from segtrack.logs.compare.simulations import plan_simulations, run_one, variants_of
from segtrack.logs.compare.stated import Stated
from segtrack.logs.replay import Replay
from segtrack.robot.motion import Motion

RUNS: tuple[Run, ...] = ("commanded", "measured")


class CompareInterrupted(KeyboardInterrupt):
    """Ctrl-C while a comparison's uncertainty is simulated; carries the comparison without the rest of it."""

    def __init__(self, comparison: Comparison) -> None:
        """Keep what there is so far."""
        super().__init__()
        self.comparison = comparison


def simulation_count(replay: Replay, stated: Stated | None = None, refine: bool = True) -> int:
    """Return the number of simulations that `compare` runs besides those of the replay."""
    return len(plan_simulations(replay, (stated or Stated()).inputs, refine))


def compare(
    replay: Replay,
    *,
    stated: Stated | None = None,
    clocks: Mapping[str, float | None] | None = None,
    alignment: Alignment = "event",
    refine: bool = True,
    workers: int | None = None,
    on_done: Callable[[], object] = lambda: None,
) -> Comparison:
    """Put both simulations of a log beside it, each error with its uncertainty.

    Args:
        replay: The log, and its simulations by commands and by measured belts.
        stated: Standard deviations of inputs and log; u_input is not given without inputs.
        clocks: Standard deviation of each source's clock offset, where it is known [s].
        alignment: Alignment of positions with the logged ones, see `aligned_positions`.
        refine: Simulate half and a quarter of the time step, for u_num.
        workers: Processes; as many as there are cores if not given.
        on_done: Called after each of `simulation_count`.

    Returns:
        The comparison of each run that the replay has.

    Raises:
        UnknownNameError: No such alignment.
        InvalidValueError: The vehicle cannot have an input a standard deviation off, or log and simulation
            have no time in common.
        CompareInterrupted: Ctrl-C.
    """
    check_alignment(alignment)
    stated = stated if stated is not None else Stated()
    jobs = plan_simulations(replay, stated.inputs, refine)
    done: dict[int, Motion | None] = {}
    finished = True

    def note(index: int, motion: Motion | None) -> None:
        done[index] = motion
        on_done()

    try:
        with Workers(workers) as pool:
            pool.run(run_one, jobs, note)
    except KeyboardInterrupt:
        finished = False
    sources = {signal.source for signal in replay.logged.signals.values()}
    data = stated.data_uncertainty({source: (clocks or {}).get(source) for source in sources})
    simulated = {run: motion for run in RUNS if (motion := getattr(replay, run)) is not None}
    runs = {
        run: compare_motions(
            replay.logged,
            motion,
            run=run,
            gauge=replay.scene.vehicle.gauge,
            alignment=alignment,
            event=replay.event,
            variants=variants_of(jobs, done, run),
            data=data,
        )
        for run, motion in simulated.items()
    }
    split = tuple(_split(runs))
    comparison = Comparison(replay.logged.name, alignment, dict(stated.inputs), data, runs, split, finished)
    if not finished:
        raise CompareInterrupted(comparison)
    return comparison


def _split(runs: Mapping[Run, RunComparison]) -> Iterator[SplitRow]:
    """Each error of both runs, and what the two simulations differ by."""
    if len(runs) < len(RUNS):
        return
    commanded, measured = runs["commanded"], runs["measured"]
    for row in commanded.rows:
        other = measured.find(row.quantity, row.phase)
        mine, theirs = (run.errors.get((row.quantity, row.phase)) for run in (commanded, measured))
        if other is None or mine is None or theirs is None or mine.values.shape != theirs.values.shape:
            continue
        is_number = row.logged is not None
        actuator = row.error - other.error if is_number else mine.less(theirs).rms
        yield SplitRow(row.phase, row.quantity, row.unit, row.error, other.error, actuator)
