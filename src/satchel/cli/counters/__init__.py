"""`satchel counter`: counters for your own web pages: create them, see their figures, and take clicks back."""

from typing import Annotated

import typer

from satchel.cli.engine.command.common_options import Json, Server
from satchel.cli.engine.command.typer_internals import Verb, verb_group

# As in `account`, what takes long to load is imported inside the verbs.

counter = verb_group("counter", invoke_without_command=True)
Id = Annotated[str, typer.Argument(metavar="COUNTER", help="Its name, its id, or the end of the id.")]
Called = Annotated[str | None, typer.Option("--name", metavar="NAME", help="The name under which you find it.")]
Daily = Annotated[
    str | None, typer.Option("--daily-limit", metavar="NUMBER", help="How many clicks it takes a day, at most.")
]


@counter.callback()
def list_counters(context: typer.Context, json: Json = False, server: Server = None) -> None:
    """Count views and presses on your own web pages, without cookies, and see the figures here."""
    if context.invoked_subcommand is None:
        _list(server, as_json=json)


@counter.command("list", cls=Verb)
def list_all(json: Json = False, server: Server = None) -> None:
    """List your counters, newest first."""
    _list(server, as_json=json)


@counter.command(cls=Verb)
def create(
    sites: Annotated[
        list[str], typer.Argument(metavar="SITE", help="The sites it is for, such as https://example.org.")
    ],
    name: Called = None,
    daily_limit: Daily = None,
    json: Json = False,
    server: Server = None,
) -> None:
    """Create a counter, and print the lines to put on your page."""
    from satchel.cli.counters.counter_text import details
    from satchel.cli.engine.api_types.stats_types import CounterView
    from satchel.cli.engine.http.client import open_client
    from satchel.cli.engine.terminal.numbers import whole_number
    from satchel.cli.engine.terminal.output import answer

    wanted: dict[str, object] = {"origins": sites, "name": name or ""}
    if daily_limit is not None:
        wanted["daily_limit"] = whole_number("--daily-limit", daily_limit, least=1)
    with open_client(server) as client:
        made = client.make("/counters", CounterView, wanted)
    answer(made, details(made), as_json=json)


@counter.command(cls=Verb)
def show(counter: Id, json: Json = False, server: Server = None) -> None:
    """Show a counter, its figures, and the lines for the page. `satchel stats counter:ID` shows its days."""
    from satchel.cli.counters.counter_find import find
    from satchel.cli.counters.counter_text import details
    from satchel.cli.engine.http.client import open_client
    from satchel.cli.engine.terminal.output import answer

    with open_client(server) as client:
        found = find(client, counter)
    answer(found, details(found), as_json=json)


@counter.command(cls=Verb)
def undo(
    counter: Id,
    start: Annotated[str, typer.Option("--from", metavar="TIME", help="The first moment: 2026-12-24T18:00.")],
    end: Annotated[str, typer.Option("--to", metavar="TIME", help="The last moment.")],
    json: Json = False,
    server: Server = None,
) -> None:
    """Take back what was counted between two moments, such as what somebody forged or you tried out."""
    from satchel.cli.counters.counter_find import find
    from satchel.cli.counters.counter_text import local_moment
    from satchel.cli.engine.api_types.stats_types import TakenBackView
    from satchel.cli.engine.http.client import open_client
    from satchel.cli.engine.terminal.numbers import shown_clicks
    from satchel.cli.engine.terminal.output import answer

    between = {"from": local_moment("--from", start), "to": local_moment("--to", end)}
    with open_client(server) as client:
        found = find(client, counter)
        taken = client.call("POST", f"/counters/{found.counter_id}/undo", TakenBackView, between)
    answer(taken, [f"{shown_clicks(taken.taken_back)} taken back from {found.name}."], as_json=json)


@counter.command(cls=Verb)
def rm(counter: Id, json: Json = False, server: Server = None) -> None:
    """Delete a counter. Pages that still have its lines count nothing any more."""
    from satchel.cli.counters.counter_find import find
    from satchel.cli.engine.http.client import open_client
    from satchel.cli.engine.terminal.output import answer, printable

    with open_client(server) as client:
        found = find(client, counter)
        client.call("DELETE", f"/counters/{found.counter_id}", type(None))
    answer(found, [f"Deleted the counter {printable(found.name)}."], as_json=json)


def _list(server: str | None, *, as_json: bool) -> None:
    from satchel.cli.counters.counter_find import every_counter
    from satchel.cli.counters.counter_text import columns
    from satchel.cli.engine.http.client import open_client
    from satchel.cli.engine.terminal.output import answer

    with open_client(server) as client:
        found = every_counter(client)
    answer({"counters": found}, columns(found), as_json=as_json)
