"""Tasks, options and policies of one's own, by `module:name` and in others' files."""

import json

import numpy as np
import pytest
from env_actions import FORWARD
from scenes import environment
from typer.testing import CliRunner

from segtrack.cli.app import app
from segtrack.envs import Environment, VectorEnvironment
from segtrack.envs.learning import EvaluationSetup, Network, evaluate, make_policy
from segtrack.envs.learning.exchange import save_onnx
from segtrack.envs.learning.policies import BUNDLED, Policy
from segtrack.envs.objects import load_options
from segtrack.errors import FileAccessError, InvalidValueError, UnknownNameError

MODULE = """
import numpy as np
from segtrack import terrain
from segtrack.envs import (
    TASKS, ActionMapping, EpisodeCourse, Group, Memory, Number, ObservationPart, SensorModel, Task, Term,
    straight,
)


class Ditch(Task):
    name = "Ditch"
    parameters = {"rise": Number(0.1, 0.02, 0.3, "m", "height")}
    difficulty, levels = "rise", (0.04, 0.08)

    def course(self, values, reach, rng):
        ground = terrain.Step(height=values["rise"], distance=0.0)
        return EpisodeCourse(ground, straight(-0.3 - reach, 0.6))


class Undefined(Ditch):
    parameters = {"rise": Number(None, 0.02, 0.3, "m", "height")}

    def course(self, values, reach, rng):
        return super().course({"rise": values["rise"] or 0.1}, reach, rng)


class Worded(Ditch):
    parameters = {**Ditch.parameters, "way": TASKS["StairClimb"].parameters["direction"]}
    difficulty, levels = "way", ("up", "down")


class Beyond(Ditch):
    levels = (0.1, 0.5)


policy, late = Group(history=2), SensorModel(delay=2)
wish = Memory(lambda view, rngs: np.zeros((len(rngs), 1)))


class Straight(ActionMapping):
    names = ("forward",)

    def command(self, robots, actions):
        robots.drive(0.3 * actions.T[0], 0.0)


def gained(view):
    return view.gained


own = Term(1.0, "length gained", gained)
nose = ObservationPart(
    unit="m", frame="world", labels=("z",), limits=1.0, read=lambda view, setup: view.motion.position[:, 2:]
)


def options():
    return {"belt_speed": 0.4, "terms": {"own": own}}


def ahead(env):
    rows = np.array([1.0] * len(env.actuators.names), np.float32)
    return lambda observations: np.tile(rows, (len(observations), 1))


def wrong(env):
    return lambda observations: np.zeros((len(observations), 7))
"""


@pytest.fixture
def here(tmp_path, monkeypatch):
    """A working directory with a module of one's own, of a name that no other test imports."""
    name = f"things_{tmp_path.name.replace('-', '_')}"
    (tmp_path / f"{name}.py").write_text(MODULE)
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    return name


def test_a_task_of_ones_own_is_made_by_its_name(here):
    alone, several = Environment(f"{here}:Ditch", rise=0.05), VectorEnvironment(f"{here}:Ditch", 2, rise=0.05)
    assert alone.task.name == several.task.name == "Ditch"
    for env in (alone, several):
        env.reset(seed=0)
        env.close()


def test_options_in_a_file_are_those_of_keywords(here, tmp_path):
    module = __import__(here)
    text = f"""
belt_speed: 0.4
scan: {{x_min: -0.5, x_max: 1.0, half_width: 0.3, rows: 6, columns: 2}}
reward: {{energy: 0, own: 2.0}}
terms: {{own: "{here}:own", time: null}}
parts: {{nose: "{here}:nose"}}
actions: "{here}:Straight"
"""
    (tmp_path / "own.yaml").write_text(text)
    options = load_options("own.yaml")
    assert options["terms"] == {"own": module.own, "time": None} and options["parts"] == {"nose": module.nose}
    with environment(**options) as env:
        env.reset(seed=0)
        assert env.sensors.entries[-1].startswith("nose") and env.scan.rows == 6
        *_, info = env.step(np.ones(1, np.float32))
        assert info["reward_terms"]["own"] == 2.0 * info["progress"] != 0.0
        assert "time" not in info["reward_terms"] and info["reward_terms"]["energy"] == 0.0
    assert load_options(f"{here}:options") == {"belt_speed": 0.4, "terms": {"own": module.own}}


