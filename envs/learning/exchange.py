"""Policies in others' formats: ONNX, written and read, and TorchScript, read."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import asdict
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from segtrack.envs.environment import Environment
from segtrack.envs.learning.network import Network, NetworkOrigin
from segtrack.errors import FileAccessError, InvalidValueError, MissingPackageError, Phrase
from segtrack.files import check_regular, replacing

if TYPE_CHECKING:
    from segtrack.envs.vector import VectorEnvironment  # With numba, which takes half a second to import.

OBSERVATION, ACTION = "observation", "action"
"""Names of the ONNX file's input (N, n) and output (N, m)."""
_OPSET, _IR = 17, 8
"""Versions of the operators and of the format, which runtimes since 2022 read."""


def save_onnx(network: Network, path: Path) -> None:
    """Write a network as ONNX: from flat observations (N, n), in SI units, to actions (N, m) in [-1, 1].

    Its metadata say what it was trained for, as `origin` in JSON.

    Raises:
        MissingPackageError: onnx is not installed.
        FileAccessError: It cannot be written.
    """
    if find_spec("onnx") is None:
        raise MissingPackageError("writing ONNX", "onnx", "train")
    from onnx import TensorProto, checker, helper, numpy_helper

    constants = {
        "low": network.low,
        "range": network.high - network.low,
        "two": np.float32(2.0),
        "one": np.float32(1.0),
        "minus_one": np.float32(-1.0),
    }
    nodes = [
        helper.make_node("Sub", [OBSERVATION, "low"], ["above"]),
        helper.make_node("Mul", ["above", "two"], ["twice"]),
        helper.make_node("Div", ["twice", "range"], ["share"]),
        helper.make_node("Sub", ["share", "one"], ["layer_0"]),
    ]
    last = len(network.weights) - 1
    for i, (weight, bias) in enumerate(zip(network.weights, network.biases, strict=True)):
        constants |= {f"weight_{i}": weight, f"bias_{i}": bias}
        given = [f"layer_{i}", f"weight_{i}", f"bias_{i}"]
        nodes.append(helper.make_node("Gemm", given, [f"sum_{i}"], transB=1))
        if i < last:
            nodes.append(helper.make_node("Tanh", [f"sum_{i}"], [f"layer_{i + 1}"]))
    nodes.append(helper.make_node("Clip", [f"sum_{last}", "minus_one", "one"], [ACTION]))
    floats = TensorProto.FLOAT
    graph = helper.make_graph(
        nodes,
        "policy",
        [helper.make_tensor_value_info(OBSERVATION, floats, ["N", len(network.low)])],
        [helper.make_tensor_value_info(ACTION, floats, ["N", len(network.biases[-1])])],
        [numpy_helper.from_array(np.asarray(value, np.float32), name) for name, value in constants.items()],
    )
    opset = [helper.make_opsetid("", _OPSET)]
    model = helper.make_model(graph, producer_name="segtrack", ir_version=_IR, opset_imports=opset)
    helper.set_model_props(model, {"origin": json.dumps(asdict(network.origin))})
    checker.check_model(model)
    with replacing(path) as temporary:
        temporary.write_bytes(model.SerializeToString())


def load_onnx(
    path: Path, env: Environment | VectorEnvironment
) -> tuple[Callable[[NDArray[np.float32]], Any], NetworkOrigin | None]:
    """Return the function of an ONNX file from one input (N, n) to an output (N, m), and its origin if told.

    Raises:
        MissingPackageError: onnxruntime is not installed.
        FileAccessError: The file cannot be read.
        InvalidValueError: It takes other observations than the environment's.
    """
    if find_spec("onnxruntime") is None:
        raise MissingPackageError("a policy in ONNX", "onnxruntime", "train")
    import onnxruntime

    content = _content(path)
    settings = onnxruntime.SessionOptions()
    settings.intra_op_num_threads = 1  # Else the bits depend on the number of cores.
    try:
        session = onnxruntime.InferenceSession(content, settings, providers=["CPUExecutionProvider"])
    except Exception as error:  # Of classes of its own, which derive from nothing else.
        reason = str(error).partition("\n")[0]
        raise FileAccessError("read policy", path, f"not a file of ONNX ({reason})") from None
    inputs, entries = session.get_inputs(), len(env.sensors.entries)
    match [(each.type, *each.shape) for each in inputs]:
        case [("tensor(float)", None | str(), None | str() | int() as width)]:
            fits = not isinstance(width, int) or width == entries
        case _:
            fits = False
    if not fits:
        expected = (
            f"of one input of singles of shape (N, {entries}), N free, the entries of an observation here"
        )
        kinds = ", ".join(f"{each.type} of shape {each.shape}" for each in inputs)
        raise InvalidValueError(f"policy {path}", expected, Phrase(kinds or "no input"))
    name = inputs[0].name
    told = session.get_modelmeta().custom_metadata_map.get("origin")
    try:
        origin = None if told is None else NetworkOrigin.read(json.loads(told))
    except (ValueError, KeyError, TypeError):
        raise FileAccessError("read policy", path, "its origin is damaged") from None
    return lambda observations: session.run(None, {name: observations})[0], origin


def load_torchscript(path: Path) -> Callable[[NDArray[np.float32]], Any]:
    """Return the function of a TorchScript file from observations (N, n) to actions (N, m).

    Raises:
        MissingPackageError: PyTorch is not installed.
        FileAccessError: The file cannot be read.
    """
    if find_spec("torch") is None:
        raise MissingPackageError("a policy in TorchScript", "torch", "train")
    import torch

    _content(path)
    try:
        module = torch.jit.load(str(path), map_location="cpu").eval()
    except (RuntimeError, ValueError) as error:
        reason = str(error).partition("\n")[0]
        raise FileAccessError("read policy", path, f"not a file of TorchScript ({reason})") from None

    def act(observations: NDArray[np.float32]) -> Any:
        with torch.inference_mode():
            try:
                return module(torch.as_tensor(observations)).numpy()
            except RuntimeError as error:
                reason = str(error).strip().rpartition("\n")[2]
                expected = f"one that takes observations of shape {observations.shape}"
                raise InvalidValueError(f"policy {path}", expected, Phrase(f"an error ({reason})")) from None

    return act


def _content(path: Path) -> bytes:
    check_regular(path)
    try:
        return path.read_bytes()
    except OSError as error:
        raise FileAccessError("read policy", path, error.strerror or "not a file") from None
