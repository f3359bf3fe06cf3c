"""Tables of which a test tries every row in one case, where a case a row costs more than what it tries."""

from __future__ import annotations

import functools
import inspect
import traceback
from collections.abc import Callable, Iterable
from typing import Any

import pytest
from conftest import DEFAULT_ENGINE, is_for_want_of_pybullet


def each_row(names: str, table: Iterable[Any]) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Try a test on every row of a table; fail with the message of each row that fails.

    Fixtures are made once for all rows, but each row has a `tmp_path` of its own. Where rows are skipped and
    none fails, the case is skipped after the others were tried, and says how many.

    Args:
        names: Parameters of the test that a row has values for, with commas between, as for `parametrize`.
        table: Rows; of one parameter, its values.
    """
    columns, rows = [name.strip() for name in names.split(",")], list(table)

    def decorate(test: Callable[..., None]) -> Callable[..., None]:
        signature = inspect.signature(test)

        @functools.wraps(test)
        def try_all(**fixtures: Any) -> None:
            assert rows
            failures, skips = [], []
            folder = fixtures.get("tmp_path")
            for number, row in enumerate(rows):
                if folder is not None:
                    fixtures["tmp_path"] = folder / str(number)
                    fixtures["tmp_path"].mkdir()
                values = dict(zip(columns, row if len(columns) > 1 else [row], strict=True))
                try:
                    test(**fixtures, **values)
                except pytest.skip.Exception as skip:
                    skips.append(str(skip))
                except (Exception, pytest.fail.Exception) as error:
                    if DEFAULT_ENGINE != "pybullet" and is_for_want_of_pybullet(error):
                        skips.append("needs PyBullet")
                    else:
                        failures.append(
                            f"{str(row):.300}\n{''.join(traceback.format_exception(error, limit=-1))}"
                        )
            if failures:
                pytest.fail(f"{len(failures)} of {len(rows)} rows:\n" + "\n".join(failures), pytrace=False)
            if skips:
                reasons = ", ".join(sorted(set(skips)))
                pytest.skip(f"{test.__name__}: {len(skips)} of {len(rows)} rows: {reasons}")

        kept = [each for name, each in signature.parameters.items() if name not in columns]
        try_all.__signature__ = signature.replace(parameters=kept)  # type: ignore[attr-defined]
        return try_all

    return decorate
