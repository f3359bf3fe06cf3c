"""Code of the native engine's steps: no function that libraries have for each processor anew."""

import dis
from itertools import pairwise

import pytest

from segtrack.kernels import Kernel
from segtrack.native import advance
from segtrack.native.chain_step import advance_chains

pytestmark = pytest.mark.skipif(not isinstance(advance, Kernel), reason="nothing is compiled")
EXACT = {"floor", "frexp", "inf", "isfinite", "ldexp", "sqrt"}
"""Names of the standard library: exact or rounded once, on any processor."""


def used(kernel):
    """Names of modules `math` and `np` that a kernel's own code uses."""
    for module, name in pairwise(dis.get_instructions(kernel.py_func)):
        if module.opname == "LOAD_GLOBAL" and module.argval in ("math", "np"):
            yield name.argval


@pytest.mark.parametrize("step", [advance, advance_chains], ids=["belts", "chains"])
def test_a_step_uses_nothing_of_the_mathematical_library_that_is_rounded_otherwise_elsewhere(step):
    names = {name for kernel in step.callees() for name in used(kernel)}
    assert {"sqrt", "floor"} <= names
    assert names <= EXACT
