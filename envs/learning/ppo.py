"""Training with Stable-Baselines3 and PyTorch, with a curriculum that the mean action's success raises."""

from __future__ import annotations

import math
import time
import zipfile
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import torch
from gymnasium.vector import AutoresetMode
from numpy.typing import NDArray
from stable_baselines3 import PPO
from stable_baselines3.common.base_class import BaseAlgorithm
from stable_baselines3.common.callbacks import BaseCallback

from segtrack.envs.learning.exchange import save_onnx
from segtrack.envs.learning.network import Network, NetworkOrigin
from segtrack.envs.learning.sb3 import Robots
from segtrack.envs.learning.training import (
    CHECKPOINT,
    CURVE,
    HIDDEN,
    ONNX,
    POLICY,
    LearningCurve,
    TrainingResult,
    TrainingSettings,
    level_column,
    success_column,
)
from segtrack.envs.vector import VectorEnvironment
from segtrack.errors import FileAccessError, NotReadyError
from segtrack.files import replacing

THRESHOLD = 0.9
"""Success of the mean action from which a level counts as mastered."""
EACH, LEAST = 12, 3
"""Robots at each level in a trial, shared by all strands, and of each strand at least."""
_LATEST = 500
"""Success rate and return are means over so many episodes."""
_TRIAL_EVERY, _TRIAL_SHARE = 250_000, 2_000
"""The mean action is tried, and a policy kept for good, after so many control steps, or after so many for
each robot of a trial, which takes up to 800 of them."""
_TENSORBOARD = "tensorboard"
_HORIZON = 32
"""Control steps of each robot between two updates."""
_MINIBATCHES = 16
"""Into so many a rollout is cut for the gradient's steps."""
_HOLD = 8
"""Control steps for which exploring actions deviate from the mean by one function of the state: flippers
integrate speeds, so that deviations anew in each step would hardly move one from its stop."""


class Levels:
    """Curriculum: difficulty levels, and the level up to which robots train.

    Half of the robots draw evenly from the easiest level to the present one, so that nothing is forgotten,
    the others between the level before it and it.

    Attributes:
        values: Levels, easiest first.
        present: Level up to which robots train; initially the second.
    """

    def __init__(self, values: Sequence[float], reached: float = -math.inf) -> None:
        """Start at the second level, or at the level `reached` by an earlier training."""
        self.values = tuple(values)
        self.present = max(self.values[:2][-1], reached)

    def ranges(self) -> tuple[tuple[float, float], tuple[float, float]]:
        """Return the difficulty ranges sampled by the first and by the second half of the robots."""
        before = [value for value in self.values if value < self.present]
        return (self.values[0], self.present), (before[-1] if before else self.present, self.present)

    def note(self, success: Iterable[float]) -> None:
        """Raise the present level to the first one not mastered, or else to the last; it never falls.

        Args:
            success: Success of the mean action at each level (n,).
        """
        failed = [v for v, rate in zip(self.values, success, strict=True) if rate < THRESHOLD]
        self.present = max(self.present, failed[0] if failed else self.values[-1])


class LevelTrial:
    """Evaluates the mean action in every (condition, level) case in one batch."""

    def __init__(self, robots: Robots, cases: Sequence[Mapping[str, Any]]) -> None:
        """Assign equally many consecutive robots to each case.

        Args:
            robots: Robots, a multiple of the number of cases.
            cases: Parameters of each case (n,).
        """
        self._robots, self._count = robots, len(cases)
        each = robots.num_envs // len(cases)
        for k, case in enumerate(cases):
            robots.env.set_parameters(case, range(k * each, (k + 1) * each))

    def success(self, act: Callable[[NDArray[np.float32]], NDArray[np.float32]]) -> NDArray[np.float64]:
        """Run one episode of each robot, and return each case's success rate (n,).

        Args:
            act: Function from scaled observations (N, n) to actions (N, A).
        """
        observations: Any = self._robots.reset()
        succeeded = np.full(self._robots.num_envs, np.nan)
        while np.isnan(succeeded).any():
            observations, _, over, infos = self._robots.step(act(observations))
            for i in np.flatnonzero(over & np.isnan(succeeded)).tolist():
                succeeded[i] = infos[i]["success"]
        return succeeded.reshape(self._count, -1).mean(axis=1)


