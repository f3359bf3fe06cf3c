"""Environments on the cores of one or many machines: Ray's actors, which the extra `ray` installs."""

from __future__ import annotations

from collections.abc import Sequence
from copy import deepcopy
from typing import Any

import gymnasium
import numpy as np
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space, concatenate, create_empty_array, iterate
from numpy.typing import NDArray

from segtrack.envs.setup import autoreset_of, mask_of, seeds_of
from segtrack.envs.vector_info import join_infos
from segtrack.errors import InvalidValueError, NotReadyError, SegtrackError

try:
    import ray
    from ray.exceptions import RayActorError, RayTaskError
except ImportError as error:
    hint = 'RayVectorEnv needs the extra "ray" (pip install ".[ray]")'
    raise SegtrackError(f"{hint}: {error}") from None

_PATIENCE = 10.0  # For environments to close [s], before their workers are ended.


class RayVectorEnv(VectorEnv[Any, Any, NDArray[Any]]):
    """A vector environment in parts, each in a Ray actor, stepped together.

    Each worker has what `gymnasium.make_vec` makes of its share: of segtrack's environments a batch of
    robots, of others gymnasium's loop. `reset`, `step` and `close` are those of gymnasium's vector
    environments, and to the bit equal to that of all of them in one: the same batches, `info` and autoreset
    modes, but for the order of keys of `info`. Actions are one array for each environment.

    Ray decides where actors run; they are spread over its machines, each of which needs segtrack
    and the same versions of Python and Ray. `ray.init(address="auto")` before the first environment
    connects to a running cluster, and is kept; without it, `ray.init()` is called here, which
    starts Ray on this machine unless Ray's own settings (`RAY_ADDRESS`) name a cluster. Ray is not
    shut down again: others may be using it.

    A mistake of the user's is raised as the `SegtrackError` that the environment raises; any other
    exception as Ray does, an instance of its class with the traceback of the worker. The other
    workers have made their step then.
    """

    def __init__(
        self,
        env_id: str,
        num_envs: int,
        *,
        workers: int | None = None,
        vectorization_mode: str | None = None,
        autoreset_mode: str | AutoresetMode = AutoresetMode.NEXT_STEP,
        **parameters: Any,
    ) -> None:
        """Start the workers, and make the environments of each.

        Args:
            env_id: Such as `segtrack/StepClimb-v0`; `module:id` if another module registers it.
            num_envs: Number of environments.
            workers: Number of workers that share them; a worker a core of Ray's machines if not given.
            vectorization_mode: `sync` for single environments, of any engine; a batch if there is one.
            autoreset_mode: Mode of resets after the end of an episode, as gymnasium's.
            **parameters: Keywords of `gymnasium.make_vec`, the same for all. A batch has one thread unless
                `threads` says otherwise.

        Raises:
            InvalidValueError: Fewer than one, or more workers than environments.
            UnknownNameError: No such autoreset mode.
            SegtrackError: Whatever the environment refuses; or a worker died.
        """
        if not isinstance(num_envs, int) or num_envs < 1:
            raise InvalidValueError("num_envs", "a whole number, at least 1", num_envs)
        self._mode = autoreset_of(autoreset_mode)
        if not ray.is_initialized():
            ray.init()
        if workers is None:
            workers = min(num_envs, max(1, int(ray.cluster_resources().get("CPU", 1))))
        if not isinstance(workers, int) or not 1 <= workers <= num_envs:
            raise InvalidValueError("workers", f"a whole number from 1 to {num_envs}", workers)
        self.num_envs, self._id = num_envs, env_id
        self._observations: list[Any] = [None] * num_envs
        self._over = np.zeros(num_envs, np.bool_)
        self._shares = np.array_split(np.arange(num_envs), workers)
        actor: Any = ray.remote(scheduling_strategy="SPREAD")(_Worker)
        self._workers = [actor.remote() for _ in self._shares]
        given = self._mode, vectorization_mode, parameters
        try:
            made = self._ask("make", {w: (env_id, len(own), *given) for w, own in enumerate(self._shares)})
        except BaseException:
            self.close()
            raise
        self.single_observation_space, self.single_action_space, self.metadata, self.spec = made[0]
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space = batch_space(self.single_action_space, num_envs)

    def reset(
        self, *, seed: int | Sequence[int | None] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        """Begin an episode in every environment.

        Args:
            seed: Seed of the first environment, and counted up for the others; or one for each.
            options: Options of each environment's `reset`; and `reset_mask`, which of them to reset
                (num_envs,), for those that do not reset themselves.

        Returns:
            The observations, batched, and `info`.

        Raises:
            NotReadyError: Closed, or Ray is shut down; or some are to be left out before all were reset.
            InvalidValueError: Another number of seeds, or a mask that is none.
            SegtrackError: Whatever an environment refuses; or a worker died.
        """
        self._check_open("reset")
        seeds, (mask, others) = seeds_of(seed, self.num_envs), mask_of(options, self.num_envs)
        if not mask.all() and not self._all_reset():
            raise NotReadyError(f"reset some of {self._id}", "not all have been reset before")
        asked = {}
        for worker, own in enumerate(self._shares):
            if mask[own].any():
                some = others if mask[own].all() else {**(others or {}), "reset_mask": mask[own]}
                asked[worker] = [seeds[i] for i in own.tolist()], some
        infos = self._take(self._ask("reset", asked))
        self._over[mask] = False
        return self._batch(), infos

    def step(
        self, actions: Any
    ) -> tuple[Any, NDArray[np.float64], NDArray[np.bool_], NDArray[np.bool_], dict[str, Any]]:
        """Act in every environment for one step.

        Args:
            actions: Actions of all environments (num_envs, ...).

        Returns:
            Observations, rewards, terminations and truncations, batched, and `info`.

        Raises:
            NotReadyError: Not reset, closed, Ray shut down, or over in mode `DISABLED`.
            InvalidValueError: Another number of actions.
            SegtrackError: Whatever an environment refuses; or a worker died.
        """
        self._check_open("step")
        if not self._all_reset():
            raise NotReadyError(f"step {self._id}", "it has not been reset")
        if self._mode is AutoresetMode.DISABLED and self._over.any():
            over = ", ".join(map(str, np.flatnonzero(self._over)))
            raise NotReadyError(f"step {self._id}", f"the episodes of {over} are over; reset them")
        parts = list(iterate(self.action_space, actions))
        if len(parts) != self.num_envs:
            raise InvalidValueError("actions", f"{self.num_envs}, one for each environment", len(parts))
        asked = {w: ([parts[i] for i in own.tolist()],) for w, own in enumerate(self._shares)}
        answers = self._ask("step", asked)
        infos = self._take(answers)
        rewards, terminations, truncations = (
            np.concatenate([answer[part] for answer in answers.values()]) for part in (1, 2, 3)
        )
        self._over = terminations | truncations
        return self._batch(), rewards, terminations, truncations, infos

    def close_extras(self) -> None:
        """Close the environments and end the workers; `close()` calls this, once."""
        if ray.is_initialized():
            closing = [worker.close.remote() for worker in self._workers]
            ray.wait(closing, num_returns=len(closing), timeout=_PATIENCE)
            for worker in self._workers:
                ray.kill(worker)
        self._workers.clear()

    def _take(self, answers: dict[int, Any]) -> dict[str, Any]:
        """Keep some workers' observations, which come first in an answer, and join `info`, which is last."""
        for worker, answer in answers.items():
            for i, observation in zip(self._shares[worker].tolist(), answer[0], strict=True):
                self._observations[i] = observation
        infos = [answers[worker][-1] if worker in answers else {} for worker in range(len(self._shares))]
        return join_infos(infos, [len(own) for own in self._shares])

    def _ask(self, what: str, arguments: dict[int, tuple[Any, ...]]) -> dict[int, Any]:
        """Let workers do something at the same time, and wait for all; the first failure is raised."""
        asked = {i: getattr(self._workers[i], what).remote(*given) for i, given in arguments.items()}
        answers, failures = {}, list[Exception]()
        for i, answer in asked.items():
            try:
                # What Ray hands out is read-only and held in its memory: a user gets a copy.
                answers[i] = deepcopy(ray.get(answer))
            except RayTaskError as failure:
                cause = failure.cause
                failures.append(cause if isinstance(cause, SegtrackError) else failure)
            except RayActorError as failure:
                reason = str(failure).splitlines()[0]
                failures.append(SegtrackError(f"cannot {what} {self._id}: worker {i} died: {reason}"))
        if failures:
            raise failures[0] from None
        return answers

    def _batch(self) -> Any:
        batch: Any = create_empty_array(self.single_observation_space, self.num_envs)
        return concatenate(self.single_observation_space, self._observations, batch)

    def _all_reset(self) -> bool:
        return all(observation is not None for observation in self._observations)

    def _check_open(self, what: str) -> None:
        if self.closed:
            raise NotReadyError(f"{what} {self._id}", "it is closed")
        if not ray.is_initialized():
            raise NotReadyError(f"{what} {self._id}", "Ray has been shut down")


_BATCH = "segtrack.envs.vector:VectorEnvironment"


class _Worker:
    """A vector environment; importing this module in the actor's process has registered segtrack's.

    It is made in a method: what an actor's constructor raises reaches the driver as text only.
    """

    def make(
        self, env_id: str, count: int, mode: AutoresetMode, way: str | None, parameters: dict[str, Any]
    ) -> tuple[Any, ...]:
        resets: dict[str, Any] = {"autoreset_mode": mode}
        if way is None and gymnasium.spec(env_id).vector_entry_point == _BATCH:
            given = {"threads": 1, **parameters, **resets}
        else:
            given = {"vectorization_mode": way or "sync", **parameters, "vector_kwargs": resets}
        self.env = env = gymnasium.make_vec(env_id, num_envs=count, **given)
        return env.single_observation_space, env.single_action_space, env.metadata, env.spec

    def reset(
        self, seeds: list[int | None], options: dict[str, Any] | None
    ) -> tuple[list[Any], dict[str, Any]]:
        observations, info = self.env.reset(seed=seeds, options=options)  # type: ignore[arg-type]
        return list(iterate(self.env.observation_space, observations)), info

    def step(self, actions: list[Any]) -> tuple[list[Any], Any, Any, Any, dict[str, Any]]:
        observations, *ends, info = self.env.step(actions)
        return list(iterate(self.env.observation_space, observations)), *ends, info

    def close(self) -> None:
        self.env.close()
