"""How many one-line mistakes the tests of a part catch: `python tests/mutate.py PART`.

Cosmic-ray's operators make the mistakes; `[tool.mutation]` in pyproject.toml says which, in which files, and
which tests look for them. Each mutant is tested in a process of its own, which loads the module with its
mistake; no file is changed. Kernels run uncompiled. A mutant is caught if a test fails, or if the tests take
ten times the processor time that they take without it.
"""

from __future__ import annotations

import difflib
import gc
import inspect
import os
import random
import re
import resource
import sys
from collections.abc import Callable, Iterator
from importlib.machinery import SourceFileLoader
from pathlib import Path
from types import CodeType, FunctionType
from typing import Annotated, Any, NamedTuple

import pytest
import tomllib
import typer
from cosmic_ray.ast import ast_nodes, get_ast
from cosmic_ray.mutating import mutate_code
from cosmic_ray.plugins import get_operator, operator_names
from scipy.stats import binomtest

ROOT = Path(__file__).parent.parent
SETTINGS: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
PARTS = SETTINGS["tool"]["mutation"]["parts"]


class Mutant(NamedTuple):
    """One mistake: an occurrence of what one of cosmic-ray's operators changes in a file."""

    file: Path
    operator: str
    occurrence: int

    def source(self) -> str:
        """The file's text with the mistake."""
        text = self.file.read_text(encoding="utf-8")
        mutated = mutate_code(text, get_operator(self.operator)(), self.occurrence)
        assert mutated is not None
        return mutated

    def __str__(self) -> str:
        old, new = self.file.read_text(encoding="utf-8").splitlines(), self.source().splitlines()
        first = next(i for i, lines in enumerate(zip(old, new, strict=False), 1) if lines[0] != lines[1])
        changed = [line for line in difflib.ndiff(old, new) if line[0] in "+-"]
        return "\n    ".join([f"{self.file.relative_to(ROOT)}:{first}", *changed])


def find_mutants(paths: list[str]) -> list[Mutant]:
    """All mutants of files, and of the files in folders."""
    files = [file for path in paths for file in (sorted((ROOT / path).rglob("*.py")) or [ROOT / path])]
    pattern = SETTINGS["tool"]["mutation"]["operators"]
    operators = [name for name in sorted(operator_names()) if re.fullmatch(pattern, name)]
    mutants = []
    for file in files:
        nodes = list(ast_nodes(get_ast(file.read_text(encoding="utf-8"))))
        for name in operators:
            operator = get_operator(name)()
            count = sum(len(list(operator.mutation_positions(node))) for node in nodes)
            mutants += [Mutant(file, name, occurrence) for occurrence in range(count)]
    return mutants


def run_pytest(tests: list[str], *options: str) -> int:
    """Pytest's exit code; nothing is shown."""
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, 1)
    os.dup2(null, 2)
    quick = ["-n", "0", "-x", "-q", "--disable-warnings", "-p", "no:cacheprovider"]
    return int(pytest.main([*quick, *options, *(str(ROOT / test) for test in tests)]))


def run_mutant(mutant: Mutant, tests: list[str], limit: float) -> int:
    """Pytest's exit code with the mistake in place of its file, within a processor time [s]."""
    code, before = (
        compile(text, str(mutant.file), "exec", dont_inherit=True)
        for text in (mutant.source(), mutant.file.read_text(encoding="utf-8"))
    )
    if list(import_time_code(code)) == list(import_time_code(before)):
        replace_functions(mutant.file, code)
    else:
        import_instead(mutant.file, code)
    used = resource.getrusage(resource.RUSAGE_SELF).ru_utime
    resource.setrlimit(resource.RLIMIT_CPU, (int(used + limit) + 1, resource.RLIM_INFINITY))
    return run_pytest(tests)


def import_time_code(code: CodeType) -> Iterator[tuple[Any, ...]]:
    """What runs while a module is imported: its own code, and that of the classes in it."""
    inner = [constant for constant in code.co_consts if isinstance(constant, CodeType)]
    yield code.co_code, code.co_names, [constant for constant in code.co_consts if constant not in inner]
    for constant in inner:
        if not constant.co_flags & inspect.CO_OPTIMIZED:
            yield from import_time_code(constant)


def functions_of(code: CodeType) -> Iterator[CodeType]:
    """All code within a module's."""
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield constant
            yield from functions_of(constant)


def replace_functions(file: Path, module: CodeType) -> None:
    """Give the functions of a module that is loaded the code of a mutant."""
    codes = {(code.co_qualname, code.co_firstlineno): code for code in functions_of(module)}
    for function in gc.get_objects():
        if isinstance(function, FunctionType) and function.__code__.co_filename == str(file):
            name = function.__code__.co_qualname, function.__code__.co_firstlineno
            function.__code__ = codes.get(name, function.__code__)


def import_instead(file: Path, code: CodeType) -> None:
    """Import the project anew, a mutant in place of a file."""
    load = SourceFileLoader.get_code

    def get_code(loader: SourceFileLoader, name: str) -> CodeType | None:
        return code if Path(loader.path) == file else load(loader, name)

    SourceFileLoader.get_code = get_code  # type: ignore[method-assign]
    for name, module in list(sys.modules.items()):
        if name != "__main__" and str(getattr(module, "__file__", "")).startswith(f"{ROOT}/"):
            del sys.modules[name]


def start(function: Callable[..., int], *arguments: Any) -> int:
    """Id of a process that exits with a function's result."""
    process = os.fork()
    if process == 0:
        code = 1
        try:
            code = function(*arguments)
        finally:
            os._exit(code)
    return process


def import_tests(tests: list[str]) -> None:
    """Import once what all processes need."""
    streams = os.dup(1), os.dup(2)
    run_pytest(tests, "--collect-only")
    os.dup2(streams[0], 1)
    os.dup2(streams[1], 2)


def main(
    part: Annotated[str, typer.Argument(help=f"One of {', '.join(PARTS)}.")],
    sample: Annotated[int, typer.Option(help="Mutants to draw; 0 tries all.")] = 0,
    seed: int = 0,
    jobs: Annotated[int, typer.Option(help="Processes at a time.")] = os.cpu_count() or 1,
) -> None:
    """Print the mutants that a part's tests do not catch, and the share that they do."""
    os.environ["NUMBA_DISABLE_JIT"] = "1"
    tests = PARTS[part]["tests"]
    mutants = find_mutants(PARTS[part]["files"])
    tried = min(sample or len(mutants), len(mutants))
    chosen = random.Random(seed).sample(mutants, tried)
    import_tests(tests)
    _, status, used = os.wait4(start(run_pytest, tests), 0)
    assert status == 0, "the tests fail without a mistake"
    limit = 10 * used.ru_utime
    running: dict[int, Mutant] = {}
    survivors = []
    while chosen or running:
        while chosen and len(running) < jobs:
            mutant = chosen.pop()
            running[start(run_mutant, mutant, tests, limit)] = mutant
        process, status = os.wait()
        mutant = running.pop(process)
        if status == 0:
            survivors.append(mutant)
            typer.echo(str(mutant))
    caught = tried - len(survivors)
    low, high = binomtest(caught, tried).proportion_ci(method="wilson")
    typer.echo(f"{part}: {caught} of {tried} mutants caught, {caught / tried:.1%}", nl=False)
    typer.echo(f" (Wilson 95 %: {low:.1%} to {high:.1%}); there are {len(mutants)}")


if __name__ == "__main__":
    typer.run(main)
