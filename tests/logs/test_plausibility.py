"""Contradictions in mapped logs: found, explained, accepted; and none where nothing is wrong."""

import json
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest
from implausible_logs import (
    ALL,
    DRIVES,
    HALF_GAUGE,
    KINDS,
    LATER,
    RIGHT,
    Case,
    Drive,
    bundled_climb,
    checked_case,
    columns_of,
    mapping_of,
    motion_of,
    pasted,
)
from mapped_logs import channel, log_of
from simulated_logs import step
from typer.testing import CliRunner

from segtrack.cli.app import app
from segtrack.description import load_vehicle
from segtrack.errors import MappingFileError
from segtrack.files import write_csv
from segtrack.logs.compare import load_climbs
from segtrack.logs.fit import DATA
from segtrack.logs.mapping import (
    ImplausibleLogError,
    check_plausibility,
    map_file,
    map_log,
    parse_mapping,
    refuse,
)
from segtrack.logs.mapping.mapping_file import FINDINGS
from segtrack.logs.mapping.plausibility import _MOTIONS, _SIGNALS

QUICK = "quaternion's order", "pitch's sign", "no gear ratio", "m for mm", "mark of none", "frozen pose"


def parameters(cases, quick):
    return [
        pytest.param(vehicle, name, marks=[] if vehicle == "quince" and name in quick else pytest.mark.slow)
        for name, case in cases.items()
        for vehicle in case.on
    ]


@pytest.mark.parametrize(("vehicle", "name"), parameters(RIGHT, RIGHT))
def test_nothing_is_found_where_nothing_is_wrong(vehicle, name):
    assert checked_case(vehicle, RIGHT[name]).notes == ()


@pytest.mark.slow
@pytest.mark.parametrize("noise", [0.0, 3.0, 10.0])
@pytest.mark.parametrize("vehicle", DRIVES)
def test_noise_is_no_finding(vehicle, noise):
    for seed in range(5):
        assert checked_case(vehicle, RIGHT["as it is"], seed, noise).notes == ()


@pytest.mark.parametrize(("vehicle", "name"), parameters(KINDS, QUICK))
def test_what_is_wrong_is_found_with_a_line_that_explains_it(vehicle, name):
    found = checked_case(vehicle, KINDS[name])
    lines = [line for finding in found.findings if finding.remedy for line in finding.remedy.lines]
    others = [line for finding in found.findings if finding.remedy for line in finding.remedy.other]
    assert found.findings
    assert {finding.name for finding in found.findings} <= set(FINDINGS)
    assert not KINDS[name].line or any(KINDS[name].line in line for line in (*lines, *others)), found.notes
    for finding in found.findings:
        if finding.remedy is not None and finding.remedy.effect != "less of it would be left":
            text = pasted(mapping_of(vehicle, KINDS[name]), finding.remedy.lines)
            again = checked_case(vehicle, KINDS[name], mapping=text)
            assert finding.name not in {each.name for each in again.findings}, finding.remedy


@pytest.mark.slow
def test_the_line_does_not_hang_on_the_noise():
    """As above, with other noise of the usual size: of 104 cases at least nine in ten have the right line."""
    cases = [(vehicle, name, case) for name, case in KINDS.items() for vehicle in case.on]
    missed, without = [], []
    for vehicle, name, case in cases:
        findings = checked_case(vehicle, case, seed=1).findings
        remedies = [finding.remedy for finding in findings if finding.remedy]
        lines = [line for remedy in remedies for line in (*remedy.lines, *remedy.other)]
        missed += [] if findings else [(vehicle, name)]
        without += [] if any(case.line in line for line in lines) or not case.line else [(vehicle, name)]
    assert not missed and len(without) <= len(cases) // 10, without


RNG = np.random.default_rng(7)


def wander(count, size, memory=1.0):
    """Noise that is correlated over so many samples (n, 3)."""
    steps, found = RNG.normal(0, size, (count, 3)), np.zeros((count, 3))
    keep = np.exp(-1 / memory)
    for i in range(1, count):
        found[i] = keep * found[i - 1] + np.sqrt(1 - keep**2) * steps[i]
    return found


