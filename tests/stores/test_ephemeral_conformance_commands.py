"""What each command of every ephemeral store does and answers."""

from itertools import product

import pytest

from satchel.stores.ports.ephemeral import (
    Delete,
    Ephemeral,
    Exists,
    Get,
    HashAll,
    HashDelete,
    HashGet,
    HashIncrement,
    HashPut,
    Increment,
    ListPop,
    ListPush,
    ListRange,
    ListSize,
    ListTrim,
    Put,
    SetAdd,
    SetAll,
    SetHas,
    SetRemove,
    SetSize,
    WrongKind,
)

pytest_plugins = ("tests.stores.fixtures_ephemeral",)

MOST = 2**63 - 1
LEAST = -(2**63)


# Values


async def test_a_value_comes_back_and_an_absent_one_is_none(ephemeral: Ephemeral) -> None:
    assert await ephemeral.run(Get("k")) is None
    assert await ephemeral.run(Put("k", b"\x00\xffvalue")) is True
    assert await ephemeral.run(Get("k")) == b"\x00\xffvalue"
    assert await ephemeral.run(Put("k", b"")) is True
    assert await ephemeral.run(Get("k")) == b""


async def test_putting_only_if_absent_is_a_question(ephemeral: Ephemeral) -> None:
    assert await ephemeral.run(Put("k", b"first", only_if_absent=True)) is True
    assert await ephemeral.run(Put("k", b"second", only_if_absent=True)) is False
    assert await ephemeral.run(Get("k")) == b"first"
    await ephemeral.run(SetAdd("s", "m"))
    assert await ephemeral.run(Put("s", b"value", only_if_absent=True)) is False


async def test_an_absent_number_counts_as_zero_and_negative_steps_are_fine(ephemeral: Ephemeral) -> None:
    assert await ephemeral.run(Increment("n")) == 1
    assert await ephemeral.run(Increment("n", 41)) == 42
    assert await ephemeral.run(Increment("n", -50)) == -8
    assert await ephemeral.run(Get("n")) == b"-8"
    assert await ephemeral.run(HashIncrement("h", "f", 5)) == 5
    assert await ephemeral.run(HashIncrement("h", "f", -6)) == -1
    assert await ephemeral.run(HashGet("h", "f")) == b"-1"


async def test_numbers_have_64_bits(ephemeral: Ephemeral) -> None:
    assert await ephemeral.run(Increment("n", MOST)) == MOST
    with pytest.raises(WrongKind):
        await ephemeral.run(Increment("n"))
    assert await ephemeral.run(Get("n")) == b"%d" % MOST
    assert await ephemeral.run(Increment("m", LEAST)) == LEAST
    with pytest.raises(WrongKind):
        await ephemeral.run(Increment("m", -1))
    await ephemeral.run(HashPut("h", {"f": b"%d" % MOST}))
    with pytest.raises(WrongKind):
        await ephemeral.run(HashIncrement("h", "f"))


@pytest.mark.parametrize("text", [b"", b"x", b"1.5", b" 1", b"1 ", b"+1", b"01", b"-0", b"1_0", b"%d" % (MOST + 1)])
async def test_only_a_plain_whole_number_can_be_added_to(ephemeral: Ephemeral, text: bytes) -> None:
    await ephemeral.run(Put("k", text))
    await ephemeral.run(HashPut("h", {"f": text}))
    with pytest.raises(WrongKind):
        await ephemeral.run(Increment("k", -1))
    with pytest.raises(WrongKind):
        await ephemeral.run(HashIncrement("h", "f", -1))
    assert await ephemeral.run(Get("k")) == text
    assert await ephemeral.run(HashAll("h")) == {"f": text}


async def test_deleting_answers_whether_there_was_something_of_any_kind(ephemeral: Ephemeral) -> None:
    await ephemeral.together(Put("v", b"1"), HashPut("h", {"f": b"1"}), SetAdd("s", "m"), ListPush("l", b"1"))
    for key in "vhsl":
        assert await ephemeral.run(Exists(key)) is True
        assert await ephemeral.run(Delete(key)) is True
        assert await ephemeral.run(Exists(key)) is False
        assert await ephemeral.run(Delete(key)) is False


# Hashes


