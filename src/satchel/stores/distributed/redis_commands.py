"""How each command is written for Redis, and what its reply means."""

from collections.abc import Callable, Iterable
from datetime import timedelta
from typing import Any, NamedTuple, TypeAlias, cast

from satchel.stores.ephemeral_rules import Keyed, milliseconds
from satchel.stores.ports.ephemeral import (
    Command,
    Delete,
    Exists,
    Expire,
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
    Publish,
    Put,
    SetAdd,
    SetAll,
    SetHas,
    SetRemove,
    SetSize,
    TimeToLive,
)

Words: TypeAlias = tuple[str | bytes | int, ...]


class Form(NamedTuple):
    """The word for a command, what comes after its key, and what to make of the reply."""

    word: str
    arguments: Callable[[Any], Words]
    answer: Callable[[Any], Any]


def words(command: Command[Any], prefix: str) -> Words:
    form = _FORMS[type(command)]
    name = command.channel if isinstance(command, Publish) else cast("Keyed", command).key
    return (form.word, prefix + name, *form.arguments(command))


def answer(command: Command[Any], reply: Any) -> Any:
    return _FORMS[type(command)].answer(reply)


# Each command comes as the number of its words, then the words.
_SCRIPT = """
local answers, at = {}, 1
while ARGV[at] do
    local count = tonumber(ARGV[at])
    answers[#answers + 1] = redis.pcall(unpack(ARGV, at + 1, at + count))
    at = at + count + 1
end
return answers
"""


def in_a_script(said: Iterable[Words]) -> Words:
    """Several commands as one, for when memory is used up: then Redis queues nothing at all, not even reading or
    deleting, but in a script it lets pass what needs no memory."""
    return ("EVAL", _SCRIPT, 0, *(part for words in said for part in (len(words), *words)))


def _put(command: Put) -> Words:
    said: Words = (command.value,)
    if command.ttl is not None:
        lasting = milliseconds(command.ttl)
        # Redis refuses a lifetime that is not positive, but takes an end that has passed.
        said += ("PX", lasting) if lasting > 0 else ("PXAT", 1)
    return (*said, "NX") if command.only_if_absent else said


def _expire(command: Expire) -> Words:
    lasting = milliseconds(command.ttl)
    return (lasting, "NX") if command.only_if_unset else (lasting,)


def _hash_put(command: HashPut) -> Words:
    return tuple(part for pair in command.fields.items() for part in pair)


def _parts(*names: str) -> Callable[[Any], Words]:
    """Arguments that are the command's own fields."""
    return lambda command: tuple(getattr(command, name) for name in names)


def _same(reply: Any) -> Any:
    return reply


def _nothing(_reply: Any) -> None:
    return None


def _time_left(reply: int) -> timedelta | None:
    return None if reply < 0 else timedelta(milliseconds=reply)


def _pairs(reply: list[bytes]) -> dict[str, bytes]:
    return {field.decode(): value for field, value in zip(reply[::2], reply[1::2], strict=True)}


def _texts(reply: Iterable[bytes]) -> frozenset[str]:
    return frozenset(member.decode() for member in reply)


_FORMS: dict[type[Command[Any]], Form] = {
    Delete: Form("DEL", _parts(), bool),
    Exists: Form("EXISTS", _parts(), bool),
    Expire: Form("PEXPIRE", _expire, bool),
    Get: Form("GET", _parts(), _same),
    HashAll: Form("HGETALL", _parts(), _pairs),
    HashDelete: Form("HDEL", _parts("field"), bool),
    HashGet: Form("HGET", _parts("field"), _same),
    HashIncrement: Form("HINCRBY", _parts("field", "by"), _same),
    HashPut: Form("HSET", _hash_put, _same),
    Increment: Form("INCRBY", _parts("by"), _same),
    ListPop: Form("RPOP", _parts(), _same),
    ListPush: Form("LPUSH", _parts("value"), _same),
    ListRange: Form("LRANGE", _parts("start", "stop"), _same),
    ListSize: Form("LLEN", _parts(), _same),
    ListTrim: Form("LTRIM", _parts("start", "stop"), _nothing),
    Publish: Form("PUBLISH", _parts("message"), _nothing),
    Put: Form("SET", _put, bool),
    SetAdd: Form("SADD", _parts("member"), bool),
    SetAll: Form("SMEMBERS", _parts(), _texts),
    SetHas: Form("SISMEMBER", _parts("member"), bool),
    SetRemove: Form("SREM", _parts("member"), bool),
    SetSize: Form("SCARD", _parts(), _same),
    TimeToLive: Form("PTTL", _parts(), _time_left),
}
