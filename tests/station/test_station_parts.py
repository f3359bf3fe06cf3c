"""The station's parts that need neither a socket nor a simulation."""

import base64
import math
import multiprocessing
import struct
import sys
import threading
from dataclasses import replace

import numpy as np
import pytest

from segtrack.courses import load_course
from segtrack.errors import NotReadyError
from segtrack.recording import Command
from segtrack.station.folder import StationFolder
from segtrack.station.protocol import Flag, LinkQuality
from segtrack.station.scene import WALL_COLOUR, ground_json
from segtrack.station.simulation import DeadlineClock, RunReport, SetRun, SimulationProcess, StampedCommand
from segtrack.station.simulation.exchange import WATCHDOG, LatestValue, Taken, stop_flags
from segtrack.station.simulation.loop import MAX_CATCH_UP
from segtrack.station.web.client import (
    MESSAGE_BURST,
    MESSAGE_RATE,
    Bucket,
    DegradedLink,
)


def sent_over(quality, count=4000, period=0.02, seed=1):
    """Sending and arrival times of messages that are sent in each period, looked for every millisecond."""
    link = DegradedLink(quality, seed)
    arrivals = []
    for i in range(count):
        link.send(i * period, i)
        for k in range(20):
            now = (i + k / 20) * period
            arrivals += [(item * period, now) for item in link.receive(now)]
    return arrivals


def test_a_perfect_link_delivers_everything_at_once():
    assert sent_over(LinkQuality(), count=50) == [(0.02 * i, 0.02 * i) for i in range(50)]


def test_a_link_s_delays_lie_between_delay_and_jitter_and_their_mean_in_the_middle():
    arrivals = sent_over(LinkQuality(delay=0.2, jitter=0.01))
    delays = [arrived - sent for sent, arrived in arrivals]
    assert min(delays) >= 0.2 - 1e-9
    assert max(delays) <= 0.2 + 0.01 + 0.001
    assert sum(delays) / len(delays) == pytest.approx(0.2 + 0.005 + 0.0005, abs=0.0005)


def test_a_link_loses_the_share_it_should():
    count, loss = 4000, 0.3
    lost = 1 - len(sent_over(LinkQuality(loss=loss), count)) / count
    assert lost == pytest.approx(loss, abs=4 * math.sqrt(loss * (1 - loss) / count))


@pytest.mark.parametrize("rate", [5.0, 12.0, 25.0])
def test_a_link_takes_no_more_than_its_rate(rate):
    arrivals = sent_over(LinkQuality(rate=rate), count=1000)
    assert len(arrivals) / 20.0 <= 1.12 * rate
    assert len(arrivals) / 20.0 >= 0.8 * rate


def test_a_message_that_was_overtaken_is_dropped_and_the_others_keep_their_order():
    arrivals = sent_over(LinkQuality(delay=0.05, jitter=0.2))
    sent = [sent for sent, _ in arrivals]
    assert sent == sorted(sent)
    assert 0.2 < len(sent) / 4000 < 0.8


def test_links_of_one_seed_are_equal_and_of_two_are_not():
    quality = LinkQuality(delay=0.1, jitter=0.1, loss=0.2)
    one, same, other = (sent_over(quality, 200, seed=seed) for seed in (1, 1, 2))
    assert one == same != other


def test_a_block_is_empty_before_it_is_written_and_holds_the_latest_value():
    block = LatestValue(multiprocessing.get_context("spawn"), 16)
    assert block.read() is None
    block.write(b"first")
    block.write(b"")
    assert block.read() == (2, b"")
    block.write(b"0123456789abcdef")
    assert block.read() == (3, b"0123456789abcdef")
    with pytest.raises(ValueError, match="^17 bytes do not fit into 16$"):
        block.write(bytes(17))