STAND, SHORT = Drive.of((60, 0, 0)), Drive.of((150, 0, 0), (15, 0.2, 0), (60, 0, 0))
SPOT = Drive.of((2, 0, 0), (10, 0, 1.2), (2, 0, 0))
BACK = Drive.of((2, 0, 0), (10, -0.3, 0), (5, -0.2, 0.3), (2, 0, 0))
SLOW = Drive.of((60, 0.3, 0), (20, 0.2, 0.1), (120, 0.3, 0.0), rate=1)
STRAIGHT = Drive.of((1, 0, 0), (8, 0.3, 0), (4, 0.2, 0.4), (8, 0.3, 0))
GOOD = {
    "standing": lambda: STAND.checked(),
    "standing, noisy places": lambda: STAND.checked(RNG.normal(0, 0.05, (1200, 3))),
    "standing, noisy belts": lambda: STAND.checked(
        RNG.normal(0, 0.002, (1200, 3)), l=RNG.normal(0, 0.004, 1200), r=RNG.normal(0, 0.004, 1200)
    ),
    "mostly standing": lambda: SHORT.checked(),
    "mostly standing, noisy": lambda: SHORT.checked(RNG.normal(0, 0.003, (4500, 3))),
    "on the spot": lambda: SPOT.checked(RNG.normal(0, 0.002, (280, 3))),
    "on the spot, apart from the middle": lambda: SPOT.checked(RNG.normal(0, 0.002, (280, 3)), beside=0.05),
    "backwards": lambda: BACK.checked(RNG.normal(0, 0.002, (380, 3))),
    "satellites": lambda: SLOW.checked(RNG.normal(0, 1.0, (200, 3)) * [1, 1, 2]),
    "drifting satellites": lambda: SLOW.checked(wander(200, 1.0, 30)),
    "whole degrees": lambda: STRAIGHT.checked(
        RNG.normal(0, 0.002, (420, 3)),
        "  yaw: {channel: d, unit: deg}\n",
        d=np.round(np.degrees(np.concatenate([np.zeros(180), np.linspace(0, 1.6, 80), np.full(160, 1.6)]))),
    ),
    "taps of a command": lambda: STRAIGHT.checked(
        mapping="  belt_speed_command: {left: c, right: c, unit: m/s}\n",
        c=np.where(np.arange(420) % 200 < 8, 0.3, 0.0),
    ),
    "a gyroscope's bias": lambda: STAND.checked(
        mapping="  yaw_rate: {channel: g, unit: rad/s}\n", g=RNG.normal(0.035, 0.002, 1200)
    ),
    "a shaken gyroscope": lambda: STRAIGHT.checked(
        RNG.normal(0, 0.002, (420, 3)),
        "  yaw_rate: {channel: g, unit: rad/s}\n",
        g=STRAIGHT.turning + RNG.normal(0, 0.3, 420),
    ),
    "roll in 0 to 360": lambda: STRAIGHT.checked(
        mapping="  roll: {channel: o, unit: deg}\n", o=np.mod(RNG.normal(-1, 0.5, 420), 360)
    ),
    "marks of none that are named": lambda: STRAIGHT.checked(
        RNG.normal(0, 0.002, (420, 3)),
        "  belt_speed: {left: m, right: r, unit: m/s, missing: [-9999]}\n",
        m=np.where(np.arange(420) % 50 == 3, -9999, STRAIGHT.speed - STRAIGHT.turning * HALF_GAUGE),
    ),
}
DOUBTED = (
    "standing, noisy belts",
    "a gyroscope's bias",
    "drifting satellites",
    "satellites",
    "taps of a command",
)
"""Drives of which something is doubtful, and may be."""


@pytest.mark.parametrize("name", GOOD)
def test_drives_of_all_kinds_are_refused_by_nothing(name):
    found = GOOD[name]()
    assert not [str(finding) for finding in found.findings if finding.refuses]
    assert name in DOUBTED or not found.notes


@pytest.mark.parametrize(("share", "told"), [(0.6, ""), (0.4, "0.4"), (1.4, ""), (2.0, "2")])
def test_belts_are_told_to_run_by_their_share_of_what_they_are_commanded(share, told):
    """What they make over what they are told, which is neither the inverse nor symmetric to it."""
    made = BACK.speed[:, None] + BACK.turning[:, None] * HALF_GAUGE * [-1, 1]
    text = "  belt_speed_command: {left: c, right: d, unit: m/s}\n"
    found = BACK.checked(mapping=text, c=made[:, 0] / share, d=made[:, 1] / share)
    notes = [note for note in found.notes if "though nothing" not in note and "times as fast" in note]
    assert bool(notes) == bool(told)
    assert all(f"which is {told} times as fast" in note for note in notes)


def test_channels_that_never_move_are_found():
    """A velocity of 0 and an attitude that stands, of a vehicle that drives and turns."""
    count = len(STRAIGHT.times)
    velocity = "  velocity: {channels: v, unit: m/s}\n"
    found = STRAIGHT.checked(mapping=velocity, v=np.zeros((count, 3)))
    assert {each.name for each in found.findings} == {"velocity against path", "frozen"}
    yaw = "  yaw: {channel: n, unit: rad}\n  yaw_rate: {channel: g, unit: rad/s}\n"
    found = STRAIGHT.checked(mapping=yaw, n=np.zeros(count), g=np.sin(STRAIGHT.times))
    assert "gyroscope against yaw" in {each.name for each in found.findings}


