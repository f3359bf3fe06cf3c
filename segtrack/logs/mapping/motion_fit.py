"""Fits of a source's clock to another one by the motion that both measure."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
from scipy.spatial.transform import Rotation

from segtrack.errors import ClockError, Phrase
from segtrack.logs.mapping.clock_fit import ClockFit, Estimate, SensorMounting, mounting_by_gravity
from segtrack.logs.mapping.joint_fit import JointFit, fit_jointly
from segtrack.logs.mapping.overlay import SKEW_UNKNOWN
from segtrack.logs.mapping.views import LARGEST_SKEW, SEEN, ClockGuess, Seen, View, find_views, guess_clock
from segtrack.robot import Motion

LEAST_SURE = 0.25
"""Margin of an offset beyond which a clock is as good as unknown [s]."""
SCALES = (0.9, 1.1)
"""Scales that a gyroscope may have; data sheets allow 3 %, and beyond 10 % it is a wrong unit or range."""
UNIT_FACTOR = 2.0
"""Ratio of rates of turning from which on no noise explains it."""
LEAST_GAIN = 20.0
"""Least gain in log-likelihood over a source that does not see the motion."""

_LIKELY_SKEW = 4.0
"""Skews are tried up to so many standard deviations of what is known beforehand."""


class _WrongScale(Phrase):
    """Scale that no gyroscope has. It is final: by pitch or yaw alone any scale would be accepted."""


def fit_clock(
    reference: Motion,
    source: Motion,
    by: Seen | None = None,
    mounted: Rotation | None = None,
    reference_mounted: Rotation | None = None,
    skew_std: float = SKEW_UNKNOWN,
) -> ClockFit:
    """Fit the clock of one source to another's, by the motion that both measure.

    Their clocks may have nothing in common: lags of all lengths are tried.

    Args:
        reference: Signals on the clock that is fitted to, in the body frame as far as is known.
        source: Signals on the clock that is fitted, likewise.
        by: Motion that both measure; if not given the first of `SEEN` by which the fit succeeds.
        mounted: Sensor frame of the source in the body frame, by which its signals were turned; identity if
            not given.
        reference_mounted: Sensor frame of the reference, likewise.
        skew_std: Standard deviation of the skew, about 0, before anything is looked at [-].

    Raises:
        ClockError: They see nothing in common, or it does not vary enough to tell one offset from
            another: then the vehicle stands, moves steadily or repeats itself. Or turning shows a scale that
            no gyroscope has.
    """
    ours = find_views(reference, rates_first=False)
    theirs = find_views(source, rates_first=True)
    mounted = Rotation.identity() if mounted is None else mounted
    reference_mounted = Rotation.identity() if reference_mounted is None else reference_mounted
    complaints = []
    for what in SEEN if by is None else (by,):
        if what in ours and what in theirs:
            found = _fit(ours[what], theirs[what], skew_std)
            if not isinstance(found, Phrase):
                fit = _describe(source.name, reference.name, theirs[what], *found, mounted)
                biased = (source.name, mounted)
                if _leads(theirs[what], ours[what]):
                    biased = (reference.name, reference_mounted)
                fit = _add_bias(fit, found[0], *biased)
                return _add_gravity(fit, reference, source, mounted)
            complaints.append(f"by {what}: {found}")
            if isinstance(found, _WrongScale):
                break
    if not complaints:
        seen = " and ".join(
            f"{motion.name} sees {', '.join(views) or 'nothing'}"
            for motion, views in ((source, theirs), (reference, ours))
        )
        complaints.append(f"{seen}; {'one of these' if by is None else by} must be seen by both")
    raise ClockError(source.name, reference.name, "; ".join(complaints))


def _fit(reference: View, source: View, skew_std: float) -> tuple[JointFit, ClockGuess, float] | Phrase:
    """Fit, its initial guess and the offset added to the source's times beforehand; or why there is none."""
    together = float(reference.times[0] - source.times[0])
    moved = source.shift(together)
    largest = min(_LIKELY_SKEW * skew_std, LARGEST_SKEW)
    start = guess_clock(reference, moved, largest)
    if isinstance(start, Phrase):
        return start
    # Noise changes the ratio of the rates' standard deviations by the correlation at most.
    if source.is_turning and abs(math.log(start.scale / start.correlation)) > math.log(UNIT_FACTOR):
        return _wrong_scale(start.scale / start.correlation)
    if _leads(moved, reference):
        back = guess_clock(moved, reference, largest)
        if isinstance(back, Phrase):
            return back
        found = fit_jointly(moved, reference, back, skew_std)
    else:
        found = fit_jointly(reference, moved, start, skew_std)
    if isinstance(found, Phrase):
        return found
    fit = found.mirror(reference.times[0], moved.times[0]) if _leads(moved, reference) else found
    part = fit.layout.scale
    if source.is_turning and part.start < part.stop:
        scale = fit.values[part.start]
        if not SCALES[0] <= scale <= SCALES[1]:
            return _wrong_scale(scale)
    offset, skew = fit.estimate(0), fit.estimate(1)
    if not offset.margin < LEAST_SURE:
        return Phrase(f"the offset is not sure: {offset.value + together:.3f} +- {offset.margin:.2g} s")
    if fit.gain < LEAST_GAIN:
        return Phrase("the peak is flat: what both see is lost in noise")
    if abs(skew.value) > 0.5:
        return Phrase(f"the skew is not sure: {skew.value:.2g} +- {skew.margin:.2g}")
    return fit, start, together


def _wrong_scale(scale: float) -> _WrongScale:
    expected = f"a gyroscope's is {SCALES[0]:g} to {SCALES[1]:g}"
    return _WrongScale(f"the rates would take a scale of {scale:.3g}, where {expected}: is a unit wrong?")


def _leads(one: View, other: View) -> bool:
    """Return True if increments are better taken between the samples of `one`."""
    if one.is_rate != other.is_rate:
        return other.is_rate
    return bool(len(one.times) * np.ptp(other.times) < len(other.times) * np.ptp(one.times))


def _describe(
    source: str,
    reference: str,
    view: View,
    fit: JointFit,
    start: ClockGuess,
    together: float,
    mounted: Rotation,
) -> ClockFit:
    offset, layout = fit.estimate(0), fit.layout
    mountings: tuple[SensorMounting, ...] = ()
    if fit.turned is not None:
        part = layout.turn
        turned = fit.turned * mounted
        mountings = (SensorMounting.of("rates", turned, fit.covariance[part, part], fit.quantile(part)),)
    return ClockFit(
        source=source,
        reference=reference,
        by=view.what,
        start=float(view.times[0]),
        offset=replace(
            offset, value=offset.value + together, low=offset.low + together, high=offset.high + together
        ),
        skew=fit.estimate(1),
        covariance=float(fit.covariance[0, 1]),
        samples=fit.used,
        left_out=fit.left_out,
        correlation=start.correlation,
        scale=fit.estimate(layout.scale.start) if layout.scale.stop > layout.scale.start else None,
        mountings=mountings,
        noises=fit.noises,
    )


def _add_bias(fit: ClockFit, found: JointFit, name: str, mounted: Rotation) -> ClockFit:
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


def _add_gravity(fit: ClockFit, reference: Motion, source: Motion, mounted: Rotation) -> ClockFit:
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