def test_a_reader_never_sees_half_of_what_a_racing_writer_writes():
    block = LatestValue(multiprocessing.get_context("spawn"), 8192)
    done = threading.Event()

    def write():
        number = 0
        while not done.is_set():
            number += 1
            block.write(struct.pack("<Q", number) * (1 + number % 1000))

    writer = threading.Thread(target=write)
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    writer.start()
    seen = {}
    try:
        while len(seen) < 50:
            read = block.read()
            if read is not None:
                number, data = read
                assert number >= max(seen, default=0)
                seen[number] = data
    finally:
        done.set()
        writer.join()
        sys.setswitchinterval(interval)
    for number, data in seen.items():
        assert data == struct.pack("<Q", number) * (1 + number % 1000)


def test_a_torn_value_is_not_read():
    block = LatestValue(multiprocessing.get_context("spawn"), 16)
    block.write(b"whole")
    memory = memoryview(block._memory).cast("B")
    memory[16] ^= 1
    assert block.read() is None
    memory[16] ^= 1
    struct.pack_into("<Q", memory, 0, 3)
    assert block.read() is None


def run_clock(works, tick=0.01):
    """A clock through ticks that take so long [s]; returns it, and the time when each began."""
    now, begins = 5.0, []
    clock = DeadlineClock(tick, now)
    for work in works:
        begins.append(now - 5.0)
        now += work
        now += clock.end(now)
    return clock, begins


def test_ticks_begin_on_the_clock_without_drift():
    clock, begins = run_clock([0.001, 0.004, 0.0] * 1000)
    assert begins == pytest.approx([0.01 * i for i in range(3000)], abs=1e-9)
    assert (clock.late, clock.dropped, clock.late_share) == (0, 0.0, 0.0)
    assert clock.pace.real_time_factor == pytest.approx(1.0, abs=1e-9)


def test_a_small_delay_is_made_up_for_and_counted():
    clock, begins = run_clock([0.001, 0.035, *[0.001] * 8])
    assert begins[2:5] == pytest.approx([0.045, 0.046, 0.047])
    assert begins[-3:] == pytest.approx([0.07, 0.08, 0.09])
    assert (clock.ticks, clock.late, clock.dropped) == (10, 2, 0.0)


def test_of_a_long_delay_no_more_is_made_up_for_than_said():
    clock, begins = run_clock([0.0, 1.0, *[0.0] * 300])
    assert clock.dropped == pytest.approx(1.0 - 0.01 - MAX_CATCH_UP)
    assert begins[-1] - 0.01 * 301 == pytest.approx(clock.dropped)
    assert run_clock([0.02] * 500)[0].pace.real_time_factor == pytest.approx(0.5, abs=0.01)


def test_a_tick_is_late_beyond_one_tick_and_lost_beyond_what_is_caught_up():
    clock = DeadlineClock(0.01, 0.0)
    clock.end(0.01 + 0.00999)
    assert clock.late == 0
    clock.end(0.02 + 0.01001)
    assert (clock.late, clock.dropped) == (1, 0.0)
    clock.end(0.03 + MAX_CATCH_UP - 1e-6)
    assert (clock.late, clock.dropped) == (2, 0.0)
    clock.end(0.04 + MAX_CATCH_UP + 1e-3)
    assert (clock.late, clock.dropped) == (3, pytest.approx(1e-3))


class NotedPipe:
    def __init__(self):
        self.sent, self.waiting = [], []

    def send(self, order):
        self.sent.append(order)

    def poll(self):
        return bool(self.waiting)

    def recv(self):
        return self.waiting.pop(0)


def test_orders_wait_up_to_a_number_and_the_next_is_refused(monkeypatch, tmp_path):
    def start(process):
        process._outstanding, process._pipe = 0, NotedPipe()

    monkeypatch.setattr(SimulationProcess, "_start", start)
    process = SimulationProcess(StationFolder(tmp_path))
    for _ in range(32):
        process.order(SetRun("pause"))
    with pytest.raises(NotReadyError, match="^cannot take the order: the simulation is busy$"):
        process.order(SetRun("stop"))
    process._pipe.waiting = [RunReport("paused"), Taken()]
    assert list(process.reports()) == [RunReport("paused")]
    process.order(SetRun("stop"))
    assert process._pipe.sent == [SetRun("pause")] * 32 + [SetRun("stop")]


