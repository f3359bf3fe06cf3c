"""Memory of the contacts of belts: sections that anything is near have a place in it, wherever that is."""

import copy

import numpy as np
import pytest

import segtrack
from segtrack import terrain
from segtrack.compliant import Room, allocate_belt_memory, copy_memory
from segtrack.compliant.memory import release_place, restore_sections, save_sections
from segtrack.ground import MAX_EDGES, MAX_SOLIDS_PER_POINT, NONE

POINTS = 2
STEP = terrain.Step(height=0.12, distance=0.35)


def memory_of(places, rooms=6):
    """Memory of ten sections in which those of a dict have places; each remembers its own number."""
    memory = allocate_belt_memory(10, POINTS, rooms)
    contacts = memory.contacts
    for section, place in places.items():
        memory.places[section], memory.sections[place] = place, section
        for array in contacts:
            array.reshape(rooms, -1)[place] = section
    return memory


def remembered(memory):
    """Number that each section with a place remembers, in all arrays."""
    rows = [array.reshape(len(memory.sections), -1) for array in memory.contacts]
    found = {}
    for section in np.flatnonzero(memory.places != NONE).tolist():
        place = memory.places[section]
        assert memory.sections[place] == section
        numbers = {number for array in rows for number in np.unique(array[place]).tolist()}
        assert len(numbers) == 1
        found[section] = numbers.pop()
    return found


def test_a_memory_has_what_its_places_need():
    memory = allocate_belt_memory(10, POINTS, 6, (3,))
    assert memory.places.shape == (3, 10)
    assert memory.sections.shape == (3, 6)
    assert memory.contacts.solid_ids.shape == (3, 6 * POINTS * MAX_SOLIDS_PER_POINT)
    assert memory.contacts.edge_ids.shape == (3, 6 * MAX_EDGES)


def test_a_place_that_is_released_is_free_and_touches_nothing():
    memory = memory_of({3: 0, 7: 5})
    release_place(memory, 3, POINTS)
    assert memory.sections.tolist() == [NONE] * 5 + [7]
    assert remembered(memory) == {7: 7}
    assert (memory.contacts.solid_ids[: POINTS * MAX_SOLIDS_PER_POINT] == NONE).all()
    assert (memory.contacts.edge_ids[:MAX_EDGES] == NONE).all()


def test_a_belt_s_sections_are_restored_wherever_others_have_taken_their_places():
    saved = save_sections(memory_of({1: 0, 3: 4, 7: 5}), 2, 8)
    assert saved.sections.tolist() == [3, 7]
    memory = memory_of({2: 0, 5: 1, 9: 4})
    nothing = save_sections(memory_of({}), 2, 8)
    for state, known in ((saved, {3: 3, 7: 7, 9: 9}), (nothing, {9: 9})):
        restore_sections(memory, 2, 8, state)
        assert remembered(memory) == known
        free = memory.sections == NONE
        for ids in (memory.contacts.solid_ids, memory.contacts.edge_ids):
            assert (ids.reshape(6, -1)[free] == NONE).all()


def test_a_memory_with_more_places_takes_another_one_over():
    larger = memory_of({0: 7, 1: 2}, rooms=8)
    copy_memory(larger, memory_of({3: 0, 7: 5}))
    assert remembered(larger) == {3: 3, 7: 7}
    assert (larger.contacts.edge_ids.reshape(8, -1)[6:] == NONE).all()


@pytest.fixture(params=["compliant", "surface"])
def climber(request):
    """A Quince about to climb a step."""
    with segtrack.World(engine="native", time_step=0.004) as world:
        world.add_terrain(STEP)
        robot = world.add_vehicle("quince", track_model=request.param)
        robot.set_belt_speed(0.3, 0.25)
        yield world, robot


def give_places(model, count):
    """Give a vehicle room for so many sections."""
    model._candidates, model._memory = model._allocate(Room(count, 8, 16, 64)), model._allocate_memory(count)
    model._packed = None
    model.forget_candidates()


def changing(model):
    """State of a vehicle, but for how far it may move before what is near is looked for again."""
    return [a.copy() for name, a in zip(model.state._fields, model.state, strict=True) if name != "slack"]


def test_only_sections_near_anything_have_a_place(climber):
    world, robot = climber
    world.run(2.0)
    model = robot.model
    near = set(model._candidates.near[0, : model._candidates.near_starts[0, -1]].tolist())
    assert set(np.flatnonzero(model._memory.places[0] != NONE).tolist()) == near
    assert 0 < len(near) <= model._memory.sections.shape[1] < 0.5 * model._sections
    touching = set(model.read_contacts().parts.tolist())
    assert touching <= near
    model.state.position[0, 2] += 5.0
    model.forget_candidates()
    world.step()
    assert (model._memory.places == NONE).all()


def test_a_memory_that_grows_changes_no_bit(climber):
    world, robot = climber
    other = copy.deepcopy(robot.model)
    start, states = world.save(), []
    for few in (False, True):
        world.restore(start)
        if few:
            give_places(robot.model, 1)
        world.run(2.5)
        states.append(changing(robot.model))
    assert other._memory.sections.shape != robot.model._memory.sections.shape
    for one, grown in zip(*states, strict=True):
        np.testing.assert_array_equal(one, grown)


def test_lists_that_are_exactly_full_hold_what_is_near(climber):
    """Though further sections are looked at behind them, which nothing is near."""
    world, robot = climber
    world.run(2.5)
    model, saved, states = robot.model, world.save(), []
    model.forget_candidates()
    world.step()
    count = int(model._candidates.near_starts[0, -1])
    for room in (count, count - 1, count + 1, model._sections):
        world.restore(saved)
        give_places(model, room)
        world.step()
        near = model._candidates
        assert (near.solid_counts[0, : near.near_starts[0, -1]] > 0).all()
        states.append(changing(model))
    for grown in states[1:]:
        for one, other in zip(states[0], grown, strict=True):
            np.testing.assert_array_equal(one, other)


def test_a_state_is_restored_to_the_bit_whatever_the_room(climber):
    """Where the memory has grown since, and in one that has not grown as far."""
    world, robot = climber
    world.run(1.5)
    saved = world.save()
    world.run(1.0)
    expected = changing(robot.model)
    for few in (False, True):
        if few:
            give_places(robot.model, 1)
        world.restore(saved)
        world.run(1.0)
        for one, again in zip(expected, changing(robot.model), strict=True):
            np.testing.assert_array_equal(one, again)
