"""The native engine's steps compile for a GPU, without one: nothing in them is refused there."""

from types import FunctionType, SimpleNamespace

import numpy as np
import pytest
from numba import float64, int64, typeof, types

import segtrack
from segtrack import terrain
from segtrack.compliant.edge_contact import REPORT
from segtrack.ground import tuples
from segtrack.ground.kernels import Kernel
from segtrack.native.chain_step import advance_chains
from segtrack.native.step import advance

pytest.importorskip("numba_cuda", reason="needs numba-cuda")
from numba import cuda  # noqa: E402
from numba.cuda import dispatcher  # noqa: E402

HOPPER = (9, 0)
VECTOR = types.UniTuple(float64, 3)


@cuda.jit(device=True)
def item(items, index):
    """Item of a tuple in place of packed ones."""
    return items[index]


def for_gpu(function, made):
    """A kernel's function for a GPU, and those of all kernels that it calls."""
    if function not in made:
        known = dict(function.__globals__)
        for name in function.__code__.co_names:
            if isinstance(known.get(name), Kernel):
                known[name] = for_gpu(known[name].py_func, made)
            elif known.get(name) is tuples.item:
                known[name] = item
        copy = FunctionType(function.__code__, known, function.__name__, function.__defaults__)
        made[function] = cuda.jit(copy, device=True)
    return made[function]


def ptx_of(kernel, arguments, monkeypatch):
    """Code of a kernel for a GPU, for arguments of these types."""
    # Numba asks the GPU at hand what it can.
    monkeypatch.setattr(dispatcher, "get_current_device", lambda: SimpleNamespace(compute_capability=HOPPER))
    function = for_gpu(kernel.py_func, {}).py_func
    code, _ = cuda.compile_ptx(function, types.void(*arguments), device=True, cc=HOPPER)
    return code


def vehicle_on_a_step(name, track_model):
    with segtrack.World(engine="native") as world:
        world.add_terrain(terrain.Step(height=0.1, distance=0.3))
        model = world.add_vehicle(name, track_model=track_model).model
        world.run(0.01)
    return model


@pytest.mark.slow
def test_steps_of_belts_compile_for_a_gpu(monkeypatch):
    model = vehicle_on_a_step("quince", "compliant")
    report = typeof(np.zeros((0, REPORT)))
    packed, grounds = (typeof(tuple(each.items)) for each in (model._packed, model._grounds))
    arguments = packed, grounds, report, int64, int64, VECTOR, float64, int64, float64
    code = ptx_of(advance, arguments, monkeypatch)
    assert ".target sm_90" in code
    assert "sqrt.rn.f64" in code  # Of the equations' solution.


@pytest.mark.slow
def test_steps_of_chains_compile_for_a_gpu(monkeypatch):
    model = vehicle_on_a_step("packbot", "chain")
    chains = typeof(tuple(chain.arrays for chain in model.chains))
    given = model.arrays, model._ground, model.state, model._history, model._candidates, model._work
    after = model._failures, model.done, model._outcome
    numbers = VECTOR, float64, int64, int64, int64, float64, types.boolean
    arguments = (*map(typeof, given), chains, *map(typeof, after), *numbers)
    code = ptx_of(advance_chains, arguments, monkeypatch)
    assert ".target sm_90" in code
