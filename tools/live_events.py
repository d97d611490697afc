"""Generate the schema of every event that the server sends over a live connection, for the types of the web app."""

import json
from collections.abc import Iterator
from functools import reduce
from typing import Any

import msgspec

from satchel.live import LiveEvent

_REF = "#/components/schemas/{name}"


def live_events() -> Iterator[str]:
    """An OpenAPI document without paths, since the generator of the web app's types reads such documents.

    An event is known once its module is imported: import the whole program first.
    """
    events: list[Any] = sorted(_subclasses(LiveEvent), key=_tag)
    every = reduce(lambda one, other: one | other, events)
    [union], components = msgspec.json.schema_components([every], ref_template=_REF)
    document = {
        "openapi": "3.1.0",
        "info": {"title": "Live events of Satchel", "version": "1"},
        "paths": {},
        "components": {"schemas": {"LiveEvent": union, **dict(sorted(components.items()))}},
    }
    yield json.dumps(document, indent=2)
    yield ""


def _subclasses(cls: type[LiveEvent]) -> Iterator[type[LiveEvent]]:
    for each in cls.__subclasses__():
        yield each
        yield from _subclasses(each)


def _tag(event: type[LiveEvent]) -> Any:
    return event.__struct_config__.tag