@pytest.mark.parametrize(
    "text, kind, message",
    [
        ("belt_sped: 1", UnknownNameError, "no option of own.yaml 'belt_sped'; there are: "),
        ("vehicle: quince", UnknownNameError, "no option of own.yaml 'vehicle'; there are: "),
        ("terms: {a: 'math:no'}", InvalidValueError, "terms.a must be MODULE:NAME, which Python can "),
        ("scan: {rows: 1, wide: 2}", InvalidValueError, "scan must be the values of a Scan, got {'rows': "),
        ("a: [", FileAccessError, "cannot read options own.yaml: it is no YAML: "),
    ],
)  # fmt: skip
def test_options_that_there_are_not_are_refused(text, kind, message, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "own.yaml").write_text(text)
    with pytest.raises(kind) as error:
        load_options("own.yaml")
    assert str(error.value).startswith(message)


def test_an_evaluation_is_of_tasks_options_and_policies_of_ones_own(here):
    given = {"options": f"{here}:options", "preset": "fast", "levels": (0.04,), "episodes": 2}
    result = evaluate(EvaluationSetup(f"{here}:Ditch", (f"{here}:ahead", "random"), **given))
    assert [at.rate for at in result.results][0] == 1.0
    assert (result.difficulty, result.notes) == ("rise [m]", ())
    assert result.summary()["options"] == f"{here}:options"
    slower = evaluate(EvaluationSetup(f"{here}:Ditch", (f"{here}:ahead",), **{**given, "options": None}))
    durations = [outcome.results[0].episodes[0].duration for outcome in (result, slower)]
    assert durations[0] < 0.85 * durations[1]  # At 0.4 m/s, and at 0.3 m/s.


def test_a_difficulty_without_a_default_is_evaluated_at_its_levels(here, tmp_path):
    given = {"preset": "fast", "episodes": 1}
    done = evaluate(EvaluationSetup(f"{here}:Ditch", ("steered", f"{here}:ahead"), **given))
    undefined = EvaluationSetup(f"{here}:Undefined", ("steered",), **given)
    assert evaluate(undefined).summary()["benchmark"] is None is done.summary()["benchmark"]
    tried = EvaluationSetup(f"{here}:Undefined", ("steered",), conditions=("nominal", "noise 0.02"), **given)
    assert tried.levels_of("noise 0.02") == tried.graded_task.levels[:1]


@pytest.mark.parametrize(
    ("task", "message"),
    [
        ("Worded", "difficulty way of task Ditch must be a Number, got WordChoice("),
        ("Beyond", "level of task Ditch [m] must be from 0.02 to 0.3, got 0.5"),
    ],
)
def test_difficulties_that_cannot_be_graded_are_refused(here, task, message):
    with pytest.raises(InvalidValueError) as error:
        EvaluationSetup(f"{here}:{task}")
    assert str(error.value).startswith(message)


def test_a_policy_that_is_no_function_is_refused(here):
    with (
        environment() as env,
        pytest.raises(InvalidValueError, match="must be a function of the environment"),
    ):
        make_policy("math:pi", env)


def test_groups_sensors_and_memories_are_options(here, tmp_path):
    module = __import__(here)
    (tmp_path / "own.yaml").write_text(f"""
groups: {{policy: "{here}:policy"}}
sensor_models: {{height_scan: "{here}:late"}}
memories: {{wish: "{here}:wish"}}
""")
    options = load_options("own.yaml")
    assert options == {
        "groups": {"policy": module.policy},
        "sensor_models": {"height_scan": module.late},
        "memories": {"wish": module.wish},
    }
    with environment(**options) as env:
        observation, _ = env.reset(seed=0)
        assert observation["policy"].shape == (166,) and env.view.memory("wish").shape == (1, 1)


def test_actions_of_another_shape_are_refused_by_the_policys_name(here):
    with environment() as env:
        observation, _ = env.reset(seed=0)
        with pytest.raises(InvalidValueError) as error:
            make_policy(f"{here}:wrong", env).act(observation)
        told = f"actions of {here}:wrong must be finite numbers of shape (4,), got shape (1, 7)"
        assert str(error.value) == told
        with pytest.raises(
            InvalidValueError, match="must be a Policy, or a function of observations, got '<"
        ):
            make_policy("builtins:str", env)


@pytest.fixture
def onnx_file(tmp_path):
    pytest.importorskip("onnx")
    pytest.importorskip("onnxruntime")
    path = tmp_path / "policy.onnx"
    save_onnx(Network.load(BUNDLED / "StepClimb.npz"), path)
    return path


def test_a_policy_in_onnx_acts_as_the_network_that_was_written(onnx_file):
    several = VectorEnvironment("StepClimb", 300)
    several.observation_space.seed(0)
    observations = several.observation_space.sample()
    with environment() as alone:
        for env, seen in ((several, observations), (alone, observations[0])):
            one, other = make_policy("ppo", env), make_policy(str(onnx_file), env)
            assert one.act(seen).shape == other.act(seen).shape == seen.shape[:-1] + (4,)
            np.testing.assert_allclose(other.act(seen), one.act(seen), rtol=0, atol=1e-5)
            assert other.trained_for == "StepClimb"
        assert np.mean(np.abs(make_policy("ppo", several).act(observations)) < 1) > 0.1
    several.close()


