"""Messages between page and station."""

import json
import struct

import numpy as np
import pytest

from segtrack.errors import MessageError
from segtrack.station import protocol

CONTROLS = protocol.ControlsMessage(
    seq=7,
    time=1234.5,
    axes=(0.0, -1.0, 0.25, 1.0),
    buttons=(False,) * 16 + (True,),
    keys=("KeyW", "ArrowLeft"),
    touch=(0.0,) * 4,
    dead_man=True,
    visible=True,
)
MESSAGES = [
    protocol.Hello(name="Ann", role="driver"),
    CONTROLS,
    protocol.RoleRequest(action="give", to=3),
    protocol.Configure(setup=protocol.Setup(vehicle="quince", course="step")),
    protocol.RunRequest(action="reset"),
    protocol.EmergencyStop(on=True),
    protocol.TrialRequest(action="begin", repetitions=20),
    protocol.LinkRequest(client=2, video=protocol.LinkQuality(delay=0.3, rate=5.0)),
    protocol.ReplayRequest(action="seek", time=3.5),
    protocol.GhostRequest(recording=None),
    protocol.ReportRequest(),
    protocol.ViewRequest(contacts=True),
    protocol.Ping(time=5.0),
]


@pytest.mark.parametrize("message", MESSAGES, ids=lambda message: message.type)
def test_a_message_is_read_as_it_was_written(message):
    assert protocol.read_message(message.model_dump_json()) == message


def without(key):
    return {name: value for name, value in CONTROLS.model_dump().items() if name != key}


@pytest.mark.parametrize(
    ("message", "complaint"),
    [
        ("", "message refused: Invalid JSON: EOF while parsing a value at line 1 column 0"),
        ("[]", "message refused: Input should be an object"),
        ("{}", "message refused: Unable to extract tag using discriminator 'type'"),
        (without("seq"), "message refused: controls.seq: Field required"),
        (
            without("") | {"file": "/etc/passwd"},
            "message refused: controls.file: Extra inputs are not permitted",
        ),
        (without("") | {"seq": "7"}, "message refused: controls.seq: Input should be a valid integer"),
        (
            without("") | {"dead_man": 1},
            "message refused: controls.dead_man: Input should be a valid boolean",
        ),
        (
            without("") | {"axes": [0, 0, 0, 1.5]},
            "message refused: controls.axes.3: Input should be less than or equal to 1",
        ),
        (
            without("") | {"axes": [0, 0, 0, float("nan")]},
            "message refused: controls.axes.3: Input should be a finite number",
        ),
        ("x" * 4097, "message refused: must have at most 4096 bytes, got 4097"),
    ],
)
def test_a_message_that_is_wrong_is_refused_with_its_place(message, complaint):
    with pytest.raises(MessageError) as error:
        protocol.read_message(message if isinstance(message, str) else json.dumps(message))
    assert str(error.value) == complaint


def state(**changed):
    values = dict(
        scene=2,
        frame=9,
        flags=protocol.Flag.E_STOP | protocol.Flag.GHOST,
        time=1.25,
        server_time=1e6 + 0.125,
        trial_clock=3.5,
        client_time=123456789.0625,
        real_time_factor=1.0,
        late_share=0.5,
        energy=12.5,
        command_age=0.25,
        pose=np.arange(14.0),
        ghost=np.arange(7.0),
        readings=np.array([0.5, -0.5]),
        contacts=np.arange(12.0).reshape(2, 6),
        picture=np.arange(3.0),
        picture_frame=8,
        damage=0b101,
    )
    return protocol.StateMessage(**(values | changed))


def test_a_state_is_read_as_it_was_packed():
    sent = state()
    got = protocol.StateMessage.unpack(sent.pack())
    for name, value in vars(sent).items():
        assert np.array_equal(getattr(got, name), value), name


def test_a_state_s_bytes_are_those_that_the_page_reads():
    data = state().pack()
    assert protocol.StateMessage.HEADER.size == 92
    assert len(data) == 92 + 4 * (3 + 14 + 7 + 2 + 12)
    assert data[:4] == b"SGT2"
    assert struct.unpack_from("<III", data, 4) == (2, 9, 9)
    assert struct.unpack_from("<dddd", data, 16) == (1.25, 1e6 + 0.125, 3.5, 123456789.0625)
    assert struct.unpack_from("<ffff", data, 48) == (1.0, 0.5, 12.5, 0.25)
    assert struct.unpack_from("<II", data, 64) == (8, 0b101)
    assert struct.unpack_from("<IIIII", data, 72) == (3, 14, 7, 2, 2)
    assert np.frombuffer(data, "<f4", offset=92 + 12)[:14].tolist() == list(range(14))


def test_what_is_no_state_is_refused():
    data = state().pack()
    for broken, complaint in [
        (b"", "message refused: state: must have at least 92 bytes, got 0"),
        (data[:-4], "message refused: state: must be b'SGT2' and 244 bytes, got b'SGT2' and 240"),
        (b"SGT0" + data[4:], "message refused: state: must be b'SGT2' and 244 bytes, got b'SGT0' and 244"),
    ]:
        with pytest.raises(MessageError) as error:
            protocol.StateMessage.unpack(broken)
        assert str(error.value) == complaint
