"""Process that draws reports: one at a time, with an end to waiting, and anew after it died."""

import asyncio
import os
import signal
import time

import pytest

pytest.importorskip("jinja2", reason="of an extra")

from segtrack.courses import Records
from segtrack.errors import NotReadyError, UnknownNameError
from segtrack.station.web import report_process
from segtrack.station.web.report_process import MAX_REPORTS, ReportProcess, operator_table


@pytest.fixture(scope="module")
def process():
    process = ReportProcess()
    yield process
    process.close()


def test_a_report_is_drawn_elsewhere_and_its_mistake_is_told_here(process, tmp_path):
    async def both():
        drawers = [await process.draw(os.getpid) for _ in range(2)]
        with pytest.raises(UnknownNameError, match="^no operator 'Ada'; there are: none$"):
            await process.draw(operator_table, Records(tmp_path), "Ada")
        return [*drawers, await process.draw(os.getpid)]

    drawers = asyncio.run(both())
    assert len(set(drawers)) == 1
    assert os.getpid() not in drawers
    assert os.getpriority(os.PRIO_PROCESS, drawers[0]) == min(os.getpriority(os.PRIO_PROCESS, 0) + 5, 19)


def test_reports_are_drawn_one_at_a_time_and_of_many_the_last_is_refused(process):
    async def ask():
        await process.draw(os.getpid)
        begun = time.monotonic()
        asked = [process.draw(time.sleep, 0.05) for _ in range(MAX_REPORTS + 1)]
        *_, refused = await asyncio.gather(*asked, return_exceptions=True)
        return refused, time.monotonic() - begun

    refused, taken = asyncio.run(ask())
    assert str(refused) == "cannot draw the report: 8 others are waited for"
    assert taken >= 0.05 * MAX_REPORTS


def test_a_report_that_takes_too_long_is_given_up_with_those_behind_it_and_the_next_is_drawn(
    process, monkeypatch
):
    async def ask():
        before = await process.draw(os.getpid)
        monkeypatch.setattr(report_process, "REPORT_WITHIN", 0.5)
        asked = process.draw(time.sleep, 60.0), process.draw(os.getpid)
        late = await asyncio.gather(*asked, return_exceptions=True)
        monkeypatch.undo()
        return before, late, await process.draw(os.getpid)

    before, late, after = asyncio.run(ask())
    assert [str(error) for error in late] == ["cannot draw the report: it takes more than 0.5 s"] * 2
    assert after != before


def test_a_process_that_dies_is_told_and_started_anew(process):
    async def ask():
        with pytest.raises(NotReadyError, match="^cannot draw the report: its process died$"):
            await process.draw(os._exit, 3)
        return await process.draw(os.getpid)

    assert asyncio.run(ask()) != os.getpid()


def test_a_process_that_died_while_nothing_was_asked_is_started_anew(process):
    async def ask():
        died = await process.draw(os.getpid)
        os.kill(died, signal.SIGKILL)
        while process._process.is_alive():  # Dead to the system once all of its threads are.
            await asyncio.sleep(0.01)
        return died, await process.draw(os.getpid)

    died, after = asyncio.run(ask())
    assert after != died


@pytest.mark.parametrize("before", [0.0, 0.2, 3.0])
def test_the_end_of_the_station_waits_for_no_report(before):
    process = ReportProcess()

    async def ask():
        asked = [asyncio.create_task(process.draw(time.sleep, 300.0)) for _ in range(3)]
        await asyncio.sleep(before)  # Its process is started, or asked.
        begun = time.monotonic()
        process.close()
        process.close()
        asked.append(asyncio.create_task(process.draw(os.getpid)))
        answers = await asyncio.gather(*asked, return_exceptions=True)
        return time.monotonic() - begun, [str(answer) for answer in answers]

    taken, answers = asyncio.run(ask())
    assert taken < 20.0
    assert answers == ["cannot draw the report: the station ends"] * 4