def test_a_policy_in_onnx_for_other_observations_or_actions_is_refused(onnx_file, tmp_path):
    import onnx

    with environment(belt_speed=0.4) as env, pytest.raises(InvalidValueError) as error:
        make_policy(str(onnx_file), env)
    assert str(error.value) == "policy for quince at StepClimb must be one for the belt_speed 0.4, got 0.3"
    model = onnx.load(onnx_file)
    del model.metadata_props[:]  # As of somebody else's.
    onnx.save(model, tmp_path / "bare.onnx")
    with environment() as env:
        assert make_policy(str(tmp_path / "bare.onnx"), env).trained_for is None
    with environment(parts={"velocity": None}) as env, pytest.raises(InvalidValueError) as error:
        make_policy(str(tmp_path / "bare.onnx"), env)
    expected = "of one input of singles of shape (N, 80), N free, the entries of an observation here"
    assert str(error.value).endswith(f"must be {expected}, got tensor(float) of shape ['N', 83]")
    model.graph.input[0].type.tensor_type.shape.dim[0].dim_value = 1
    onnx.save(model, tmp_path / "alone.onnx")
    with (
        environment() as env,
        pytest.raises(InvalidValueError, match=r"got tensor\(float\) of shape \[1, 83"),
    ):
        make_policy(str(tmp_path / "alone.onnx"), env)
    (tmp_path / "bad.onnx").write_bytes(b"nothing")
    with environment() as env, pytest.raises(FileAccessError, match=r"bad.onnx: not a file of ONNX \("):
        make_policy(str(tmp_path / "bad.onnx"), env)


def test_a_policy_in_torchscript_acts_as_its_module(tmp_path):
    torch = pytest.importorskip("torch")
    layer = torch.nn.Linear(83, 4)
    torch.jit.script(layer).save(str(tmp_path / "policy.pt"))
    with environment() as env:
        observation, _ = env.reset(seed=0)
        policy = make_policy(str(tmp_path / "policy.pt"), env)
        assert isinstance(policy, Policy)
        expected = np.clip(layer.weight.detach().numpy() @ observation + layer.bias.detach().numpy(), -1, 1)
        np.testing.assert_allclose(policy.act(observation), expected, rtol=0, atol=1e-5)
        env.step(policy.act(observation) + 0 * FORWARD)
        torch.jit.script(torch.nn.Linear(5, 4)).save(str(tmp_path / "other.pt"))
        with pytest.raises(
            InvalidValueError, match=r"other.pt must be one that takes observations of shape \(1, 83\)"
        ):
            make_policy(str(tmp_path / "other.pt"), env).act(observation)
        (tmp_path / "bad.pt").write_bytes(b"nothing")
        with pytest.raises(FileAccessError, match=r"bad.pt: not a file of TorchScript \("):
            make_policy(str(tmp_path / "bad.pt"), env)


def test_the_command_trains_for_a_task_of_ones_own_and_goes_on(here, tmp_path):
    for package in ("stable_baselines3", "tensorboard", "onnx", "onnxruntime"):
        pytest.importorskip(package)
    (tmp_path / "own.yaml").write_text(f'terms: {{own: "{here}:own"}}\n')
    words = ["train", f"{here}:Ditch", "--options", "own.yaml", "--robots", "4", "--preset", "fast"]
    words += ["--set", "rise=0.05"]
    done = CliRunner().invoke(app, [*words, "--steps", "64", "--out", "run"])
    assert done.exit_code == 0, done.output
    settings = json.loads((tmp_path / "run" / "settings.json").read_text())
    assert (settings["task"], settings["options"]) == (f"{here}:Ditch", "own.yaml")
    again = CliRunner().invoke(app, [*words, "--steps", "128", "--out", "run", "--resume"])
    assert again.exit_code == 0 and "of 128" in again.output
    with environment(f"{here}:Ditch") as env:
        observation, _ = env.reset(seed=0)
        acts = [make_policy(f"run/policy.{kind}", env).act(observation) for kind in ("npz", "onnx")]
        np.testing.assert_allclose(*acts, rtol=0, atol=2e-6)


def test_training_has_the_step_of_environments_that_are_made():
    pytest.importorskip("stable_baselines3")
    from segtrack.envs.learning import TrainingSettings, ppo

    robots = ppo._robots(TrainingSettings("StepClimb"), 1)
    with environment() as alone:
        assert robots.env.time_step == VectorEnvironment("StepClimb").time_step == alone.time_step
    robots.close()
