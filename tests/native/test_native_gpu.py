"""Steps of chains compile for a GPU, without one: nothing in them is refused there.

Those of belts run on one: `tests/batch/test_batch_gpu.py`.
"""

from types import SimpleNamespace

import pytest
from numba import float64, int64, typeof, types

import segtrack
from segtrack import terrain
from segtrack.native import chain_step

pytest.importorskip("numba_cuda", reason="of an extra")
from numba import cuda  # noqa: E402
from numba.cuda import dispatcher  # noqa: E402

from segtrack.batch.gpu_functions import gpu_function  # noqa: E402

HOPPER = (9, 0)
VECTOR = types.UniTuple(float64, 3)


@cuda.jit(device=True)
def item(items, index):
    """Item of a tuple in place of packed ones."""
    return items[index]


@pytest.mark.slow
def test_steps_of_chains_compile_for_a_gpu(monkeypatch):
    with segtrack.World(engine="native") as world:
        world.add_terrain(terrain.Step(height=0.1, distance=0.3))
        model = world.add_vehicle("packbot", track_model="chain").model
        world.run(0.01)
    # Numba asks the GPU at hand what it can.
    monkeypatch.setattr(dispatcher, "get_current_device", lambda: SimpleNamespace(compute_capability=HOPPER))
    monkeypatch.setattr(chain_step, "item", item)
    chains = typeof(tuple(chain.arrays for chain in model.chains))
    given = model.arrays, model._ground, model.state, model._history, model._candidates, model._work
    after = model._failures, model.done, model._outcome
    numbers = VECTOR, float64, int64, int64, int64, float64, types.boolean
    arguments = (*map(typeof, given), chains, *map(typeof, after), *numbers)
    function = gpu_function(chain_step.advance_chains).py_func
    code, _ = cuda.compile_ptx(function, types.void(*arguments), device=True, cc=HOPPER)
    assert ".target sm_90" in code
