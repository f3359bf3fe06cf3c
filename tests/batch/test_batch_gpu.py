"""A batch on a GPU, without one: numba simulates it, to the bit as on cores, and compiles for it.

Run as a program, with NUMBA_ENABLE_CUDASIM=1 and names of its functions, this file compares the two.
"""

import os
import pickle
import re
import subprocess
import sys
from types import SimpleNamespace

import numpy as np
import pytest

from segtrack import Batch, load_vehicle, terrain
from segtrack.batch import devices, fleet
from segtrack.errors import MissingPackageError, NotReadyError, UnknownNameError
from segtrack.experiments import with_grousers

STEP = 0.004
GROUNDS = (
    terrain.Step(height=0.1, distance=0.3),
    terrain.StepField(max_height=0.1, cell=0.2, rows=8, columns=8, distance=0.1, seed=3),
    terrain.Waves(heights=(0.05, 0.08), lengths=(0.5, 0.7), distance=0.4, width=3.0),
)
HOPPER = (9, 0)
MOST_PARAMETERS = 32764
"""Bytes that the arguments of a kernel may take, from drivers of series 530 on."""


def make(device):
    batch = Batch("quince", terrain=GROUNDS, time_step=STEP, device=device)
    batch.reset(x=(0.2, 0.4, 0.0))
    batch.set_friction((0.4, 0.6, 0.8))
    batch.set_body(mass=batch.vehicle.body.mass * np.array((1.0, 1.1, 0.9)))
    return batch


def drive(batch, k):
    """Five steps of a script, in which one begins anew elsewhere."""
    if k == 2:
        batch.reset([2], x=0.1, yaw=0.3, flippers={"front_left": 0.4}, terrain=GROUNDS[:1])
    batch.set_belt_speed((0.3, 0.2, 0.1), (0.3, 0.2, -0.1))
    batch.set_flipper_speeds(front_left=0.5, front_right=0.5, rear_left=-0.5, rear_right=-0.5)
    batch.advance(5)


def readings(batch):
    return [*batch.state, *batch.tracks, *batch.flippers, *batch.read_contacts(), batch.time, batch.running]


def assert_equal(one, other):
    for given, expected in zip(readings(one), readings(other), strict=True):
        np.testing.assert_array_equal(given, expected)


def compare_others():
    """Compare variants, and vehicles without joints, on the device that the simulator shows and on cores."""
    quince = load_vehicle("quince")
    variants = {"vehicle": [quince, with_grousers(quince, 1.5, 0.5)], "variant": [1, 0]}
    for given in (variants, {"vehicle": "packbot", "count": 1}):
        batches = [
            Batch(terrain=GROUNDS[0], time_step=STEP, device=device, **given) for device in devices.DEVICES
        ]
        for batch in batches:
            batch.set_belt_speed(0.2, 0.1)
            batch.advance(3)
        assert_equal(*batches)


def compare():
    """Compare a batch on the device that the simulator shows with one on cores."""
    cores = make("cpu")
    fleet.NEAR = 0.05  # Too little room at first, which grows within a step.
    gpu = make("cuda")
    small = gpu._fleet._room
    for k in range(4):
        drive(cores, k)
        drive(gpu, k)
        if k == 0:
            assert_equal(gpu, cores)
    assert_equal(gpu, cores)
    assert gpu._fleet._room > small

    copy, saved = pickle.loads(pickle.dumps(gpu)), gpu.save()
    belts = np.full((3, len(gpu.track_names)), 0.25)
    gpu.device_arrays.commands.copy_to_device(belts)
    copy.set_track_speeds(belts)
    cores.set_track_speeds(belts)
    for batch in (gpu, copy, cores):
        batch.apply_force(np.outer((0, 1e9, 0), (1, 0, 0)), np.zeros(3))
        batch.advance(2)
        assert batch.status == ["running", "diverged", "running"]
    assert_equal(gpu, cores)
    assert_equal(copy, cores)
    for batch in (gpu, cores):
        batch.restore(saved)
        batch.advance(1)
    assert_equal(gpu, cores)