async def test_a_hash_counts_new_fields_and_gives_back_all(ephemeral: Ephemeral) -> None:
    assert await ephemeral.run(HashAll("h")) == {}
    assert await ephemeral.run(HashPut("h", {"a": b"1", "b": b"2"})) == 2
    assert await ephemeral.run(HashPut("h", {"b": b"3", "ü\x00": b"\xff"})) == 1
    assert await ephemeral.run(HashGet("h", "b")) == b"3"
    assert await ephemeral.run(HashGet("h", "absent")) is None
    assert await ephemeral.run(HashAll("h")) == {"a": b"1", "b": b"3", "ü\x00": b"\xff"}
    assert await ephemeral.run(HashDelete("h", "a")) is True
    assert await ephemeral.run(HashDelete("h", "a")) is False
    assert await ephemeral.run(HashDelete("absent", "a")) is False


async def test_what_was_read_does_not_change_afterwards(ephemeral: Ephemeral) -> None:
    await ephemeral.run(HashPut("h", {"a": b"1"}))
    await ephemeral.run(SetAdd("s", "a"))
    fields, members = await ephemeral.together(HashAll("h"), SetAll("s"))
    fields["mine"] = b"x"
    await ephemeral.together(HashPut("h", {"b": b"2"}), SetAdd("s", "b"))
    assert (fields, members) == ({"a": b"1", "mine": b"x"}, frozenset({"a"}))
    assert await ephemeral.run(HashAll("h")) == {"a": b"1", "b": b"2"}


# Sets


async def test_a_set_holds_each_member_once(ephemeral: Ephemeral) -> None:
    assert await ephemeral.run(SetAll("s")) == frozenset()
    assert await ephemeral.run(SetAdd("s", "ann")) is True
    assert await ephemeral.run(SetAdd("s", "ann")) is False
    assert await ephemeral.run(SetAdd("s", "")) is True
    assert await ephemeral.run(SetHas("s", "ann")) is True
    assert await ephemeral.run(SetHas("s", "bob")) is False
    assert await ephemeral.run(SetHas("absent", "bob")) is False
    assert await ephemeral.run(SetSize("s")) == 2
    assert await ephemeral.run(SetAll("s")) == frozenset({"ann", ""})
    assert await ephemeral.run(SetRemove("s", "bob")) is False
    assert await ephemeral.run(SetRemove("s", "ann")) is True
    assert await ephemeral.run(SetRemove("absent", "ann")) is False
    assert await ephemeral.run(SetSize("s")) == 1


# Lists


async def test_a_list_is_left_in_and_right_out(ephemeral: Ephemeral) -> None:
    assert await ephemeral.run(ListPop("l")) is None
    assert [await ephemeral.run(ListPush("l", value)) for value in (b"1", b"2", b"3")] == [1, 2, 3]
    assert await ephemeral.run(ListRange("l")) == [b"3", b"2", b"1"]
    assert await ephemeral.run(ListSize("l")) == 3
    assert [await ephemeral.run(ListPop("l")) for _ in range(4)] == [b"1", b"2", b"3", None]
    assert await ephemeral.run(ListSize("l")) == 0


async def test_ranges_include_both_ends_and_trimming_keeps_just_them(ephemeral: Ephemeral) -> None:
    values = [b"a", b"b", b"c", b"d", b"e"]
    places = (-9, -6, -5, -4, -1, 0, 1, 4, 5, 9, LEAST, MOST)
    for start, stop in product(places, places):
        await ephemeral.together(Delete("l"), *(ListPush("l", value) for value in reversed(values)))
        first = start if start >= 0 else max(len(values) + start, 0)
        last = stop if stop >= 0 else len(values) + stop
        expected = values[first : last + 1] if last >= 0 else []
        answers = await ephemeral.together(ListRange("l", start, stop), ListTrim("l", start, stop), ListRange("l"))
        assert answers == (expected, None, expected), (start, stop)
        assert await ephemeral.run(Exists("l")) is bool(expected)


async def test_an_absent_list_has_no_range_and_nothing_to_trim(ephemeral: Ephemeral) -> None:
    assert await ephemeral.run(ListRange("l")) == []
    assert await ephemeral.run(ListTrim("l", 0, 1)) is None
    assert await ephemeral.run(Exists("l")) is False
