"""Policies: learnt networks computed by hand, and those that are written by hand."""

import math
from collections import deque

import numpy as np
import pytest
from env_actions import FORWARD, robot_of

from segtrack.envs import OUTCOMES
from segtrack.envs.learning.network import Network, NetworkOrigin
from segtrack.envs.learning.policies import (
    RandomPolicy,
    ScriptedPolicy,
    SteeredPolicy,
    constant_name,
    make_policy,
)
from segtrack.errors import InvalidValueError

# Learnt policies.


def some_network():
    rng = np.random.default_rng(0)
    sizes = (6, 8, 5, 3)
    layers = list(zip(sizes[1:], sizes[:-1], strict=True))
    return Network(
        NetworkOrigin(
            "StepClimb", "quince", tuple("abcdef"), ("left", "right", "front"), 0.3, 0.05, (-1.0, 1.0, 0.5)
        ),
        rng.uniform(-3, -1, 6).astype(np.float32),
        rng.uniform(1, 3, 6).astype(np.float32),
        tuple(rng.normal(size=layer).astype(np.float32) for layer in layers),
        tuple(rng.normal(size=rows).astype(np.float32) for rows, _ in layers),
    )


def by_hand(network, observation):
    """The same network, number by number."""
    values = [
        2 * (float(x) - float(low)) / (float(high) - float(low)) - 1
        for x, low, high in zip(observation, network.low, network.high, strict=True)
    ]
    last = len(network.weights) - 1
    for number, (weight, bias) in enumerate(zip(network.weights, network.biases, strict=True)):
        sums = [
            sum(float(w) * v for w, v in zip(row, values, strict=True)) + float(b)
            for row, b in zip(weight, bias, strict=True)
        ]
        values = [math.tanh(v) for v in sums] if number < last else [min(max(v, -1.0), 1.0) for v in sums]
    return values


def test_a_network_computes_what_its_layers_say():
    network, rng = some_network(), np.random.default_rng(1)
    for _ in range(50):
        observation = rng.uniform(-3, 3, 6).astype(np.float32)
        action = network(observation)
        assert action.dtype == np.float32
        np.testing.assert_allclose(action, by_hand(network, observation), atol=2e-6)


def test_a_network_comes_back_from_its_file_as_it_was(tmp_path):
    network, path = some_network(), tmp_path / "policy.npz"
    network.save(path)
    again = Network.load(path)
    assert again.origin == network.origin
    for one, other in zip(
        (network.low, network.high, *network.weights, *network.biases),
        (again.low, again.high, *again.weights, *again.biases),
        strict=True,
    ):
        assert one.dtype == other.dtype and one.tobytes() == other.tobytes()
    assert [file.name for file in tmp_path.iterdir()] == ["policy.npz"]
    observation = np.linspace(-1, 1, 6, dtype=np.float32)
    assert network(observation).tobytes() == again(observation).tobytes()


# Policies by hand.


def test_the_scripted_policy_climbs_a_step_of_24_cm(climb):
    observation, info = climb.reset(seed=0, options={"height": 0.24})
    policy, over = ScriptedPolicy(climb), False
    while not over:
        action = policy.act(observation)
        assert action in climb.action_space
        observation, _, terminated, truncated, info = climb.step(action)
        over = terminated or truncated
    assert info["success"]
    assert robot_of(climb).state.position[2] > 0.24


def test_the_steered_policy_steers_as_the_scripted_one_does_with_flippers_at_rest(climb):
    observation, _ = climb.reset(seed=3, options={"initial_yaw": 0.1})
    steered, scripted = SteeredPolicy(climb).act(observation), ScriptedPolicy(climb).act(observation)
    assert steered[:2].tolist() == scripted[:2].tolist() and steered[0] > steered[1]
    assert steered[2:].tolist() == [0.0, 0.0] != scripted[2:].tolist()


def test_a_constant_policy_takes_its_action(climb):
    policy = make_policy("constant:1,-0.5,0.3,0", climb)
    assert policy.act(None).tolist() == np.array([1, -0.5, 0.3, 0], np.float32).tolist()
    assert constant_name((1.0, -0.5, 0.3, 0.0)) == "constant:1,-0.5,0.3,0"
    for wrong in ("constant", "constant:1,1", "constant:1,1,2,0", "constant:1,1,nan,0", "constant:1,1,a,0"):
        with pytest.raises(InvalidValueError, match="constant: and 4 numbers from -1 to 1, of left, right"):
            make_policy(wrong, climb)


def test_full_speed_without_flippers_does_not_climb_a_step_of_30_cm(climb):
    """What the scripted policy is measured against."""
    climb.reset(seed=0, options={"height": 0.3})
    infos = deque(maxlen=1)
    for _ in range(120):
        *_, info = climb.step(FORWARD)
        infos.append(info)
        if OUTCOMES[info["outcome"]] != "running":
            break
    assert not infos[-1]["success"]


def test_the_random_policy_acts_anywhere_in_the_space_and_again_with_its_seed(climb):
    def drawn(seed):
        policy = RandomPolicy(climb, seed)
        return np.array([policy.act(None) for _ in range(500)])

    actions = drawn(1)
    assert all(action in climb.action_space for action in actions)
    np.testing.assert_array_equal(actions, drawn(1))
    assert not np.array_equal(actions, drawn(2))
    assert np.abs(actions.mean(axis=0)).max() < 5 / math.sqrt(3 * 500)
    assert (actions.min(axis=0) < -0.95).all() and (actions.max(axis=0) > 0.95).all()