def write_there():
    """Write to the arrays on the device that the simulator shows; a batch leaves that there."""
    batch = Batch("packbot", 2, time_step=STEP, device="cuda")
    arrays = batch.device_arrays
    acts = (
        lambda: batch.reset([1], x=0.5),
        lambda: batch.set_friction(0.3, [1]),
        lambda: batch.set_body([1], mass=15.0, center_of_mass=(0.0, 0.0, 0.02)),
        lambda: batch.apply_force(np.zeros(3), np.zeros(3)),
        batch.read_contacts,
        batch.save,
        lambda: None,
    )
    for k, act in enumerate(acts):
        assert np.isfinite([*batch.state.roll, *batch.tracks.slip[:, 0]]).all()  # Readings are not kept.
        place, belts = np.array((0.1 * k, 0.2, 1.0)), 0.01 * k + np.zeros((2, len(batch.track_names)))
        arrays.position[0:1].copy_to_device(place[None])
        arrays.commands.copy_to_device(belts)
        act()
        np.testing.assert_array_equal(arrays.position.copy_to_host()[0], place)
        np.testing.assert_array_equal(arrays.commands.copy_to_host()[0], belts[0])
        np.testing.assert_array_equal(batch._fleet.state.position[0], place)
        if k == 0:
            assert not arrays.commands.copy_to_host()[1].any()
            arrays.commands.copy_to_device(belts + 0.2)
            batch.advance(1)
            np.testing.assert_array_equal(arrays.commands.copy_to_host(), belts + 0.2)
    assert arrays.frictions.copy_to_host()[1].max() == 0.3
    with pytest.raises(ValueError, match="read-only"):
        batch._fleet.state.position[0] = 0.0  # Which no GPU would have.


def compare_heights():
    """Compare heights of cells on the device that the simulator shows with those on cores."""
    box = terrain.GroundBox(x=0.2, y=0.1, length=0.4, width=0.3, height=0.2, yaw=0.7)
    pipe = terrain.Hurdle(height=0.3, length=0.2, distance=0.1, pipe=True)
    grid = terrain.Heightfield(heights=np.random.default_rng(0).uniform(size=(5, 4)), spacing=0.3)
    grounds = (*GROUNDS, terrain.Boxes(boxes=(box,)), pipe, grid)
    index = np.array([5, 3, 0, 4, 1, 2, 3])
    cpu, gpu = (Batch("packbot", terrain=grounds, terrain_index=index, device=d) for d in devices.DEVICES)
    rng = np.random.default_rng(1)
    places, headings, cells = (
        rng.uniform(-0.4, 0.4, (7, 2)),
        rng.uniform(-4, 4, 7),
        rng.normal(size=(3, 8, 2)),
    )
    for laid in (None, terrain.Step(height=0.3, distance=-0.2)):
        if laid is not None:
            for batch in (cpu, gpu):
                batch.reset([4], terrain=[laid])
        found = gpu.cell_heights(places, headings, 0.3 * cells)
        np.testing.assert_array_equal(found, cpu.cell_heights(places, headings, 0.3 * cells))
        assert np.ptp(found) > 0.1
    assert (
        pickle.loads(pickle.dumps(gpu)).cell_heights(places, headings, 0.3 * cells).tolist() == found.tolist()
    )