@pytest.mark.parametrize("missing", range(6, 12))
def test_a_counter_that_goes_on_over_rows_without_numbers_is_not_one_that_starts_again(missing):
    """106 counts a row: over ten rows it goes on by 1166, near the size of a counter, 1024."""
    times, travel = np.arange(600) / 50, 106.0 * np.arange(600)
    travel[200 : 200 + missing] = np.nan
    log = log_of(*(channel(name, travel, "", times) for name in ("a", "b")))
    said = (
        "  belt_speed: {left: a, right: b, unit: counts, counts_per_turn: 512, gear_ratio: 26, radius: 0.08}"
    )
    found = check_plausibility(map_log(log, parse_mapping(f"quantities:\n{said}\n", "m.yaml")))
    assert not {each.name for each in found.findings} & {"wrapped counter"}


@pytest.mark.slow
def test_most_of_what_nobody_thought_of_is_found():
    cases = [(vehicle, name) for name, case in LATER.items() for vehicle in case.on]
    missed = [(vehicle, name) for vehicle, name in cases if not checked_case(vehicle, LATER[name]).findings]
    assert len(missed) <= 0.1 * len(cases), missed


def test_a_contradiction_beyond_doubt_ends_with_an_error_that_says_all():
    found = checked_case("quince", KINDS["no gear ratio"])
    with pytest.raises(ImplausibleLogError) as error:
        refuse([found])
    first, *_, last = str(error.value).splitlines()
    assert first.startswith("log.csv: quantities.belt_speed: belts against path: belts at 4.")
    assert " m/s, of whose travel it makes 0.03" in first
    assert " at its best: they would slip everywhere; `quantities.belt_speed.gear_ratio: 30` or " in first
    assert last == (
        "mend the mapping, or let it say why this may stand: accepted: [{finding: ..., reason: ...}]"
    )


def log_and_mapping(tmp_path, more=""):
    columns = columns_of(motion_of("quince"))
    names = [f"{name}{i}" if v.ndim > 1 else name for name, v in columns.items() for i in range(v[0].size)]
    table = np.column_stack([values.reshape(len(values), -1) for values in columns.values()])
    log = write_csv(tmp_path / "log.csv", names, iter(table.tolist()))
    entries = {
        **ALL,
        "position": "{channels: [p0, p1, p2], unit: cm}",
        "orientation": "{channels: [q0, q1, q2, q3]}",
        "velocity": "",
        "angular_velocity": "",
    }
    lines = [f"  {name}: {text}" for name, text in entries.items() if text]
    mapping = tmp_path / "m.yaml"
    mapping.write_text("\n".join(["vehicle: quince", more, "quantities:", *lines]))
    return log, mapping


def test_map_writes_all_and_ends_with_2(tmp_path):
    log, mapping = log_and_mapping(tmp_path)
    told = CliRunner().invoke(
        app, ["log", "map", str(log), "--mapping", str(mapping), "--json", "--out", str(tmp_path)]
    )
    assert told.exit_code == 2
    assert (tmp_path / "motion.png").exists()
    (finding,) = json.loads(told.stdout)["findings"]
    assert finding["finding"] == "belts against path" and finding["certain"]
    assert finding["remedy"]["lines"] == ["quantities.position.unit: m"]
    assert finding["remedy"]["other"] == []
    assert f"; `quantities.position.unit: m` would fit: {finding['remedy']['effect']}\n" in told.stderr


NOISES = {
    "none": (0.0, lambda c, rng: None),
    "usual": (1.0, lambda c, rng: None),
    "ten times": (10.0, lambda c, rng: None),
    "drift of places": (
        1.0,
        lambda c, rng: c.update(p=c["p"] + [0.05, 0.05, 0.0] * np.sin((c["t"] - c["t"][0])[:, None] / 4)),
    ),
    "places to 1 cm, angles to 1 deg": (
        1.0,
        lambda c, rng: c.update(p=np.round(c["p"], 2), pitch=np.radians(np.round(np.degrees(c["pitch"])))),
    ),
    "a late pose": (1.0, lambda c, rng: c.update({k: np.roll(c[k], 1, axis=0) for k in ("p", "q")})),
    "uneven times": (1.0, lambda c, rng: c.update(t=c["t"] + rng.uniform(-0.02, 0.02, len(c["t"])))),
    "a biased gyroscope": (1.0, lambda c, rng: c.update(w=c["w"] + [0.05, -0.04, 0.06])),
    "a shaken accelerometer": (1.0, lambda c, rng: c.update(f=c["f"] + rng.normal(0.0, 4.0, c["f"].shape))),
}


