"""Every key of the ephemeral store is declared: no two meet, durable ones are known, and a stray one is found."""

from pathlib import Path

import pytest

from satchel.kernel.clock import ManualClock
from satchel.slices import DURABLE_KEYS
from satchel.stores.embedded.ephemeral_memory import MemoryEphemeral
from satchel.stores.ports.ephemeral import Command, Delete, Get, HashPut, ListPush, Publish, Put, SetAdd
from satchel.stores.schema import EphemeralKey, check_ephemeral_keys, durable_prefixes
from tests.application import running_satchel
from tests.declared_keys import DeclaredKeys, UndeclaredKey
from tools.documents import all_ephemeral_keys

CHAT = EphemeralKey("room:{room_id}:chat", "list", owner="tests", about="An example", durable=True)
SEEN = EphemeralKey("seen:{person_id}", "value", owner="tests", about="Another")


def test_the_declared_keys_of_the_whole_program_never_meet() -> None:
    patterns = {key.pattern for key in all_ephemeral_keys()}
    assert patterns >= {"throttle:{name}:{subject}", "uploading:{upload_id}", "sweep:shelf", "rooms"}


def test_what_a_restart_must_not_forget_is_durable() -> None:
    assert {"revoked:", "upload-begun:", "housekeeping:last", "room:", "session:"} <= set(DURABLE_KEYS)
    assert not "throttle:a:b".startswith(DURABLE_KEYS)


def test_a_key_knows_the_keys_that_it_makes() -> None:
    assert CHAT.matches(CHAT(room_id="a:b"))
    assert not CHAT.matches("room:a:b:chat")
    assert not CHAT.matches("room:a:files")
    assert (CHAT.prefix, SEEN.prefix) == ("room:", "seen:")
    assert durable_prefixes([CHAT, SEEN]) == ("room:",)


def test_a_key_that_would_be_durable_by_accident_is_refused() -> None:
    stray = EphemeralKey("room:{room_id}:mood", "value", owner="tests", about="Lost on a restart, says its owner")
    with pytest.raises(ValueError, match="durable"):
        check_ephemeral_keys([CHAT, stray])


def test_two_keys_that_could_be_the_same_are_refused() -> None:
    rival = EphemeralKey("{anything}:{room_id}:chat", "list", owner="tests", about="A rival", durable=True)
    with pytest.raises(ValueError, match="could be the same"):
        check_ephemeral_keys([CHAT, rival])


@pytest.mark.parametrize(
    "command",
    [Put("stray:1", b""), Get("room:1:files"), Delete("seen"), SetAdd("room:1:chat", "x"), HashPut("seen:1", {})],
    ids=["unknown", "of another shape", "too short", "a set instead of a list", "a hash instead of a value"],
)
async def test_a_key_that_is_not_declared_is_found(command: Command[object]) -> None:
    store = DeclaredKeys(await MemoryEphemeral.open(clock=ManualClock()), [CHAT, SEEN])
    with pytest.raises(UndeclaredKey):
        await store.run(command)
    with pytest.raises(UndeclaredKey):
        await store.together(Put(SEEN(person_id="ann"), b""), command)
    await store.close()


async def test_declared_keys_and_channels_pass() -> None:
    store = DeclaredKeys(await MemoryEphemeral.open(clock=ManualClock()), [CHAT, SEEN])
    assert await store.together(ListPush(CHAT(room_id="1"), b"hello"), Publish("any:channel", b"")) == (1, None)
    assert await store.run(Delete(CHAT(room_id="1")))
    await store.close()


async def test_every_test_of_a_slice_runs_on_such_a_store(tmp_path: Path) -> None:
    async with running_satchel(tmp_path) as satchel:
        with pytest.raises(UndeclaredKey):
            await satchel.stores.ephemeral.run(Put("stray:1", b""))
