"""A replay beside its log, with what its uncertainty takes simulated."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from segtrack.logs.compare.comparison import Comparison, Run, RunComparison, SplitRow
from segtrack.logs.compare.motions.alignment import Alignment, check_alignment
from segtrack.logs.compare.motions.beside import compare_motions
from segtrack.logs.compare.motions.sampling import gauge_of
from segtrack.logs.compare.simulations import Job, plan_simulations, run_simulations, variants_of
from segtrack.logs.compare.uncertainty.stated import Stated
from segtrack.logs.motion import Motion
from segtrack.logs.replay import Replay

RUNS: tuple[Run, ...] = ("commanded", "measured")


class CompareInterrupted(KeyboardInterrupt):
    """Ctrl-C while a comparison's uncertainty is simulated; carries the comparison without the rest of it."""

    def __init__(self, comparison: Comparison) -> None:
        """Keep what there is so far."""
        super().__init__()
        self.comparison = comparison


def simulation_count(replay: Replay, stated: Stated | None = None, refine: bool = True) -> int:
    """How many simulations `compare` runs besides those of the replay."""
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
        stated: What is uncertain of inputs and log; u_input is not given without inputs.
        clocks: Standard deviation of each source's clock offset, where it is known [s].
        alignment: How positions are laid onto the logged ones, see `aligned_positions`.
        refine: Whether half and a quarter of the time step are simulated, for u_num.
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
    try:
        run_simulations(jobs, done, workers, on_done)
    except KeyboardInterrupt:
        finished = False
    comparison = _compared(replay, stated, dict(clocks or {}), alignment, jobs, done, finished)
    if not finished:
        raise CompareInterrupted(comparison)
    return comparison


def _compared(
    replay: Replay,
    stated: Stated,
    clocks: dict[str, float | None],
    alignment: Alignment,
    jobs: tuple[Job, ...],
    done: Mapping[int, Motion | None],
    finished: bool,
) -> Comparison:
    sources = {signal.source for signal in replay.logged.signals.values()}
    data = stated.data_uncertainty({source: clocks.get(source) for source in sources})
    tracks = replay.scene.vehicle.mounted_tracks()
    gauge = gauge_of(track.y for track in tracks if track.flipper is None)
    runs: dict[Run, RunComparison] = {}
    for run in RUNS:
        simulated = getattr(replay, run)
        if simulated is not None:
            runs[run] = compare_motions(
                replay.logged,
                simulated,
                run=run,
                gauge=gauge,
                alignment=alignment,
                event=replay.event,
                variants=variants_of(jobs, done, run),
                data=data,
            )
    return Comparison(
        replay.logged.name,
        alignment,
        dict(stated.inputs),
        data,
        runs,
        tuple(_split(runs)),
        finished,
    )


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
