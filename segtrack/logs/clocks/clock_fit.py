"""The clock of a source, put on another one: what is found out about it, and how sure that is."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

from segtrack.errors import ClockError, Phrase
from segtrack.logs.clocks.joint_fit import JointFit, fit_jointly
from segtrack.logs.clocks.mounting import Mounting, mounting_by_gravity
from segtrack.logs.clocks.receive_times import fit_receive_times
from segtrack.logs.clocks.start import Start, find_start
from segtrack.logs.clocks.uncertainty import Estimate
from segtrack.logs.clocks.views import SEEN, Seen, View, views_of
from segtrack.logs.motion import Motion

LEAST_SURE = 0.25
"""Margin of an offset beyond which a clock is as good as unknown [s]."""
LEAST_GAIN = 20.0
"""Of the logarithm of the likelihood, over that of a source that does not see the motion."""


@dataclass(frozen=True)
class ClockFit:
    """A source's times t become `t + offset + skew * (t - start)`, as `Motion.on_clock` has them.

    Attributes:
        source: Whose clock it is.
        reference: On whose clock it is put: a source's name, or `receive times`.
        by: What shows it: receive times, or what both sources see.
        start: First time of the source, on its own clock [s].
        offset: Estimate at the start [s].
        skew: By which it runs slow (positive) or fast (negative) [-].
        samples: Messages, or increments between samples, that were used.
        left_out: Of these too far off to be of the same motion.
        correlation: Of what both see, at the start of the fit; None by receive times.
        scale: The reference's rates over the source's; None if neither measures a rate.
        bias: Of the rates of `biased`: three of turning in space, in its sensor's frame [rad/s], else one in
            the unit of the rate; empty if neither measures a rate.
        biased: The one of both that measures rates; of two that do, that with more samples, over the other.
            Empty if neither does.
        mountings: How the source's sensor sits on the vehicle, by each way that shows it.
        noises: Standard deviations of the reference's samples and the source's, of what both see: of
            orientations and angles [rad], of rates [rad/s] or [m/s]; empty by receive times.
        delays: Of receiving beyond the shortest: median, and 95 % are below [s]; empty but by receive times.
        unevenness: How far the clock leaves an even one [s]; 0 if that is not seen.
    """

    source: str
    reference: str
    by: Literal["receive times", "turning", "pitch", "yaw", "speed"]
    start: float
    offset: Estimate
    skew: Estimate
    samples: int
    left_out: int = 0
    correlation: float | None = None
    scale: Estimate | None = None
    bias: tuple[Estimate, ...] = ()
    biased: str = ""
    mountings: tuple[Mounting, ...] = ()
    noises: tuple[Estimate, ...] = ()
    delays: tuple[float, ...] = ()
    unevenness: float = 0.0

    def times(self, own: NDArray[np.float64]) -> NDArray[np.float64]:
        """Times of the source's clock on the reference's [s]."""
        return own + self.offset.value + self.skew.value * (own - self.start)

    def record(self) -> dict[str, Any]:
        """As JSON can hold it."""
        return {
            "source": self.source,
            "reference": self.reference,
            "by": self.by,
            "start": self.start,
            "offset": self.offset.record(),
            "skew": self.skew.record(),
            "samples": self.samples,
            "left_out": self.left_out,
            "correlation": self.correlation,
            "scale": None if self.scale is None else self.scale.record(),
            "bias": [part.record() for part in self.bias],
            "biased": self.biased,
            "mountings": [mounting.record() for mounting in self.mountings],
            "noises": [noise.record() for noise in self.noises],
            "delays": list(self.delays),
            "unevenness": self.unevenness,
        }


def fit_to_receive_times(source: str, stamps: NDArray[np.float64], times: NDArray[np.float64]) -> ClockFit:
    """The clock of a source's stamps (n,) on the clock of receive times (n,) [s].

    Raises:
        ClockError: There are too few messages, or all have one stamp.
    """
    found = fit_receive_times(stamps, times)
    if isinstance(found, Phrase):
        raise ClockError(source, "receive times", found)
    return ClockFit(
        source=source,
        reference="receive times",
        by="receive times",
        start=float(stamps[0]),
        offset=found.offset,
        skew=found.skew,
        samples=len(stamps),
        delays=found.delays,
        unevenness=found.unevenness,
    )


def fit_clock(
    reference: Motion,
    source: Motion,
    by: Seen | None = None,
    mounted: Rotation | None = None,
    reference_mounted: Rotation | None = None,
) -> ClockFit:
    """The clock of one source on another's, by what both see.

    Their clocks may have nothing in common: lags of all lengths are tried.

    Args:
        reference: On whose clock the source is put: its signals, in the body frame as far as is known.
        source: Whose clock is fitted: likewise.
        by: What both see; if not given the first of `SEEN` by which it succeeds.
        mounted: The source's sensor frame in the body frame, by which its signals were turned; as they are if
            not given.
        reference_mounted: The reference's, likewise.

    Raises:
        ClockError: They see nothing in common, or it does not vary enough to tell one offset from
            another: then the vehicle stands, moves steadily or repeats itself.
    """
    ours = views_of(reference, rates_first=False)
    theirs = views_of(source, rates_first=True)
    mounted = Rotation.identity() if mounted is None else mounted
    reference_mounted = Rotation.identity() if reference_mounted is None else reference_mounted
    complaints = []
    for what in SEEN if by is None else (by,):
        if what in ours and what in theirs:
            found = _fitted(ours[what], theirs[what])
            if not isinstance(found, Phrase):
                fit = _described(source.name, reference.name, theirs[what], *found, mounted)
                name, turned = (
                    (reference.name, reference_mounted)
                    if _leads(theirs[what], ours[what])
                    else (source.name, mounted)
                )
                fit = _with_bias(fit, found[0], name, turned)
                return _with_gravity(fit, reference, source, mounted)
            complaints.append(f"by {what}: {found}")
    if not complaints:
        seen = " and ".join(
            f"{motion.name} sees {', '.join(views) or 'nothing'}"
            for motion, views in ((source, theirs), (reference, ours))
        )
        complaints.append(f"{seen}; {'one of these' if by is None else by} must be seen by both")
    raise ClockError(source.name, reference.name, "; ".join(complaints))


def _fitted(reference: View, source: View) -> tuple[JointFit, Start, float] | Phrase:
    """The fit, its start and what was added to the source's times beforehand; or why there is none."""
    together = float(reference.times[0] - source.times[0])
    moved = source.shifted(together)
    start = find_start(reference, moved)
    if isinstance(start, Phrase):
        return start
    if _leads(moved, reference):
        back = find_start(moved, reference)
        if isinstance(back, Phrase):
            return back
        found = fit_jointly(moved, reference, back)
    else:
        found = fit_jointly(reference, moved, start)
    if isinstance(found, Phrase):
        return found
    fit = found.mirrored(reference.times[0], moved.times[0]) if _leads(moved, reference) else found
    offset, skew = fit.estimate(0), fit.estimate(1)
    if not offset.margin < LEAST_SURE:
        return Phrase(f"the offset is not sure: {offset.value + together:.3f} +- {offset.margin:.2g} s")
    if fit.gain < LEAST_GAIN:
        return Phrase("the peak is flat: what both see is lost in noise")
    if abs(skew.value) > 0.5:
        return Phrase(f"the skew is not sure: {skew.value:.2g} +- {skew.margin:.2g}")
    return fit, start, together