LATEST = StampedCommand(3, 10.0, 1.0, False, Command(0.2, -0.1, {"front": 0.5, "rear": 0.0}), 0.25)


@pytest.mark.parametrize(
    ("changed", "now", "flags"),
    [
        ({}, 10.0 + WATCHDOG - 1e-6, Flag(0)),
        ({"came": 0.0}, WATCHDOG, Flag(0)),
        ({}, 10.0 + WATCHDOG + 1e-6, Flag.WATCHDOG),
        ({}, math.nan, Flag.WATCHDOG),
        (None, 10.0, Flag.WATCHDOG),
        ({"scene": 2}, 10.0, Flag.WATCHDOG),
        ({"scene": 4}, 10.0, Flag.WATCHDOG),
        ({"e_stop": True}, 10.0, Flag.E_STOP),
        ({"e_stop": True, "came": -math.inf}, 10.0, Flag.E_STOP | Flag.WATCHDOG),
        ({"e_stop": True, "scene": 2}, 10.0, Flag.E_STOP | Flag.WATCHDOG),
    ],
)
def test_belts_move_by_a_fresh_command_alone(changed, now, flags):
    latest = None if changed is None else replace(LATEST, **changed)
    assert stop_flags(latest, 3, now) == flags


@pytest.mark.parametrize("flatten", [False, True])
def test_a_command_is_read_as_it_was_packed(flatten):
    sent = replace(LATEST, e_stop=not flatten, command=replace(LATEST.command, flatten=flatten))
    assert StampedCommand.unpack(sent.pack(), ("front", "rear")) == sent


def test_a_command_of_another_vehicle_is_read_and_counts_as_none():
    fewer = StampedCommand.unpack(LATEST.pack(), ("front",))
    more = StampedCommand.unpack(LATEST.pack(), ("front", "rear", "middle"))
    assert (fewer.command.flipper_speeds, more.command) == ({"front": 0.5}, LATEST.command)
    assert stop_flags(fewer, 4, 10.0) == Flag.WATCHDOG


def test_a_bucket_gives_what_a_driver_sends_for_ever_and_of_a_flood_its_rate():
    bucket = Bucket(MESSAGE_RATE, MESSAGE_BURST, 0.0)
    assert all(bucket.take(0.01 * i) for i in range(10_000))
    bucket = Bucket(MESSAGE_RATE, MESSAGE_BURST, 0.0)
    taken = sum(bucket.take(1e-3 * i) for i in range(10_000))
    assert taken == pytest.approx(MESSAGE_BURST + MESSAGE_RATE * 10.0, abs=1)


@pytest.mark.parametrize("name", ["parcours", "confined-space", "stairs"])
def test_walls_have_a_colour_of_their_own(name):
    """Painted are twelve triangles for each wall, all of them between its planes."""
    course = load_course(name).with_ground(0.7, None)
    mesh = ground_json(course)
    points = np.frombuffer(base64.b64decode(mesh["points"])).reshape(-1, 3)
    triangles = np.frombuffer(base64.b64decode(mesh["triangles"]), np.int32).reshape(-1, 3)
    colours = np.frombuffer(base64.b64decode(mesh["colours"]), np.float32).reshape(-1, 3)
    painted = (colours == np.float32(WALL_COLOUR)).all(axis=1)
    corners = points[triangles]
    inside = np.zeros(len(triangles), dtype=bool)
    for wall in course.walls:
        c, s = math.cos(wall.yaw), math.sin(wall.yaw)
        along = (corners[..., :2] - (wall.x, wall.y)) @ ((c, -s), (s, c))
        reach = np.array([wall.length, wall.width]) / 2 + 1e-6
        inside |= (np.abs(along) <= reach).all(axis=(1, 2))
    assert painted.sum() == 12 * len(course.walls) > 0
    assert inside[painted].all()