def run_simulated(*names):
    """Run functions of this file in a process where numba simulates a GPU."""
    pytest.importorskip("numba_cuda", reason="of an extra")
    simulated, program = {**os.environ, "NUMBA_ENABLE_CUDASIM": "1"}, [sys.executable, __file__, *names]
    done = subprocess.run(program, env=simulated, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


@pytest.mark.slow
def test_a_simulated_gpu_does_to_the_bit_what_cores_do():
    run_simulated("compare", "compare_others")


def test_what_is_written_on_a_simulated_gpu_is_never_overwritten():
    run_simulated("write_there")


def test_heights_on_a_simulated_gpu_are_those_of_cores():
    run_simulated("compare_heights")


def as_on_a_gpu(value):
    """A named tuple with arrays laid out as they come to a GPU."""
    if isinstance(value, tuple):
        return type(value)(*map(as_on_a_gpu, value))
    return np.array(value, order="C") if isinstance(value, np.ndarray) else value


@pytest.mark.slow
def test_steps_compile_for_a_gpu(monkeypatch):
    pytest.importorskip("numba_cuda", reason="of an extra")
    from numba import cuda, types
    from numba.cuda import dispatcher

    from segtrack.batch.fleet import NO_REPORT
    from segtrack.batch.gpu_arrays import zero_rows
    from segtrack.batch.gpu_heights import join_reliefs, sample_cells
    from segtrack.batch.gpu_steps import forget_contacts, join_grounds, take_steps

    # Numba asks the GPU at hand what it can.
    monkeypatch.setattr(dispatcher, "get_current_device", lambda: SimpleNamespace(compute_capability=HOPPER))
    batch = make("cpu")
    built, reliefs = batch._fleet, as_on_a_gpu(join_reliefs(batch._grounds.reliefs.items))
    vehicles = built._vehicles(built.kinds[0])
    vehicles = as_on_a_gpu(vehicles._replace(work=zero_rows(vehicles.work, len(built))))
    grounds, gravity = as_on_a_gpu(join_grounds(built.grounds.items)), (0.0, 0.0, -9.81)
    calls = {
        take_steps: (vehicles, built.kind_of, 0, grounds, NO_REPORT, gravity, STEP, 5, 1.0),
        forget_contacts: (np.arange(2), vehicles.memories, vehicles.histories),
        sample_cells: (reliefs, np.arange(2), *(np.zeros((2, 3)) for _ in range(4))),
    }
    for kernel, arguments in calls.items():
        signature = types.void(*map(kernel.typeof_pyval, arguments))
        code, _ = cuda.compile_ptx(kernel.py_func, signature, cc=HOPPER)
        assert ".target sm_90" in code
        assert parameter_bytes(code) < MOST_PARAMETERS
        if kernel is take_steps:
            assert "sqrt.rn.f64" in code  # Of the equations' solution.


def parameter_bytes(code):
    """Room that the arguments of the kernel in PTX take, each aligned to eight bytes."""
    (arguments,) = re.findall(r"\.visible \.entry [^(]*\((.*?)\)", code, re.DOTALL)
    return 8 * arguments.count(".param")


def test_joined_grounds_are_what_they_were():
    pytest.importorskip("numba_cuda", reason="of an extra")
    from segtrack.batch.gpu_steps import join_grounds
    from segtrack.ground import pack_ground

    soft = terrain.Plane(soil=terrain.find_soil("LETE sand"))
    step, *others = (pack_ground((each,)) for each in (*GROUNDS, terrain.Plane(), soft))
    grounds = [step, *others, step]
    joined, spans = join_grounds(grounds)
    assert len(joined.heights) == sum(len(ground.heights) for ground in (step, *others))
    for ground, rows in zip(grounds, spans, strict=True):
        for array, all_of_them, (first, last) in zip(ground, joined, rows, strict=True):
            part = all_of_them[first:last]
            np.testing.assert_array_equal(part if part.ndim < 3 else part[:, : array.shape[1]], array)


def test_a_device_that_is_not_there_gets_one_clear_error(monkeypatch):
    with pytest.raises(UnknownNameError) as unknown:
        Batch("quince", 1, device="tpu")
    assert str(unknown.value) == "no device of a batch 'tpu'; there are: cpu, cuda"
    monkeypatch.setattr(devices, "find_spec", lambda name: None)
    with pytest.raises(MissingPackageError) as missing:
        Batch("quince", 1, device="cuda")
    assert str(missing.value) == (
        'Batch(device="cuda") needs numba-cuda, which is not installed: pip install "segtrack[gpu]"'
    )


def test_a_machine_without_a_gpu_says_so(monkeypatch):
    pytest.importorskip("numba_cuda", reason="of an extra")
    from numba import cuda

    monkeypatch.setattr(cuda, "is_available", lambda: False)
    with pytest.raises(NotReadyError) as error:
        Batch("quince", 1, device="cuda")
    assert str(error.value) == (
        'cannot make Batch(device="cuda"): numba-cuda finds no GPU of NVIDIA, or no driver of it; `numba -s` '
        "says what it finds"
    )


if __name__ == "__main__":
    for name in sys.argv[1:]:
        globals()[name]()
