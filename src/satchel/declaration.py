"""What a slice declares of itself in one value, and the platform that every slice is built on."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from datetime import timedelta
from functools import partial
from typing import TYPE_CHECKING, Any, Concatenate, Generic, ParamSpec, TypeVar

from satchel.chores import Chore, Housekeeper
from satchel.config import Settings
from satchel.edge.api.addresses import Addresses
from satchel.edge.api.endpoints import Router
from satchel.edge.api.identity import Identity
from satchel.edge.files.page_summary import Summarize
from satchel.edge.live.live_sockets import LiveSockets
from satchel.edge.live.presence import Attendance
from satchel.edge.uploads.destinations import Destination
from satchel.kernel.clock import Clock
from satchel.kernel.departure import Holdings
from satchel.kernel.events import Event, Events
from satchel.kernel.linked import ThingKind, Things
from satchel.kernel.searched import Searchable
from satchel.kernel.signature import Signer
from satchel.live import LiveEvent, Presence
from satchel.media.picture_maker import Note
from satchel.media.pictures import Pictures
from satchel.outbox import Outbox, OutboxRow
from satchel.stores.connect import Stores
from satchel.stores.patterns.throttle import Limit
from satchel.stores.schema import EphemeralKey, Shape

if TYPE_CHECKING:
    from prometheus_client.registry import Collector

P = ParamSpec("P")
Context = TypeVar("Context")


@dataclass(frozen=True, slots=True)
class Platform:
    """What every slice is built on: settings, stores, time, identity, chores, pictures, events and the outbox."""

    settings: Settings
    stores: Stores
    clock: Clock
    signer: Signer
    identity: Identity
    housekeeper: Housekeeper
    pictures: Pictures
    events: Events
    outbox: Outbox
    # What each slice holds of people, in the order in which it is deleted with an account.
    holdings: list[Holdings] = field(default_factory=list[Holdings])

    @property
    def presence(self) -> Presence:
        return Presence(self.stores.ephemeral, self.clock)


@dataclass(frozen=True, slots=True)
class RouteNeeds:
    """What routes need besides their slice: where people reach this server, and its live connections."""

    addresses: Addresses
    live: LiveSockets


@dataclass(frozen=True, slots=True)
class Repeated(Generic[Context]):
    """Something that a server does again and again, more often than chores.

    With `by_worker`, `satchel worker` does it instead, where it shares all stores with the servers.
    """

    name: str
    every: timedelta
    do: Callable[[Context], Awaitable[object]]
    by_worker: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Slice(Generic[P, Context]):
    """One slice. `make` builds its context from the platform and from the adapters that serve its needs.

    Everything else is a function of that context, or plain data.
    """

    name: str
    make: Callable[Concatenate[Platform, P], Context]
    routes: Callable[[Context, RouteNeeds], Sequence[Router]]

    # What it stores. A key that is declared durable outlives a restart of the in-process store.
    records: Sequence[Shape[Any]] = ()
    ephemeral_keys: Sequence[EphemeralKey] = ()
    limits: Sequence[Limit] = ()

    # What it tells live connections, states to other slices, and hears of them.
    live_events: Sequence[type[LiveEvent]] = ()
    states: Sequence[type[Event]] = ()
    hears: Mapping[type[Any], Callable[[Context, Any], Awaitable[object]]] = field(default_factory=dict[Any, Any])
    # Ends an answer of its own that was about to end when its server died, if there is more to it than to count.
    ends: Callable[[Context, OutboxRow], Awaitable[bool]] | None = None

    # Where uploads of one kind go, and what links of one kind lead to.
    uploads: Mapping[str, Callable[[Context], Destination]] = field(default_factory=dict[str, Any])
    things: Mapping[ThingKind, Callable[[Context], Things]] = field(default_factory=dict[ThingKind, Any])
    # Kinds of things that no link leads to and that are counted all the same: whether somebody has one with this id.
    counted: Mapping[str, Callable[[Context, str, str], Awaitable[bool]]] = field(default_factory=dict[str, Any])
    # What it holds of a person, to be deleted with their account.
    holdings: Callable[[Context], Holdings] | None = None
    # What people find of it by the search over everything.
    search: Callable[[Context], Searchable] | None = None
    # What pages of the app say of themselves to programs that do not run them, by the first folder of their path.
    summaries: Mapping[str, Callable[[Context], Summarize]] = field(default_factory=dict[str, Any])
    # Who is told of new pictures, by the prefix of the keys of their sources.
    pictured: Mapping[str, Note] = field(default_factory=dict[str, Note])
    attendance: Callable[[Context], Attendance] | None = None

    # What it does by itself. A chore answers how many things it took away.
    chores: Mapping[str, Callable[[Context], Awaitable[int]]] = field(default_factory=dict[str, Any])
    repeated: Sequence[Repeated[Context]] = ()
    # What it has to say on the terminal when a server starts that is reached at this address.
    greets: Callable[[Context, str], Awaitable[str | None]] | None = None
    running: Callable[[Context], AbstractAsyncContextManager[None]] | None = None
    stop: Callable[[Context], None] | None = None
    metrics: Callable[[Context], "Collector"] | None = None

    def open(self, platform: Platform, *args: P.args, **needs: P.kwargs) -> "OpenSlice[Context]":
        context = self.make(platform, *args, **needs)
        for kind, hear in self.hears.items():
            platform.events.on(kind, partial(hear, context))
        if self.ends:
            platform.outbox.ends[self.name] = partial(self.ends, context)
        if self.holdings:
            platform.holdings.append(self.holdings(context))
        return OpenSlice(self, context)


@dataclass(frozen=True, slots=True)
class OpenSlice(Generic[Context]):
    """A slice on its stores, with all that it declared bound to its context."""

    declared: Slice[..., Context]
    context: Context

    def routes(self, needs: RouteNeeds) -> Sequence[Router]:
        return self.declared.routes(self.context, needs)

    def things(self) -> dict[ThingKind, Things]:
        return {kind: of(self.context) for kind, of in self.declared.things.items()}

    def counted(self) -> dict[str, Callable[[str, str], Awaitable[bool]]]:
        return {kind: partial(has, self.context) for kind, has in self.declared.counted.items()}

    def uploads(self) -> dict[str, Destination]:
        return {name: of(self.context) for name, of in self.declared.uploads.items()}

    def summaries(self) -> dict[str, Summarize]:
        return {folder: of(self.context) for folder, of in self.declared.summaries.items()}

    def searches(self) -> list[Searchable]:
        return [self.declared.search(self.context)] if self.declared.search else []

    def chores(self) -> list[Chore]:
        return [Chore(name, partial(do, self.context)) for name, do in self.declared.chores.items()]
