"""Poses of tables as matrices, and of EuRoC: against scipy's rotations, mapped as they are proposed."""

import numpy as np
import pytest
from mapped_logs import COUNT, TIMES, channel, log_of, mapped, refused
from scipy.spatial.transform import Rotation
from tables import each_row

from segtrack.logs.mapping import map_file, propose
from segtrack.logs.reading import read_log

TURNED = Rotation.from_euler("ZYX", np.stack([0.3 * TIMES, 0.2 * np.sin(TIMES), 0.1 * np.cos(TIMES)], axis=1))
PLACES = np.stack([0.2 * TIMES, np.sin(TIMES), 0.01 * TIMES], axis=1)
POSES = np.concatenate([TURNED.as_matrix(), PLACES[:, :, None]], axis=2)


def apart(signal):
    """Largest angle between an orientation and the true one [rad]."""
    return (Rotation.from_quat(signal.values).inv() * TURNED).magnitude().max()


@each_row(
    "numbers, said, off",
    [
        (TURNED.as_matrix().reshape(COUNT, 9), "", 1e-12),
        (TURNED.inv().as_matrix().reshape(COUNT, 9), ", given: world in body", 1e-12),
        (np.round(TURNED.as_matrix(), 3).reshape(COUNT, 9), "", 1.5e-3),
        (POSES.reshape(COUNT, 12), "", 1e-12),
    ],
)
def test_an_orientation_may_be_rotation_matrices_by_rows(numbers, said, off):
    log = log_of(channel("pose", numbers))
    assert apart(mapped(log, f"  orientation: {{channels: pose{said}}}").motion.signals["orientation"]) < off


def test_a_position_may_be_the_last_column_of_poses_by_rows():
    log = log_of(channel("pose", POSES.reshape(COUNT, 12)))
    signal = mapped(log, "  position: {channels: pose, unit: cm}").motion.signals["position"]
    assert signal.values == pytest.approx(PLACES / 100)


def test_matrices_that_are_no_rotations_are_refused():
    matrices = TURNED.as_matrix()
    matrices[40] *= 1.1
    matrices[60] = np.diag([1.0, 1.0, -1.0])
    said = (
        "m.yaml:3: quantities.orientation must be rotation matrices, row by row: R R^T = 1 and det R = 1, got"
    )
    told = [
        refused(log_of(channel("r", m.reshape(-1, 9))), "  orientation: {channels: r}")
        for m in (matrices, np.concatenate([TURNED.as_matrix()[:60], matrices[60:]]))
    ]
    assert told == [
        f"{said} one that is 0.21 off at row 40 and others in 1 more",
        f"{said} a mirrored one at row 60",
    ]
    assert refused(log_of(channel("r", matrices[:, 0])), "  orientation: {channels: r}") == (
        "m.yaml:3: quantities.orientation.channels must have 4, 9 or 12 numbers at a time, got 3"
    )


def written(path, header, columns, delimiter=","):
    rows = [delimiter.join(map(repr, row)) for row in np.column_stack(columns).tolist()]
    path.write_text("\n".join([*header, *rows]) + "\n")
    return path


def as_proposed(log, tmp_path, unit=""):
    mapping = tmp_path / "m.yaml"
    mapping.write_text(propose(read_log(log)).replace("# TODO: m, cm, mm, km, in, ft", unit))
    return map_file(log, mapping).motion.signals


@each_row("names", ["T{}{}", "pose_r{}{}", "m_{}_{}"])
@each_row("first", [0, 1])
def test_columns_with_the_numbers_of_a_matrix_are_proposed_as_a_pose(names, first, tmp_path):
    header = [names.format(i + first, j + first) for i in range(3) for j in range(4)]
    columns = [TIMES, POSES.reshape(COUNT, 12)]
    log = written(tmp_path / "log.csv", [",".join(["t [s]", *header])], columns)
    signals = as_proposed(log, tmp_path, "m")
    assert apart(signals["orientation"]) < 1e-9
    assert signals["position"].values == pytest.approx(PLACES)


def test_a_file_of_kitti_is_proposed_as_a_pose_of_each_row(tmp_path):
    log = written(tmp_path / "00.txt", [], [POSES.reshape(COUNT, 12)], " ")
    mapping = tmp_path / "m.yaml"
    text = propose(read_log(log)).replace("# TODO: m, cm, mm, km, in, ft", "m")
    mapping.write_text(text + "max_gap: 2\n")
    assert apart(map_file(log, mapping).motion.signals["orientation"]) < 1e-9


def test_nine_numbers_that_are_no_rotation_are_not_proposed_as_one(tmp_path):
    header = ",".join(["t [s]", *(f"cov{i}{j}" for i in range(3) for j in range(3))])
    log = written(tmp_path / "log.csv", [header], [TIMES, 0.1 * TURNED.as_matrix().reshape(COUNT, 9)])
    assert "orientation:" not in propose(read_log(log))


def test_the_ground_truth_of_euroc_is_mapped_as_it_is_proposed(tmp_path):
    names = (
        *(f"p_RS_R_{axis} [m]" for axis in "xyz"),
        *(f"q_RS_{axis} []" for axis in "wxyz"),
        *(f"v_RS_R_{axis} [m s^-1]" for axis in "xyz"),
        *(f"b_w_RS_S_{axis} [rad s^-1]" for axis in "xyz"),
        *(f"b_a_RS_S_{axis} [m s^-2]" for axis in "xyz"),
    )
    velocity = np.gradient(PLACES, TIMES, axis=0)
    quaternions = np.roll(TURNED.as_quat(), 1, axis=1)
    stamps = (np.round(TIMES * 1e9) + 1.4e18).astype(np.int64)
    numbers = np.column_stack([PLACES, quaternions, velocity, np.zeros((COUNT, 6))]).tolist()
    rows = [",".join(map(repr, (stamp, *row))) for stamp, row in zip(stamps.tolist(), numbers, strict=True)]
    path = tmp_path / "data.csv"
    path.write_text("\n".join([", ".join(["#timestamp", *names]), *rows]) + "\n")
    signals = as_proposed(path, tmp_path)
    assert set(signals) == {"position", "orientation", "velocity"}
    assert signals["position"].values == pytest.approx(PLACES)
    assert apart(signals["orientation"]) < 1e-9
    in_body = Rotation.from_quat(signals["orientation"].values).inv().apply(velocity)
    assert signals["velocity"].values == pytest.approx(in_body)
    assert signals["position"].times == pytest.approx(TIMES - TIMES[0], abs=1e-6)


def test_the_imu_of_euroc_is_proposed_with_its_units(tmp_path):
    names = [
        f"{name}_RS_S_{axis} [{unit}]"
        for name, unit in (("w", "rad s^-1"), ("a", "m s^-2"))
        for axis in "xyz"
    ]
    force = np.tile([0.0, 0.0, 9.8], (COUNT, 1))
    log = written(tmp_path / "data.csv", [",".join(["#timestamp [ns]", *names])], [TIMES * 1e9, force, force])
    signals = as_proposed(log, tmp_path)
    assert set(signals) == {"angular_velocity", "specific_force"}
