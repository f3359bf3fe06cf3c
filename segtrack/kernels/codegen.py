"""Compilation of kernels: numba's, cut down to what they need, for any processor of the machine's family.

Numba optimises a function's code, and makes code for the processor of it, for the function itself and again
within each that calls it. Here that is done once, for the functions that Python calls.
"""

from __future__ import annotations

from functools import cached_property
from operator import getitem
from typing import Any

from numba.core.codegen import JITCodeLibrary, JITCPUCodegen
from numba.core.registry import CPUTarget, cpu_target
from numba.core.types import BaseFunction
from numba.core.typing import Context


class _TypingContext(Context):
    """Numba's types of expressions, looked up once for each operator or function and types of arguments.

    Numba looks for a product of two numbers among those of lists, strings and arrays at each product
    of each kernel: that takes a third of the time of compilation.
    """

    def __init__(self, shared: Context) -> None:
        # What is registered with numba is seen here, too.
        self.__dict__ = {**vars(shared)}
        self._signatures: dict[Any, Any] = {}

    def resolve_function_type(self, func: Any, args: Any, kws: Any) -> Any:
        """Return the signature of a call."""
        if kws or not (isinstance(func, BaseFunction) or func is getitem):
            return super().resolve_function_type(func, args, kws)
        key = func, tuple(args)
        signature = self._signatures.get(key)
        if signature is None:
            signature = super().resolve_function_type(func, args, kws)
            self._signatures[key] = signature
        return signature


class _Library(JITCodeLibrary):
    """Code of a kernel that Python calls, with that of all kernels that it calls."""

    def _optimize_final_module(self) -> None:
        passes, builder = self._codegen._module_pass_manager()
        passes.run(self._final_module, builder)


class _InnerLibrary(JITCodeLibrary):
    """Code that becomes part of other libraries, which optimise it."""

    def _optimize_final_module(self) -> None:
        """Leave that to the libraries of which it becomes part."""

    def _finalize_final_module(self) -> None:
        self._finalize_dynamic_globals()
        self._verify_declare_only_symbols()
        self._finalized = True

    def get_pointer_to_function(self, name: str) -> int:
        """Return 0: there is no code for the processor."""
        return 0

    def serialize_using_object_code(self) -> Any:
        """Return what is kept on disk."""
        return self.serialize_using_bitcode()


class _Codegen(JITCPUCodegen):
    """Code generation for any processor of the machine's family, whatever NUMBA_CPU_NAME says.

    Code for the processor at hand rounds otherwise than that for another one: fused products, other orders
    of sums. It is no faster.
    """

    _library_class: type[JITCodeLibrary] = _Library


class _InnerCodegen(_Codegen):
    """Code generation of kernels that only kernels call."""

    _library_class = _InnerLibrary

    def set_env(self, env_name: str, env: Any) -> None:
        """Do nothing: what Python calls has the environment."""


class _Target(CPUTarget):
    """The processor, as numba sees it, with a code generation of its own."""

    def __init__(self, codegen: type[_Codegen], typing: Context) -> None:
        super().__init__("cpu")
        self._codegen, self._typing = codegen, typing

    @property
    def typing_context(self) -> Context:
        """Types of expressions."""
        return self._typing

    @cached_property
    def target_context(self) -> Any:
        """Code generation."""
        return cpu_target.target_context.subtarget(_internal_codegen=self._codegen("segtrack"))


_TYPING = _TypingContext(cpu_target.typing_context)
ENTRY = _Target(_Codegen, _TYPING)
"""Target of kernels that Python calls."""
INNER = _Target(_InnerCodegen, _TYPING)
"""Target of kernels that only kernels call."""
