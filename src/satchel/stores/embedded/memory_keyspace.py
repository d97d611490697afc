"""Redis's data model as plain Python: what each command does to the keys, given the instant at which it happens.

The same commands at the same instants always lead to the same state. So a journal of commands is enough to recover a
state (`memory_journal.py`).
"""

from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import timedelta
from itertools import islice
from typing import Any, ClassVar, TypeAlias, TypeVar

from satchel.stores.embedded.memory_entries import NEVER, Entries, Entry, of_kind
from satchel.stores.ephemeral_rules import ELEMENT_BYTES, MAX_WHOLE, MIN_WHOLE, NUMBER_BYTES, text_bytes
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
    Put,
    SetAdd,
    SetAll,
    SetHas,
    SetRemove,
    SetSize,
    TimeToLive,
    WrongKind,
)

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class ListReturn(Command[None]):
    """Put a value back where `ListPop` took it; not in the contract, because only a cancelled wait needs it."""

    key: str
    value: bytes


# The commands that may change something.
Change: TypeAlias = (
    Delete
    | Expire
    | HashDelete
    | HashIncrement
    | HashPut
    | Increment
    | ListPop
    | ListPush
    | ListReturn
    | ListTrim
    | Put
    | SetAdd
    | SetRemove
)
CHANGES: frozenset[type[Change]] = frozenset(Change.__args__)


