"""Degraded links: video against the binomial distribution of lost packets, instruments apart from it."""

import numpy as np
import pytest
from scipy.stats import binom

pytest.importorskip("nicegui", reason='needs NiceGUI: pip install "segtrack[station]"')

from segtrack.station.protocol import Flag, LinkQuality, LinkRequest, StateMessage  # noqa: E402
from segtrack.station.web.client import (  # noqa: E402
    SLICES,
    Client,  # noqa: E402
    Downlink,
    VideoLink,
)

RATE = 30.0
NONE = np.empty(0)


def state(frame, scene=1, **changed):
    numbers = dict.fromkeys(
        "time server_time trial_clock client_time real_time_factor late_share energy command_age".split(), 0.0
    ) | {"flags": Flag(0)}
    arrays = dict(pose=np.full(7, frame), ghost=NONE, readings=np.full(2, frame), contacts=np.empty((0, 6)))
    return StateMessage(scene=scene, frame=frame, **(numbers | arrays | changed)).pack()


def test_slices_are_damaged_as_lost_packets_say_and_the_picture_stands_beyond_half_of_them():
    loss, pictures = 0.02, 60000
    link = VideoLink(LinkQuality(loss=loss), seed=3)
    shown, damage = np.zeros((2, int(RATE)))
    for i in range(pictures):
        link.send(i / RATE, b"")
        picture = link.receive(i / RATE)
        if picture is not None:
            shown[i % int(RATE)] += 1
            damage[i % int(RATE)] += picture.damage.bit_count()
    each = pictures / RATE
    lost = 1 - (1 - loss) ** np.arange(1, RATE + 1)
    counts = np.arange(SLICES // 2 + 1)
    expected = np.array([binom.pmf(counts, SLICES, share) for share in lost])
    fractions = expected.sum(1)
    assert fractions[-1] < 0.9
    assert np.abs(shown / each - fractions).max() < 4 * 0.5 / np.sqrt(each)
    mean = expected @ counts / fractions
    assert np.abs(damage / shown - mean).max() < 5 * np.sqrt(SLICES / 4 / each)


def test_a_link_without_loss_shows_each_picture_after_its_delay_and_at_its_rate():
    link = VideoLink(LinkQuality(delay=0.2, jitter=0.1, rate=10.0), seed=1)
    came = []
    for i in range(300):
        now = i / RATE
        link.send(now, str(i).encode())
        if picture := link.receive(now):
            came.append((now - int(picture.state) / RATE, picture.damage))
    assert 95 <= len(came) <= 100  # Ten a second.
    delays = np.array([delay for delay, _ in came])
    assert delays.min() >= 0.2 - 1e-9
    assert delays.max() <= 0.3 + 1 / RATE
    assert not any(damage for _, damage in came)


def test_pictures_arrive_in_their_order_however_much_they_jitter():
    link = VideoLink(LinkQuality(jitter=0.5), seed=2)
    shown = []
    for i in range(900):
        link.send(i / RATE, str(i).encode())
        if picture := link.receive(i / RATE):
            shown.append(int(picture.state))
    assert shown == sorted(shown)
    assert len(shown) > 100


def test_instruments_go_on_while_the_picture_stands():
    link = LinkRequest(client=1, video=LinkQuality(loss=1.0))
    downlink = Downlink(link, state(1, client_time=5.0, ghost=np.ones(7)))
    for frame in range(2, 50):
        seen = StateMessage.unpack(downlink.carry(state(frame, client_time=100.0 * frame), frame / RATE))
        assert (seen.frame, seen.readings[0], seen.pose[0]) == (frame, frame, frame)
        assert (seen.picture_frame, seen.picture[0], seen.client_time) == (1, 1, 5.0)
        assert len(seen.ghost) == 7


def test_a_picture_goes_on_while_the_instruments_are_late():
    link = LinkRequest(client=1, telemetry=LinkQuality(delay=1.0))
    downlink = Downlink(link, None)
    assert downlink.carry(state(1), 0.0) is None
    for frame in range(2, 40):
        arrived = downlink.carry(state(frame), (frame - 1) * 0.1)
        if arrived is not None:
            seen = StateMessage.unpack(arrived)
            assert (seen.frame, seen.picture_frame) == (frame - 10, frame)
    assert arrived is not None


@pytest.mark.parametrize("telemetry", [LinkQuality(rate=1.0), LinkQuality(loss=1.0)])
def test_a_picture_goes_on_while_instruments_are_rare_or_lost(telemetry):
    downlink = Downlink(LinkRequest(client=1, telemetry=telemetry), state(1))
    seen = [downlink.carry(state(frame), frame / RATE) for frame in range(2, 60)]
    assert [StateMessage.unpack(each).picture_frame for each in seen] == list(range(2, 60))


def test_nothing_is_sent_that_mixes_two_scenes():
    link = LinkRequest(client=1, video=LinkQuality(delay=0.5))
    downlink = Downlink(link, state(1))
    assert StateMessage.unpack(downlink.carry(state(2), 0.0)).picture_frame == 1
    stopped = Flag.E_STOP | Flag.GHOST
    for frame, now in ((3, 0.1), (4, 0.55)):
        drawn = dict(client_time=7.0, ghost=np.ones(7), contacts=np.ones((2, 6)))
        sent = state(frame, scene=2, flags=stopped, **drawn)
        seen = StateMessage.unpack(downlink.carry(sent, now))
        assert (seen.scene, seen.frame, seen.picture_frame, seen.client_time) == (2, frame, 0, 0.0)
        assert seen.flags == Flag.E_STOP | Flag.NO_PICTURE  # The instruments are there.
        assert (seen.pose[0], seen.picture.size, seen.ghost.size, len(seen.contacts)) == (frame, 0, 0, 0)
    seen = StateMessage.unpack(downlink.carry(state(5, scene=2), 0.65))
    assert (seen.scene, seen.frame, seen.picture_frame, seen.flags) == (2, 5, 3, Flag.GHOST)


def test_a_link_that_never_brings_a_picture_brings_the_instruments_of_each_scene():
    downlink = Downlink(LinkRequest(client=1, video=LinkQuality(loss=1.0)), None)
    for frame in range(1, 40):
        seen = StateMessage.unpack(downlink.carry(state(frame, scene=1 + frame // 20), frame / RATE))
        assert (seen.scene, seen.frame, seen.flags) == (1 + frame // 20, frame, Flag.NO_PICTURE)


def test_a_scene_begins_with_a_key_picture():
    """With three slices in ten lost, a picture that comes 0.3 s after a key picture is not shown."""
    first = []
    for seed in range(400):
        downlink = Downlink(LinkRequest(client=1, video=LinkQuality(loss=0.3), seed=seed), None)
        for frame in range(10):
            downlink.carry(state(frame), frame / RATE)
        seen = StateMessage.unpack(downlink.carry(state(10, scene=2), 10 / RATE))
        first.append(seen.picture_frame == 10)
    share = binom.cdf(SLICES // 2, SLICES, 0.3)
    assert abs(np.mean(first) - share) < 4 * np.sqrt(share * (1 - share) / 400)


def test_a_link_that_is_degraded_once_more_shows_nothing_newer_than_the_picture_that_is_there():
    worse = LinkRequest(client=1, video=LinkQuality(delay=1.0))
    client = Client(1, "Ann")
    client.degrade(LinkRequest(client=1, video=LinkQuality(delay=0.3)))
    for frame in range(40):
        client.see(state(frame), 0.1 * frame)
    assert StateMessage.unpack(client._state).picture_frame == 36
    client.degrade(worse)
    client.see(state(40), 4.0)
    seen = StateMessage.unpack(client._state)
    assert (seen.frame, seen.picture_frame, seen.picture[0]) == (40, 36, 36)
    client.degrade(None)
    client.see(state(41), 4.1)
    seen = StateMessage.unpack(client._state)
    assert (seen.frame, seen.picture_frame, seen.picture.size) == (41, 0, 0)
    unseen = Client(2, "Ben")
    for again in range(2):
        unseen.degrade(LinkRequest(client=2, video=LinkQuality(loss=1.0)))
        unseen.see(state(again), 0.1 * again)
        assert StateMessage.unpack(unseen._state).flags == Flag.NO_PICTURE


def test_a_link_that_is_degraded_during_a_replay_shows_what_was_there_before():
    client = Client(1, "Ann")
    client.see(state(1), 0.0)
    client.see(state(9, scene=7), 1.0, direct=True)
    assert StateMessage.unpack(client._state).frame == 9
    client.degrade(LinkRequest(client=1, video=LinkQuality(loss=1.0), telemetry=LinkQuality(delay=1.0)))
    client.see(state(2), 2.0)
    client.see(state(3), 3.1)
    seen = StateMessage.unpack(client._state)
    assert (seen.scene, seen.frame, seen.picture_frame) == (1, 2, 1)


def test_links_are_equal_in_words_if_their_qualities_are():
    lossy, slow = LinkQuality(loss=0.1), LinkQuality(delay=0.3, rate=10.0)
    links = [LinkRequest(client=1, **{way: lossy}) for way in ("video", "telemetry", "command")]
    links += [LinkRequest(client=1, video=slow), LinkRequest(client=1, video=LinkQuality(loss=0.1 + 1e-12))]
    links += [LinkRequest(client=1), LinkRequest(client=1, video=lossy, command=slow)]
    assert len({link.in_words for link in links}) == len(links)
    assert links[0].in_words == LinkRequest(client=2, video=lossy, seed=7).in_words == "picture loss 0.1"
    assert links[-1].in_words == "picture loss 0.1; commands delay 0.3 s, rate 10.0 a second"


def test_a_link_of_one_seed_loses_the_same():
    lost = []
    for _ in range(2):
        link = VideoLink(LinkQuality(loss=0.1), seed=7)
        for i in range(100):
            link.send(i / RATE, b"")
            lost.append(link.receive(i / RATE))
    assert lost[:100] == lost[100:]
