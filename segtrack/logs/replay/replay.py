"""A log driven again, as it was commanded and as its belts moved, beside itself."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from segtrack.errors import LogFileError
from segtrack.logs.replay.align import AlignedLog, align_in
from segtrack.logs.replay.commands import BeltSource, belt_keys, has_belts
from segtrack.logs.replay.settings import ReplayScene, ReplaySettings
from segtrack.logs.replay.simulate import Observer, ReplayDivergedError, simulate
from segtrack.logs.replay.terrain import Rise
from segtrack.robot.motion import Motion

SOURCES: tuple[BeltSource, ...] = ("commanded", "measured")


@dataclass(frozen=True, eq=False)
class Replay:
    """A log and what its commands and its belts do in simulation, in the terrain's frame, on the log's clock.

    What the commanded belts do against the logged ones is the error of the drives; what the vehicle on the
    measured belts does against the logged one is that of the contact.

    Attributes:
        settings: Settings of the replay.
        scene: Vehicle, terrain and engine of the settings.
        log: The log in the terrain's frame, and how it got there.
        commanded: The vehicle as its own drives follow the commands; None for a log without commands.
        measured: The vehicle as belts and flippers do exactly what was measured; None for a log without.
        diverged: Error of a diverged simulation, by `commanded` and `measured`; its motion is up to then.
    """

    settings: ReplaySettings
    scene: ReplayScene
    log: AlignedLog
    commanded: Motion | None
    measured: Motion | None
    diverged: Mapping[str, str] = field(default_factory=dict)

    @property
    def logged(self) -> Motion:
        """The log in the terrain's frame."""
        return self.log.motion

    @property
    def event(self) -> float | None:
        """Time of the first touch on the log's clock [s]; None where there is none."""
        return self.log.event

    @property
    def obstacle(self) -> Rise | None:
        """Obstacle that the vehicle drives at; None on level ground."""
        return self.scene.terrain.obstacle


def replay(motion: Motion, settings: ReplaySettings, observer: Observer | None = None) -> Replay:
    """Drive a log's vehicle again, by its commands and by its measured belts, as far as it has them.

    Args:
        motion: The log.
        settings: Settings of the replay.
        observer: Called with the time on the log's clock after each sample of each simulation [s].

    Raises:
        SegtrackError: The log and the settings do not go together, see `align`.
        DivergedError: A simulation broke down before the log began.
    """
    scene = settings.load()
    log = align_in(motion, settings, scene)
    found, diverged = dict[str, Motion](), dict[str, str]()
    for source in SOURCES:
        if not has_belts(motion, source):
            continue
        try:
            found[source] = simulate(log, settings, scene, source, observer)
        except ReplayDivergedError as error:
            found[source], diverged[source] = error.motion, str(error)
    return Replay(settings, scene, log, found.get("commanded"), found.get("measured"), diverged)


def replay_log(
    motion: Motion | AlignedLog,
    settings: ReplaySettings,
    *,
    belts: BeltSource = "measured",
    observer: Observer | None = None,
) -> Motion:
    """Drive a log's vehicle again.

    Args:
        motion: The log; one that is aligned already is not aligned again.
        settings: Settings of the replay.
        belts: `commanded`: the vehicle's own drives follow the commands; `measured`: belts and flippers move
            as they were measured.
        observer: See `replay`.

    Returns:
        The simulated motion: the quantities of a log, in the terrain's frame, on the log's clock.

    Raises:
        SegtrackError: The log and the settings do not go together, see `align`.
        LogFileError: The log has no such belts.
        ReplayDivergedError: The simulation broke down; it carries the motion until then.
    """
    scene = settings.load()
    log = motion if isinstance(motion, AlignedLog) else align_in(motion, settings, scene)
    if not has_belts(log.motion, belts):
        raise LogFileError(
            log.motion.name, f"has no {belts} belts: it takes {' and '.join(belt_keys(belts))}"
        )
    return simulate(log, settings, scene, belts, observer)
