"""Files for evo: its errors, by its definitions over SE(3) matrices, are those of the comparison."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation
from tables import each_row

from segtrack.logs import Motion, Signal
from segtrack.logs.compare import compare_motions
from segtrack.logs.reading import write_tum

RANDOM = np.random.default_rng(11)
TIMES = np.arange(0.0, 12.0, 0.013)


def wandering(seed):
    """A motion that turns in all ways, and the angles that an orientation has."""
    a, b, c, d = np.random.default_rng(seed).normal(size=4)
    turned = Rotation.from_euler(
        "ZYX",
        np.stack(
            [0.4 * a * np.sin(TIMES), 0.2 * b * np.cos(1.3 * TIMES), 0.1 * c * np.sin(2 * TIMES)], axis=1
        ),
    )
    place = np.stack(
        [0.3 * TIMES + 0.1 * d * np.sin(TIMES), a * np.cos(0.5 * TIMES), 0.05 * b * TIMES], axis=1
    )
    signals = {"position": Signal(TIMES, place, 0.0), "orientation": Signal(TIMES, turned.as_quat(), 0.0)}
    return Motion("run", signals)


def poses_of(path):
    """Times (n,) and SE(3) matrices (n, 4, 4) of a TUM file."""
    rows = np.loadtxt(path)
    matrices = np.tile(np.eye(4), (len(rows), 1, 1))
    matrices[:, :3, :3] = Rotation.from_quat(rows[:, 4:]).as_matrix()
    matrices[:, :3, 3] = rows[:, 1:4]
    return rows[:, 0], matrices


def associated(reference, estimate):
    """Poses at the same times, as `evo` matches them, within 0.01 s."""
    (mine, own), (theirs, other) = reference, estimate
    nearest = abs(mine[:, None] - theirs).argmin(axis=1)
    matched = abs(mine - theirs[nearest]) < 0.01
    return own[matched], other[nearest[matched]]


def evo_ape(reference, estimate):
    """Root mean square of `evo_ape tum`, its translation part."""
    return float(np.sqrt(np.mean(np.sum((estimate - reference)[:, :3, 3] ** 2, axis=1))))


def evo_rpe(reference, estimate, delta, is_all):
    """Root mean square of `evo_rpe tum --delta DELTA --delta_unit f [--all_pairs]`, its translation part."""
    first = np.arange(0, len(reference) - delta, 1 if is_all else delta)
    inner, outer = (np.linalg.inv(poses[first]) @ poses[first + delta] for poses in (reference, estimate))
    errors = np.linalg.inv(inner) @ outer
    return float(np.sqrt(np.mean(np.sum(errors[:, :3, 3] ** 2, axis=1))))


@each_row("alignment", ["event", "start", "se3", "none"])
@each_row("seed", [1, 2])
def test_errors_of_evo_on_the_written_files_are_those_of_the_comparison(alignment, seed, tmp_path):
    found = compare_motions(wandering(0), wandering(seed), alignment=alignment, event=3.0)
    own, other = found.logged.poses(), found.laid
    files = [write_tum(motion, tmp_path / f"{i}.tum") for i, motion in enumerate((own, other))]
    reference, estimate = associated(*map(poses_of, files))
    ate, rpe = (found.find(name) for name in ("position error (ATE)", "displacement error over 1 s (RPE)"))
    assert ate.error > 0.05 and rpe.error > 0.05
    assert evo_ape(reference, estimate) == pytest.approx(ate.error, rel=1e-9)
    assert evo_rpe(reference, estimate, 50, True) == pytest.approx(rpe.error, rel=1e-9)
    consecutive = np.sum(found.errors[rpe.quantity, "whole"].values[::50] ** 2, axis=1)
    assert evo_rpe(reference, estimate, 50, False) == pytest.approx(np.sqrt(consecutive.mean()), rel=1e-9)


def test_a_motion_without_a_heading_has_no_poses():
    motion = wandering(0)
    alone = Motion("run", {"position": motion.signals["position"]})
    found = compare_motions(alone, alone)
    assert found.laid is None and found.logged.poses() is None
