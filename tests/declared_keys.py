"""A store that refuses keys which nobody has declared: with it every test of a slice finds them."""

from collections.abc import AsyncIterator, Iterable
from contextlib import AbstractAsyncContextManager
from datetime import timedelta
from typing import Any, cast

from satchel.slices import EPHEMERAL_KEYS
from satchel.stores.ports import ephemeral
from satchel.stores.ports.ephemeral import Command, Ephemeral, Message, Publish
from satchel.stores.schema import EphemeralKey, EphemeralKind

_KINDS: dict[str, EphemeralKind] = {"Hash": "hash", "Set": "set", "List": "list"}
_OF_VALUES = (ephemeral.Get, ephemeral.Put, ephemeral.Increment)


class UndeclaredKey(AssertionError):
    """A slice uses a key of the ephemeral store that stands in no `EPHEMERAL_KEYS`."""


class DeclaredKeys:
    """Passes everything on to another store, if its keys are declared, and used as what they are declared to be."""

    def __init__(self, inner: Ephemeral, declared: Iterable[EphemeralKey] | None = None) -> None:
        self._inner = inner
        self._declared: dict[str, list[EphemeralKey]] = {}
        for key in EPHEMERAL_KEYS if declared is None else declared:
            self._declared.setdefault(key.pattern.partition(":")[0], []).append(key)

    async def run(self, command: Command[Any]) -> Any:
        self._check(command)
        return await self._inner.run(command)

    async def together(self, *commands: Command[Any]) -> Any:
        for command in commands:
            self._check(command)
        return await self._inner.together(*commands)

    async def wait_pop(self, key: str, timeout: timedelta) -> bytes | None:
        self._check_key(key, "list")
        return await self._inner.wait_pop(key, timeout)

    def subscribe(self, *channels: str) -> AbstractAsyncContextManager[AsyncIterator[Message]]:
        return self._inner.subscribe(*channels)

    async def close(self) -> None:
        await self._inner.close()

    def __getattr__(self, name: str) -> Any:
        """What a test asks of the store that only that kind of store has."""
        return getattr(self._inner, name)

    def _check(self, command: Command[Any]) -> None:
        if not isinstance(command, Publish):
            self._check_key(cast("Any", command).key, _kind_of(command))

    def _check_key(self, key: str, kind: EphemeralKind | None) -> None:
        found = [each for each in self._declared.get(key.partition(":")[0], ()) if each.matches(key)]
        if not found:
            raise UndeclaredKey(f"no EPHEMERAL_KEYS of any `records.py` have {key!r}")
        if kind is not None and all(each.kind != kind for each in found):
            raise UndeclaredKey(f"{key!r} is used as a {kind}, and declared as a {found[0].kind}")


def _kind_of(command: Command[Any]) -> EphemeralKind | None:
    """What a command takes its key for; None if any kind will do."""
    if isinstance(command, _OF_VALUES):
        return "value"
    return next((kind for name, kind in _KINDS.items() if type(command).__name__.startswith(name)), None)