class Keyspace(Entries):
    """What the commands do to the keys."""

    def apply(self, command: Command[T], now: int) -> T:
        return self._HANDLERS[type(command)](self, command, now)

    def is_idle(self, command: Command[Any], now: int) -> bool:
        """Whether the command, done now, would leave everything as it is."""
        question = self._IDLE.get(type(command))
        try:
            return question is not None and question(self, command, now)
        except WrongKind:
            return True

    def recipe(self, key: str, now: int) -> Iterator[Change]:
        """The shortest list of commands that makes the key what it is; none for an absent one."""
        entry = self._entries.get(key)
        if entry is None:
            return
        match entry.content:
            case bytes() as value:
                yield Put(key, value)
            case dict() as fields:
                yield HashPut(key, fields)
            case set() as members:
                yield from (SetAdd(key, member) for member in members)
            case deque() as values:
                yield from (ListPush(key, value) for value in reversed(values))
        if entry.ends != NEVER:
            yield Expire(key, timedelta(milliseconds=entry.ends - now))

    # Any kind

    def _delete(self, command: Delete, now: int) -> bool:
        entry = self.find(command.key, now)
        if entry is None:
            return False
        self.drop(command.key, entry)
        return True

    def _exists(self, command: Exists, now: int) -> bool:
        return self.holds(command.key, now)

    def _expire(self, command: Expire, now: int) -> bool:
        entry = self.find(command.key, now)
        if entry is None or (command.only_if_unset and entry.ends != NEVER):
            return False
        self.end(command.key, entry, command.ttl, now)
        return True

    def _time_to_live(self, command: TimeToLive, now: int) -> timedelta | None:
        entry = self._entries.get(command.key)
        if entry is None or entry.ends <= now or entry.ends == NEVER:
            return None
        return timedelta(milliseconds=entry.ends - now)

    # Values

    def _get(self, command: Get, now: int) -> bytes | None:
        return self.read(command.key, bytes, now)

    def _put(self, command: Put, now: int) -> bool:
        key = command.key
        old = self.find(key, now)
        if old is not None:
            if command.only_if_absent:
                return False
            self.drop(key, old)
        entry = self.make(key, command.value, len(command.value))
        if command.ttl is not None:
            self.end(key, entry, command.ttl, now)
        return True

    def _increment(self, command: Increment, now: int) -> int:
        entry = self.find(command.key, now)
        if entry is None:
            self._put(Put(command.key, b"%d" % command.by), now)
            return command.by
        old = of_kind(entry, bytes)
        total = _sum(old, command.by)
        entry.content = b"%d" % total
        self.resize(entry, len(entry.content) - len(old))
        return total

    # Hashes

    def _hash_put(self, command: HashPut, now: int) -> int:
        entry, fields = self.find_or_make(command.key, dict, now)
        before = len(fields)
        for field, value in command.fields.items():
            self._hash_set(entry, fields, field, value)
        return len(fields) - before

    def _hash_set(self, entry: Entry, fields: dict[str, bytes], field: str, value: bytes) -> None:
        old = fields.get(field)
        new_field_bytes = ELEMENT_BYTES + text_bytes(field) if old is None else -len(old)
        fields[field] = value
        self.resize(entry, new_field_bytes + len(value))

    def _hash_get(self, command: HashGet, now: int) -> bytes | None:
        fields = self.read(command.key, dict, now)
        return None if fields is None else fields.get(command.field)

    def _hash_all(self, command: HashAll, now: int) -> dict[str, bytes]:
        return dict(self.read(command.key, dict, now) or {})

    def _hash_delete(self, command: HashDelete, now: int) -> bool:
        entry = self.find(command.key, now)
        if entry is None:
            return False
        value = of_kind(entry, dict).pop(command.field, None)
        if value is None:
            return False
        self.lose(command.key, entry, ELEMENT_BYTES + text_bytes(command.field) + len(value))
        return True

    def _hash_increment(self, command: HashIncrement, now: int) -> int:
        entry, fields = self.find_or_make(command.key, dict, now)
        total = _sum(fields.get(command.field, b"0"), command.by)
        self._hash_set(entry, fields, command.field, b"%d" % total)
        return total

    # Sets

    def _set_add(self, command: SetAdd, now: int) -> bool:
        entry, members = self.find_or_make(command.key, set, now)
        if command.member in members:
            return False
        members.add(command.member)
        self.resize(entry, ELEMENT_BYTES + text_bytes(command.member))
        return True

    def _set_remove(self, command: SetRemove, now: int) -> bool:
        entry = self.find(command.key, now)
        if entry is None:
            return False
        members = of_kind(entry, set)
        if command.member not in members:
            return False
        members.remove(command.member)
        self.lose(command.key, entry, ELEMENT_BYTES + text_bytes(command.member))
        return True

    def _set_has(self, command: SetHas, now: int) -> bool:
        return command.member in (self.read(command.key, set, now) or ())

    def _set_all(self, command: SetAll, now: int) -> frozenset[str]:
        return frozenset(self.read(command.key, set, now) or ())

    def _set_size(self, command: SetSize, now: int) -> int:
        return len(self.read(command.key, set, now) or ())

    # Lists

    def _list_push(self, command: ListPush, now: int) -> int:
        entry, values = self.find_or_make(command.key, deque, now)
        values.appendleft(command.value)
        self.resize(entry, ELEMENT_BYTES + len(command.value))
        return len(values)

    def _list_return(self, command: ListReturn, now: int) -> None:
        entry, values = self.find_or_make(command.key, deque, now)
        values.append(command.value)
        self.resize(entry, ELEMENT_BYTES + len(command.value))

    def _list_pop(self, command: ListPop, now: int) -> bytes | None:
        entry = self.find(command.key, now)
        if entry is None:
            return None
        value = of_kind(entry, deque).pop()
        self.lose(command.key, entry, ELEMENT_BYTES + len(value))
        return value

    def _list_range(self, command: ListRange, now: int) -> list[bytes]:
        values = self.read(command.key, deque, now)
        return [] if values is None else list(islice(values, *_span(command.start, command.stop, len(values))))

    def _list_trim(self, command: ListTrim, now: int) -> None:
        entry = self.find(command.key, now)
        if entry is None:
            return
        values = of_kind(entry, deque)
        first, end = _span(command.start, command.stop, len(values))
        lost = [values.pop() for _ in range(len(values) - end)]
        lost += [values.popleft() for _ in range(min(first, len(values)))]
        self.lose(command.key, entry, sum(ELEMENT_BYTES + len(value) for value in lost))

    def _list_size(self, command: ListSize, now: int) -> int:
        return len(self.read(command.key, deque, now) or ())

    # Which commands change nothing

    def _idle_on_absent(self, command: Delete | ListPop, now: int) -> bool:
        return not self.holds(command.key, now)

    def _idle_put(self, command: Put, now: int) -> bool:
        return command.only_if_absent and self.holds(command.key, now)

    def _idle_expire(self, command: Expire, now: int) -> bool:
        running = command.only_if_unset and self._time_to_live(TimeToLive(command.key), now) is not None
        return running or not self.holds(command.key, now)

    def _idle_hash_delete(self, command: HashDelete, now: int) -> bool:
        return self._hash_get(HashGet(command.key, command.field), now) is None

    def _idle_set_add(self, command: SetAdd, now: int) -> bool:
        return self._set_has(SetHas(command.key, command.member), now)

    def _idle_set_remove(self, command: SetRemove, now: int) -> bool:
        return not self._set_has(SetHas(command.key, command.member), now)

    _HANDLERS: ClassVar[dict[type[Command[Any]], Callable[["Keyspace", Any, int], Any]]] = {
        Delete: _delete,
        Exists: _exists,
        Expire: _expire,
        Get: _get,
        HashAll: _hash_all,
        HashDelete: _hash_delete,
        HashGet: _hash_get,
        HashIncrement: _hash_increment,
        HashPut: _hash_put,
        Increment: _increment,
        ListPop: _list_pop,
        ListPush: _list_push,
        ListRange: _list_range,
        ListReturn: _list_return,
        ListSize: _list_size,
        ListTrim: _list_trim,
        Put: _put,
        SetAdd: _set_add,
        SetAll: _set_all,
        SetHas: _set_has,
        SetRemove: _set_remove,
        SetSize: _set_size,
        TimeToLive: _time_to_live,
    }
    _IDLE: ClassVar[dict[type[Command[Any]], Callable[["Keyspace", Any, int], bool]]] = {
        Delete: _idle_on_absent,
        Expire: _idle_expire,
        HashDelete: _idle_hash_delete,
        ListPop: _idle_on_absent,
        Put: _idle_put,
        SetAdd: _idle_set_add,
        SetRemove: _idle_set_remove,
    }


def _sum(number: bytes, by: int) -> int:
    """Add as Redis does: only a number in its one plain form counts, and the sum has to fit into 64 bits."""
    try:
        old = int(number[: NUMBER_BYTES + 1])
    except ValueError:
        old = MAX_WHOLE + 1
    if not (MIN_WHOLE <= old <= MAX_WHOLE and MIN_WHOLE <= old + by <= MAX_WHOLE and b"%d" % old == number):
        raise WrongKind("This is not a whole number, or the sum does not fit into 64 bits. Store a number there first.")
    return old + by


def _span(start: int, stop: int, length: int) -> tuple[int, int]:
    """Redis's first and last as Python's first and end."""
    first = max(start + length if start < 0 else start, 0)
    end = min((stop + length if stop < 0 else stop) + 1, length)
    return (first, end) if first < end else (0, 0)
