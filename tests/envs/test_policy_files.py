"""Files of policies that are damaged, missing or of other environments."""

from dataclasses import replace

import numpy as np
import pytest

from segtrack.envs.learning import make_policy
from segtrack.envs.learning.network import Network, NetworkOrigin
from segtrack.errors import FileAccessError, InvalidValueError


def network(entries, actions):
    n, m = len(entries), len(actions)
    layer = (np.zeros((m, n), np.float32),), (np.zeros(m, np.float32),)
    return Network(
        NetworkOrigin("StepClimb", "quince", entries, actions, 0.3, 0.05, (-0.7, 1.1, 0.3)),
        -np.ones(n),
        np.ones(n),
        *layer,
    )


def write_nothing(path):
    path.write_bytes(b"")


def write_garbage(path):
    path.write_bytes(b"\x80\x04garbage")


def write_without_header(path):
    with path.open("wb") as file:
        np.savez(file, low=np.zeros(3), high=np.ones(3))


def write_other_format(path):
    with path.open("wb") as file:
        np.savez(file, header=np.array('{"format": "another 2"}'))


def write_no_json(path):
    with path.open("wb") as file:
        np.savez(file, header=np.array("{"))


def write_half(path):
    network(("a", "b"), ("left", "right")).save(path)
    path.write_bytes(path.read_bytes()[:300])


def write_single_array(path):
    with path.open("wb") as file:
        np.save(file, np.zeros(3))


def write_torn(path):
    """A file whose first compressed block is of a kind that there is not."""
    network(("a", "b"), ("left", "right")).save(path)
    data = bytearray(path.read_bytes())
    name, extra = (int.from_bytes(data[at : at + 2], "little") for at in (26, 28))
    data[30 + name + extra] = 0xFF
    path.write_bytes(data)


def write_other_shapes(path):
    entries, actions = tuple(f"entry_{i}" for i in range(83)), ("left", "right", "front", "rear")
    right = network(entries, actions)
    replace(right, weights=(np.zeros((2, 3), np.float32),)).save(path)


def write_no_layers(path):
    replace(network(("a", "b"), ("left", "right")), weights=(), biases=()).save(path)


@pytest.mark.parametrize("write", [write_torn, write_other_shapes, write_no_layers])
def test_policy_files_that_are_damaged(tmp_path, write):
    path = tmp_path / "policy.npz"
    write(path)
    with pytest.raises(FileAccessError) as error:
        Network.load(path)
    assert str(error.value) == f"cannot read policy {path}: not a file of the format 'segtrack policy 1'"


@pytest.mark.parametrize(
    "write",
    [
        write_nothing,
        write_garbage,
        write_without_header,
        write_other_format,
        write_no_json,
        write_half,
        write_single_array,
    ],
)
def test_policy_files_that_cannot_be_read(climb, tmp_path, write):
    path = tmp_path / "policy.npz"
    write(path)
    with pytest.raises(FileAccessError) as error:
        make_policy(str(path), climb)
    assert str(error.value) == f"cannot read policy {path}: not a file of the format 'segtrack policy 1'"


@pytest.mark.parametrize(
    "name, reason", [("missing.npz", "No such file or directory"), ("", "Is a directory")]
)
def test_policy_files_that_are_not_there(climb, tmp_path, name, reason):
    path = tmp_path / name
    with pytest.raises(FileAccessError) as error:
        make_policy(str(path), climb)
    assert str(error.value) == f"cannot read policy {path}: {reason}"


def test_policies_for_other_observations_or_actions_are_refused(climb, tmp_path):
    entries, actions = climb.sensors.entries, climb.actuators.names
    here = "one for 83 observation entries as here"
    cases = [
        (entries[1:], actions, f"{here}, got 82 others, without {entries[0]}"),
        ((*entries[1:], "else"), actions, f"{here}, got 83 others, with else and without {entries[0]}"),
        (
            (*entries[5:], "else"),
            actions,
            f"{here}, got 79 others, with else and without {', '.join(entries[:3])} and 2 more",
        ),
        (entries[::-1], actions, f"{here}, got 83 others, in another order"),
        (
            entries,
            actions[:2],
            "one for the actions ('left', 'right', 'front', 'rear'), got ('left', 'right')",
        ),
    ]
    for number, (seen, done, complaint) in enumerate(cases):
        path = tmp_path / f"{number}.npz"
        network(seen, done).save(path)
        with pytest.raises(InvalidValueError) as error:
            make_policy(str(path), climb)
        assert str(error.value) == f"policy for quince at StepClimb must be {complaint}"
    network(entries, actions).save(path)
    with pytest.raises(InvalidValueError) as error:
        make_policy(str(path), climb)
    expected = "one for the ranges of observations here, got others"
    assert str(error.value) == f"policy for quince at StepClimb must be {expected}"
    low, high = climb.sensors.limits
    right = replace(network(entries, actions), low=low, high=high)
    replace(right, origin=replace(right.origin, belt_speed=0.5)).save(path)
    with pytest.raises(InvalidValueError) as error:
        make_policy(str(path), climb)
    assert str(error.value) == "policy for quince at StepClimb must be one for the belt_speed 0.3, got 0.5"
    right.save(path)
    observation, _ = climb.reset(seed=0)
    assert make_policy(str(path), climb).act(observation).tolist() == [0.0] * 4