def learn(
    settings: TrainingSettings,
    folder: Path,
    resumed: bool,
    start: Network | None,
    on_progress: Callable[[int], object],
) -> TrainingResult:
    """Train until all steps are done, or Ctrl-C; see `segtrack.envs.learning.training`."""
    difficulty = settings.graded_task.difficulty
    cases = [{difficulty: level, **strand} for strand in settings.strands for level in settings.levels]
    count = len(cases) * max(EACH // len(settings.strands), LEAST)
    with _one_thread(), closing(_robots(settings, settings.robots)) as robots:
        log = _Log(settings, folder, robots, max(_TRIAL_EVERY, _TRIAL_SHARE * count), on_progress)
        model = _load(settings, folder, robots) if resumed else _model(settings, robots, folder)
        log.model = model
        if start is not None:
            _begin_with(model, start)
            log.try_at_once()
        left = settings.steps - model.num_timesteps
        if left <= 0:
            return log.result()
        with closing(_robots(settings, max(count, 1))) as tried:
            if cases:
                tried.seed(settings.seed + 1_000_000 + model.num_timesteps)
                log.trial = LevelTrial(tried, cases)
            try:
                model.learn(left, callback=log, reset_num_timesteps=False, tb_log_name="ppo")
            except KeyboardInterrupt:
                log.keep()
            return log.result()


@contextmanager
def _one_thread() -> Iterator[None]:
    """Context with one PyTorch thread, since the bits of sums depend on the number of threads."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(threads)


def _robots(settings: TrainingSettings, count: int) -> Robots:
    """Vector environment of the training's robots, for Stable-Baselines3."""
    return Robots(
        VectorEnvironment(
            settings.graded_task,
            count,
            preset=settings.preset,
            threads=settings.threads,
            autoreset_mode=AutoresetMode.SAME_STEP,
            **settings.environment_options,
        )
    )


def _horizon(settings: TrainingSettings) -> int:
    """Control steps of each robot between two updates, fewer for short trainings."""
    return max(min(_HORIZON, settings.steps // settings.robots), 2)


def _layers(model: BaseAlgorithm) -> list[torch.nn.Linear]:
    """Layers of the mean action's network."""
    policy: Any = model.policy
    modules = (*policy.mlp_extractor.policy_net.modules(), *policy.action_net.modules())
    return [layer for layer in modules if isinstance(layer, torch.nn.Linear)]


def _begin_with(model: PPO, network: Network) -> None:
    """Give a model a network for its mean action."""
    with torch.no_grad():
        for layer, weight, bias in zip(_layers(model), network.weights, network.biases, strict=True):
            layer.weight.copy_(torch.from_numpy(weight))
            layer.bias.copy_(torch.from_numpy(bias))


def _load(settings: TrainingSettings, folder: Path, robots: Robots) -> PPO:
    """Load the checkpointed model, with newly seeded random numbers."""
    path, device = folder / CHECKPOINT, _device(settings)
    changed: dict[str, Any] = {"tensorboard_log": str(folder / _TENSORBOARD), "n_steps": _horizon(settings)}
    try:
        model = PPO.load(path, env=robots, device=device, **changed)
    except (OSError, ValueError, KeyError, zipfile.BadZipFile) as error:
        raise FileAccessError("resume training from", path, f"it is damaged ({error})") from None
    model.set_random_seed(settings.seed + model.num_timesteps)
    return model


def _device(settings: TrainingSettings) -> str:
    """PyTorch device of the learner.

    Raises:
        NotReadyError: It is not there.
    """
    if settings.learner == "cuda" and not torch.cuda.is_available():
        raise NotReadyError("learn on cuda", "PyTorch finds no GPU, or was built without CUDA")
    return settings.learner


def _rate(left: float) -> float:
    """Learning rate when a fraction `left` of the training is left."""
    return 4e-4 * max(left, 0.0)  # The last rollout may go beyond the steps in all.


def _model(settings: TrainingSettings, robots: Robots, folder: Path) -> PPO:
    """New PPO model for robots."""
    return PPO(
        "MlpPolicy",
        robots,
        n_steps=_horizon(settings),
        batch_size=max(_horizon(settings) * settings.robots // _MINIBATCHES, 2),
        n_epochs=5,
        learning_rate=_rate,
        gamma=0.99,
        ent_coef=0.002,
        target_kl=0.05,
        use_sde=True,
        sde_sample_freq=_HOLD,
        policy_kwargs={"net_arch": list(HIDDEN), "log_std_init": -2.0},
        tensorboard_log=str(folder / _TENSORBOARD),
        seed=settings.seed,
        device=_device(settings),
    )


class _Log(BaseCallback):
    """Callback that writes curve, checkpoint and policy after each rollout, and evaluates the mean action."""

    trial: LevelTrial | None = None

    def __init__(
        self,
        settings: TrainingSettings,
        folder: Path,
        robots: Robots,
        every: int,
        on_progress: Callable[[int], object],
    ) -> None:
        super().__init__()
        self._settings, self._folder, self._robots = settings, folder, robots
        self._every, self._on_progress = every, on_progress
        self._curve = LearningCurve(folder / CURVE, settings.levels, settings.strands)
        self._latest: deque[tuple[bool, float]] = deque(maxlen=_LATEST)
        self._before = {name: self._curve.last(name) for name in ("steps", "minutes", "simulation")}
        self._episodes = int(self._curve.last("episodes"))
        self._tried = self._before["steps"] // self._every
        self._began = time.perf_counter()
        self._strands = [
            (strand, Levels(settings.levels, self._curve.last(level_column(strand), -math.inf)))
            for strand in settings.strands
            if settings.levels
        ]
        self._share_out()

    def try_at_once(self) -> None:
        """Evaluate the mean action after the first rollout, so that the curriculum begins where it fails."""
        self._tried = -1

    @property
    def _minutes(self) -> float:
        return self._before["minutes"] + (time.perf_counter() - self._began) / 60

    def _share_out(self) -> None:
        """Set each strand's difficulty ranges from its present level."""
        difficulty, env = self._settings.graded_task.difficulty, self._robots.env
        for k, (strand, levels) in enumerate(self._strands):
            for half, drawn in enumerate(levels.ranges()):
                own = range(2 * k + half, env.num_envs, 2 * len(self._strands))
                env.set_parameters({difficulty: drawn, **strand}, own)

    def _on_step(self) -> bool:
        """Record finished episodes after each step."""
        for i in np.flatnonzero(self.locals["dones"]).tolist():
            info = self.locals["infos"][i]
            self._latest.append((info["success"], info["return"]))
            self._episodes += 1
        self._on_progress(self.num_timesteps)
        return True

    def _on_rollout_start(self) -> None:
        self._note()

    def _on_training_end(self) -> None:
        self._note()

    def _note(self) -> None:
        """Evaluate the mean action if due, add a row to the curve, and save the policy."""
        steps = self.num_timesteps
        if steps > self._before["steps"]:
            row = self._try() if self._due(steps) else {}
            row |= {"steps": steps, "minutes": self._minutes, "episodes": self._episodes}
            row["simulation"] = self._before["simulation"] + self._robots.env.simulation_time / 60
            if self._latest:
                row["success_rate"], row["mean_return"] = np.mean(self._latest, axis=0).tolist()
            for strand, levels in self._strands:
                row[level_column(strand)] = levels.present
            for name, value in row.items():
                self.logger.record(f"curve/{name}", value)
            self._curve.add(row)
        self.keep()

    def _due(self, steps: int) -> bool:
        tried, self._tried = self._tried, steps // self._every
        return self._tried > tried or steps >= self._settings.steps

    def _try(self) -> dict[str, float]:
        """Save the policy, and return its mean action's success at each level."""
        self._network().save(self._folder / "policies" / f"{self.num_timesteps:08d}.npz")
        if self.trial is None:
            return {}
        told = self.trial.success(lambda seen: self.model.predict(seen, deterministic=True)[0])
        success = told.reshape(len(self._strands), -1)
        for (_, levels), own in zip(self._strands, success, strict=True):
            levels.note(own)
        self._share_out()
        means = success.mean(axis=0).tolist()
        return dict(zip(map(success_column, self._settings.levels), means, strict=True))

    def keep(self) -> None:
        """Write checkpoint and policy atomically."""
        with replacing(self._folder / CHECKPOINT) as temporary:
            self.model.save(temporary)
        network = self._network()
        network.save(self._folder / POLICY)
        if find_spec("onnx") is not None:
            save_onnx(network, self._folder / ONNX)

    def _network(self) -> Network:
        """Network of the policy's mean action."""
        layers = _layers(self.model)
        return Network(
            NetworkOrigin.of(self._robots.env),
            *self._robots.env.sensors.limits,
            tuple(layer.weight.detach().cpu().numpy().astype(np.float32).copy() for layer in layers),
            tuple(layer.bias.detach().cpu().numpy().astype(np.float32).copy() for layer in layers),
        )

    def result(self) -> TrainingResult:
        """Return the training's result so far."""
        steps, rate = self.model.num_timesteps, self._curve.last("success_rate", math.nan)
        done = steps >= self._settings.steps
        return TrainingResult(self._settings, self._folder, steps, self._minutes, rate, done)