@pytest.mark.slow
@pytest.mark.parametrize("noise", NOISES)
@pytest.mark.parametrize("number", range(6))
def test_nothing_is_found_in_the_bundled_climbs(number, noise):
    """Those that fail among them, in which belts slip at the step, or the vehicle tips over."""
    size, change = NOISES[noise]
    columns = columns_of(bundled_climb(number), number, size)
    change(columns, np.random.default_rng(number))
    log = log_of(*(channel(k, v, times=columns["t"]) for k, v in columns.items() if k != "t"))
    for case in (RIGHT["an accelerometer"], Case(mapping=RIGHT["angles"].mapping)):
        mapped = map_log(log, parse_mapping(mapping_of("quince", case), "m.yaml", Path(".")))
        height = load_climbs("okada").trials[number].height
        assert check_plausibility(mapped, step(height)).notes == ()


@pytest.mark.parametrize(("factor", "found"), [(1.4, False), (1.6, True)])
def test_the_force_on_a_sides_belts_is_held_against_all_of_its_drives(factor, found):
    """Half as much again as the drives of the side's main belt and flippers can do together."""
    drives = [track.spec.drive for track in load_vehicle("quince").mounted_tracks() if track.side == "left"]
    most = sum(max(drive.stall_force, drive.brake_force) for drive in drives)
    case = Case(
        lambda columns: columns.update(force=np.full(len(columns["t"]), factor * most)),
        {"belt_force": "{left: force, right: force, unit: N}"},
    )
    names = {finding.name for finding in checked_case("quince", case).findings}
    assert len(drives) > 1 and ("forces against drives" in names) == found

    """On turns north-east-down and swapped sides look alike."""
    (note, *_) = checked_case("maxxii", KINDS["sides swapped"]).notes
    assert "`quantities.belt_speed.left: sl` with `quantities.belt_speed.right: sr` or `sensors: " in note


def test_what_the_mapping_accepts_stands_in_the_results_with_its_reason(tmp_path):
    accepted = "accepted: [{finding: belts against path, reason: 'ice'}, {finding: jump, reason: cut}]"
    log, mapping = log_and_mapping(tmp_path, accepted)
    told = CliRunner().invoke(
        app, ["log", "map", str(log), "--mapping", str(mapping), "--json", "--out", str(tmp_path)]
    )
    assert told.exit_code == 0
    (finding,) = json.loads(told.stdout)["findings"]
    assert finding["accepted"] == "ice"
    notes = check_plausibility(map_file(log, mapping)).notes
    assert notes[0].endswith("they would slip everywhere (accepted: ice)")
    assert notes[1] == "accepted: jump: is not found in this log"


def test_compare_refuses_before_it_simulates(tmp_path):
    log, mapping = log_and_mapping(tmp_path, "terrain: okada-step")
    for command in ("compare", *(["report"] if find_spec("jinja2") else [])):
        told = CliRunner().invoke(
            app, ["log", command, str(log), "--mapping", str(mapping), "--out", str(tmp_path)]
        )
        assert told.exit_code == 2
        assert "would fit" in told.stderr and "Traceback" not in told.stderr


def test_names_of_findings_are_checked():
    with pytest.raises(
        MappingFileError, match="must be the name of a finding, got 'jumps'; did you mean jump?"
    ):
        parse_mapping("accepted: [{finding: jumps, reason: x}]\nquantities: {pitch: {channel: p}}")


def test_every_name_that_can_be_accepted_is_one_that_is_found():
    names = {o.name for v in DRIVES for c in (*KINDS.values(),)[:1] for o in checked_case(v, c).observations}
    names |= {o.name for o in checked_case("quince", Case(mapping=RIGHT["angles"].mapping)).observations}
    assert names <= set(FINDINGS)
    assert len(_SIGNALS) + len(_MOTIONS) == 27


def test_the_bundled_turns_contradict_nothing():
    mapped = map_file(DATA / "maxxii_indoor.csv", DATA / "maxxii_indoor.yaml")
    found = check_plausibility(mapped)
    assert found.notes == ()
    assert "belts against yaw rate" in {seen.name for seen in found.observations}


def test_steady_turns_faster_than_belts_are_found():
    """Of 1.33 times what belts without slip would turn, as a table had it."""
    left, right = np.linspace(0.1, 0.3, 20), np.linspace(0.4, 0.5, 20)
    gauge = 2 * HALF_GAUGE
    log = log_of(channel("l", left), channel("r", right), channel("y", 1.33 * (right - left) / gauge))
    quantities = "{belt_speed: {left: l, right: r, unit: m/s}, yaw_rate: {channel: y, unit: rad/s}}"
    mapped = map_log(log, parse_mapping(f"vehicle: maxxii\nrows: steady\nquantities: {quantities}"))
    found = check_plausibility(mapped)
    assert [finding.name for finding in found.findings] == ["belts against yaw rate"]
    assert found.findings[0].refuses
