"""Find your counters by what people type: a name, an id, or the end of an id."""

from satchel.cli.engine.api_types.stats_types import CounterList, CounterView
from satchel.cli.engine.http.client import Client
from satchel.cli.engine.terminal.output import CommandFailed


def every_counter(client: Client) -> list[CounterView]:
    return client.call("GET", "/counters", CounterList).counters


def find(client: Client, typed: str) -> CounterView:
    """`CommandFailed` if there is none, or several."""
    wanted = typed.strip().removeprefix("counter:")
    every = every_counter(client)
    found = [each for each in every if wanted in (each.counter_id, each.name)] or [
        each for each in every if wanted and each.counter_id.endswith(wanted.lower())
    ]
    if len(found) > 1:
        raise CommandFailed(f"Several counters are called {typed}. Give the id, as `satchel counter list` shows it.")
    if not found:
        raise CommandFailed(f"You have no counter {typed}. See `satchel counter list`.")
    return found[0]
