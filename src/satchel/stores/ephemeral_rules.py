"""What every ephemeral store accepts, so that a command that works in process also works on Redis, and vice versa."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any, Protocol, TypeAlias

from satchel.kernel.errors import Invalid
from satchel.stores.ports.ephemeral import (
    MAX_KEY_BYTES,
    MAX_VALUE_BYTES,
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

MIN_WHOLE = -(2**63)
MAX_WHOLE = 2**63 - 1

# How memory is counted: a key costs KEY_BYTES and its own length; a hash, set or list costs COLLECTION_BYTES more, and
# each element in it ELEMENT_BYTES and its length. The constants are what CPython was measured to take around the bytes.
KEY_BYTES = 320
COLLECTION_BYTES = 700
ELEMENT_BYTES = 120
NUMBER_BYTES = 20


class Keyed(Protocol):
    """Every command but `Publish`."""

    @property
    def key(self) -> str: ...


_MILLISECOND = timedelta(milliseconds=1)
# Some thirty thousand years: longer times to live count as this, so that no sum with the date can overflow.
_MOST_MILLISECONDS = 10**15


def admit(command: Command[Any]) -> int:
    """Raise `Invalid` if the command breaks a bound. Returns how much memory it may need: 0 if none."""
    rule = _RULES.get(type(command))
    if rule is None:
        raise TypeError(f"{command!r} is not a command of the ephemeral store")
    return rule(command)


def takes_memory(command: Command[Any]) -> bool:
    return isinstance(command, HashIncrement | HashPut | Increment | ListPush | Put | SetAdd)


def milliseconds(span: timedelta) -> int:
    """Whole milliseconds, rounded up, so that a positive time stays positive."""
    whole, rest = divmod(span, _MILLISECOND)
    return min(whole + bool(rest), _MOST_MILLISECONDS)


def text_bytes(text: str) -> int:
    """An upper bound of the memory that a text takes, without encoding it."""
    return len(text) if text.isascii() else 4 * len(text)


def check_key(key: str) -> None:
    # Most keys are short and ASCII: they pass without being encoded.
    if key.isascii() and 0 < len(key) <= MAX_KEY_BYTES:
        return
    if not 0 < _encoded_bytes(key) <= MAX_KEY_BYTES:
        raise Invalid(f"A key or channel has to be 1 to {MAX_KEY_BYTES} bytes long. Choose another name.")


def _check_value(value: bytes) -> None:
    if len(value) > MAX_VALUE_BYTES:
        raise Invalid(f"A value may be up to {MAX_VALUE_BYTES} bytes long. Send it in parts.")


def _check_text(text: str) -> None:
    """Members of sets and names of fields are bounded as values are."""
    if text.isascii() and len(text) <= MAX_VALUE_BYTES:
        return
    if _encoded_bytes(text) > MAX_VALUE_BYTES:
        raise Invalid(f"A member or field may be up to {MAX_VALUE_BYTES} bytes long. Keep long things in values.")


def _encoded_bytes(text: str) -> int:
    try:
        return len(text.encode())
    except UnicodeEncodeError as error:
        raise Invalid("A name has to be text that UTF-8 can express. Take the broken characters out.") from error


def _check_whole(number: int) -> None:
    if not MIN_WHOLE <= number <= MAX_WHOLE:
        raise Invalid("A number has to fit into 64 bits. Use a smaller one.")


def _keyed(
    command: Delete | Exists | Get | HashAll | ListPop | ListSize | SetAll | SetSize | TimeToLive | Expire,
) -> int:
    check_key(command.key)
    return 0


def _put(command: Put) -> int:
    check_key(command.key)
    _check_value(command.value)
    return KEY_BYTES + text_bytes(command.key) + len(command.value)


def _increment(command: Increment) -> int:
    check_key(command.key)
    _check_whole(command.by)
    return KEY_BYTES + text_bytes(command.key) + NUMBER_BYTES


def _collection_bytes(key: str) -> int:
    return KEY_BYTES + COLLECTION_BYTES + text_bytes(key)


def _hash_put(command: HashPut) -> int:
    check_key(command.key)
    if not command.fields:
        raise Invalid("Setting fields of a hash needs at least one field.")
    needed = _collection_bytes(command.key)
    for field, value in command.fields.items():
        _check_text(field)
        _check_value(value)
        needed += ELEMENT_BYTES + text_bytes(field) + len(value)
    return needed


def _hash_field(command: HashGet | HashDelete) -> int:
    check_key(command.key)
    _check_text(command.field)
    return 0


def _hash_increment(command: HashIncrement) -> int:
    check_key(command.key)
    _check_text(command.field)
    _check_whole(command.by)
    return _collection_bytes(command.key) + ELEMENT_BYTES + text_bytes(command.field) + NUMBER_BYTES


def _set_add(command: SetAdd) -> int:
    check_key(command.key)
    _check_text(command.member)
    return _collection_bytes(command.key) + ELEMENT_BYTES + text_bytes(command.member)


def _set_member(command: SetHas | SetRemove) -> int:
    check_key(command.key)
    _check_text(command.member)
    return 0


def _list_push(command: ListPush) -> int:
    check_key(command.key)
    _check_value(command.value)
    return _collection_bytes(command.key) + ELEMENT_BYTES + len(command.value)


def _list_between(command: ListRange | ListTrim) -> int:
    check_key(command.key)
    _check_whole(command.start)
    _check_whole(command.stop)
    return 0


def _publish(command: Publish) -> int:
    check_key(command.channel)
    _check_value(command.message)
    return 0


_Rule: TypeAlias = Callable[[Any], int]
_RULES: dict[type[Command[Any]], _Rule] = {
    Delete: _keyed,
    Exists: _keyed,
    Expire: _keyed,
    Get: _keyed,
    HashAll: _keyed,
    HashDelete: _hash_field,
    HashGet: _hash_field,
    HashIncrement: _hash_increment,
    HashPut: _hash_put,
    Increment: _increment,
    ListPop: _keyed,
    ListPush: _list_push,
    ListRange: _list_between,
    ListSize: _keyed,
    ListTrim: _list_between,
    Publish: _publish,
    Put: _put,
    SetAdd: _set_add,
    SetAll: _keyed,
    SetHas: _set_member,
    SetRemove: _set_member,
    SetSize: _keyed,
    TimeToLive: _keyed,
}
