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
from collections.abc import Iterator
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
OPTIONS = [
    "-o",
    "addopts=",
    "-m",
    "not slow and not real_time",
    "-s",
    "-p",
    "no:cacheprovider",
    "-p",
    "no:terminal",
]
OPTIONS.append("--hypothesis-profile=brief")


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


def import_anew(file: Path, code: CodeType) -> None:
    """Forget the project's modules; when they are imported again, a mutant takes the place of a file."""
    load = SourceFileLoader.get_code

    def get_code(loader: SourceFileLoader, name: str) -> CodeType | None:
        return code if Path(loader.path) == file else load(loader, name)

    SourceFileLoader.get_code = get_code  # type: ignore[method-assign]
    for name, module in list(sys.modules.items()):
        if name != "__main__" and str(getattr(module, "__file__", "")).startswith(f"{ROOT}/"):
            del sys.modules[name]


class MutantLoop:
    """In place of pytest's loop over tests: for each mutant a process in which they run until one fails."""

    def __init__(self, mutants: list[Mutant], tests: list[str], jobs: int) -> None:
        self.mutants, self.tests, self.jobs = mutants, tests, jobs
        self.survivors: list[Mutant] = []

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        """Test all mutants."""
        _, status, used = os.wait4(self.start(session, None), 0)
        assert status == 0, "the tests fail without a mistake"
        limit, running, waiting = 10 * used.ru_utime, dict[int, Mutant](), list(self.mutants)
        while waiting or running:
            while waiting and len(running) < self.jobs:
                mutant = waiting.pop()
                running[self.start(session, mutant, limit)] = mutant
            process, status = os.wait()
            mutant = running.pop(process)
            if status == 0:
                self.survivors.append(mutant)
                typer.echo(str(mutant))
        return True

    def start(self, session: pytest.Session, mutant: Mutant | None, limit: float = 3600.0) -> int:
        """Id of a process that ends with 0 if all tests pass."""
        process = os.fork()
        if process == 0:
            failed = True
            try:
                null = os.open(os.devnull, os.O_WRONLY)
                os.dup2(null, 1)
                os.dup2(null, 2)
                used = resource.getrusage(resource.RUSAGE_SELF).ru_utime
                resource.setrlimit(resource.RLIMIT_CPU, (int(used + limit) + 1, resource.RLIM_INFINITY))
                failed = self.fails(session, mutant)
            finally:
                os._exit(failed)
        return process

    def fails(self, session: pytest.Session, mutant: Mutant | None) -> bool:
        """Whether a test fails, with a mistake in place."""
        if mutant is not None:
            file, text = mutant.file, mutant.file.read_text(encoding="utf-8")
            code = compile(mutant.source(), str(file), "exec", dont_inherit=True)
            before = compile(text, str(file), "exec", dont_inherit=True)
            if list(import_time_code(code)) != list(import_time_code(before)):
                import_anew(file, code)
                return pytest.main([*OPTIONS, "-x", *self.tests]) != 0
            replace_functions(file, code)
        for item, following in zip(session.items, [*session.items[1:], None], strict=True):
            session.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
            if session.testsfailed:
                return True
        return False


def main(
    part: Annotated[str, typer.Argument(help=f"One of {', '.join(PARTS)}.")],
    sample: Annotated[int, typer.Option(help="Mutants to draw; 0 tries all.")] = 0,
    seed: int = 0,
    jobs: Annotated[int, typer.Option(help="Processes at a time.")] = os.cpu_count() or 1,
) -> None:
    """Print the mutants that a part's tests do not catch, and the share that they do."""
    os.environ["NUMBA_DISABLE_JIT"] = "1"
    tests = [str(ROOT / test) for test in PARTS[part]["tests"]]
    if "skipped" in PARTS[part]:
        tests += ["-k", f"not ({PARTS[part]['skipped']})"]
    mutants = find_mutants(PARTS[part]["files"])
    tried = min(sample or len(mutants), len(mutants))
    loop = MutantLoop(random.Random(seed).sample(mutants, tried), tests, jobs)
    assert pytest.main([*OPTIONS, *tests], plugins=[loop]) == 0
    caught = tried - len(loop.survivors)
    low, high = binomtest(caught, tried).proportion_ci(method="wilson")
    typer.echo(f"{part}: {caught} of {tried} mutants caught, {caught / tried:.1%}", nl=False)
    typer.echo(f" (Wilson 95 %: {low:.1%} to {high:.1%}); there are {len(mutants)}")


if __name__ == "__main__":
    typer.run(main)