def _leads(one: View, other: View) -> bool:
    """Whether increments are better taken between the one's samples."""
    if one.is_rate != other.is_rate:
        return other.is_rate
    return bool(len(one.times) * np.ptp(other.times) < len(other.times) * np.ptp(one.times))


def _described(
    source: str, reference: str, view: View, fit: JointFit, start: Start, together: float, mounted: Rotation
) -> ClockFit:
    offset, layout = fit.estimate(0), fit.layout
    mountings: tuple[Mounting, ...] = ()
    if fit.turned is not None:
        part = layout.turn
        turned = fit.turned * mounted
        mountings = (Mounting.of("rates", turned, fit.covariance[part, part], fit.quantile(part)),)
    return ClockFit(
        source=source,
        reference=reference,
        by=view.what,
        start=float(view.times[0]),
        offset=Estimate(offset.value + together, offset.low + together, offset.high + together),
        skew=fit.estimate(1),
        samples=fit.used,
        left_out=fit.left_out,
        correlation=start.correlation,
        scale=fit.estimate(layout.scale.start) if layout.scale.stop > layout.scale.start else None,
        mountings=mountings,
        noises=fit.noises,
    )


def _with_bias(fit: ClockFit, found: JointFit, name: str, mounted: Rotation) -> ClockFit:
    """The fit, with the bias of rates, if there are any, and whose it is; in its sensor's frame."""
    part = found.layout.bias
    if part.start == part.stop:
        return fit
    matrix = np.eye(1) if found.turned is None else mounted.inv().as_matrix()
    values = matrix @ found.values[part]
    stds = np.sqrt(np.diag(matrix @ found.covariance[part, part] @ matrix.T))
    bias = tuple(
        Estimate.normal(value, std, found.quantile(part)) for value, std in zip(values, stds, strict=True)
    )
    return replace(fit, bias=bias, biased=name)


def _with_gravity(fit: ClockFit, reference: Motion, source: Motion, mounted: Rotation) -> ClockFit:
    """The fit, with how the sensor sits by both sources' attitudes if they have one."""
    ours, theirs = (motion.signals.get("orientation") for motion in (reference, source))
    if ours is None or theirs is None:
        return fit
    on_clock = replace(theirs, times=fit.times(theirs.times))
    if on_clock.times[-1] < ours.times[0] or on_clock.times[0] > ours.times[-1]:
        return fit
    sensor = (Rotation.from_quat(theirs.values) * mounted).as_quat()
    by_gravity = mounting_by_gravity(ours, replace(on_clock, values=sensor), mounted)
    return replace(fit, mountings=(*fit.mountings, by_gravity))
