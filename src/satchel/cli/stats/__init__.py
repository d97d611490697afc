"""`satchel stats`: how often, and by how many people, what you share was opened; and single clicks."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from satchel.cli.engine.command.common_options import Json, JsonLines, Limit, Server
from satchel.cli.engine.command.typer_internals import GroupedVerbs, Verb, verb_group
from satchel.cli.engine.terminal.numbers import shown_clicks, whole_number
from satchel.cli.engine.terminal.output import CommandFailed, Misused, answer, note
from satchel.cli.engine.terminal.prompts import confirm

if TYPE_CHECKING:
    from collections.abc import Iterable

    from satchel.cli.engine.http.client import Client
    from satchel.cli.stats.click_record import Line

_KINDS = ("press", "open", "view", "download", "upload")
_MOST_CLICKS = 1_000_000

# As in `account`, what takes long to load is imported inside the verbs.


class _Figures(GroupedVerbs):
    """Shows figures where no other verb is named, so that `satchel stats` alone does what most people want."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        named = args[0] if args else ""
        return super().parse_args(ctx, args if named in (*self.commands, "--help") else ["show", *args])


stats = verb_group("stats", cls=_Figures, help="Show how often, and by how many people, what you share was opened.")
From = Annotated[
    str | None, typer.Option("--from", metavar="DAY", help="The first day, as 2026-11-01, or month, as 2026-11.")
]
To = Annotated[str | None, typer.Option("--to", metavar="DAY", help="The last day or month; both are included.")]


@stats.command(cls=Verb)
def show(
    of: Annotated[
        str,
        typer.Argument(
            metavar="OF",
            help="A link, album:NAME, a path of your shelf, or site (administrators). Default: all that you share.",
        ),
    ] = "mine",
    first: From = None,
    last: To = None,
    by: Annotated[str, typer.Option("--by", metavar="day|month", help="A column per day or per month.")] = "day",
    zone: Annotated[
        str | None,
        typer.Option("--zone", metavar="NAME", help="The time zone, as Asia/Tokyo. Default: this machine's."),
    ] = None,
    table: Annotated[bool, typer.Option("--table", help="Rows instead of a chart.")] = False,
    csv: Annotated[bool, typer.Option("--csv", help="Only the rows, as CSV.")] = False,
    json: Json = False,
    server: Server = None,
) -> None:
    """Show a summary, a chart, and what was opened most.

    `satchel stats` alone does the same. Months are those of UTC.
    """
    if by not in ("day", "month"):
        raise Misused(f"--by takes day or month, not {by!r}.")
    from satchel.cli.engine.http.client import open_client
    from satchel.cli.stats import stats_text
    from satchel.cli.stats.figures import Wish, export, read
    from satchel.cli.stats.periods import local_zone
    from satchel.cli.stats.stats_scope import scope_of

    wish = Wish(by=by, first=first, last=last, zone=zone or local_zone())
    wish.query()  # what cannot be meant is said before anything is asked
    with open_client(server) as client:
        scope = scope_of(client, of)
        if csv:
            sys.stdout.buffer.write(export(client, scope, wish))
            return
        told = read(client, scope, wish)
    lines = stats_text.everything(scope.title, wish.zone, told, as_table=table)
    answer(told.as_builtins(scope, wish), lines, as_json=json)


@stats.command(cls=Verb)
def clicks(
    user: Annotated[
        str | None, typer.Option("--user", metavar="WHO", help="Whose, by id or e-mail address. Default: yours.")
    ] = None,
    first: Annotated[str | None, typer.Option("--from", metavar="TIME", help="From then, as 2026-11-16T18:00.")] = None,
    last: Annotated[str | None, typer.Option("--to", metavar="TIME", help="Until then.")] = None,
    day: Annotated[
        str | None, typer.Option("--day", metavar="DAY", help="Everybody's clicks of a UTC day; for administrators.")
    ] = None,
    limit: Limit = "100",
    json: JsonLines = False,
    server: Server = None,
) -> None:
    """List clicks one by one, newest first."""
    most = whole_number("--limit", limit)
    if day and (user or first or last):
        raise Misused("--day cannot be combined with --user, --from or --to.")
    from itertools import islice

    from msgspec.json import encode

    from satchel.cli.engine.http.client import open_client
    from satchel.cli.stats import stats_text
    from satchel.cli.stats.click_list import every_click, where_clicks_are

    with open_client(server) as client:
        where, query = where_clicks_are(client, user=user, first=first, last=last, day=day)
        found = islice(every_click(client, where, query), most)
        if json:
            for each in found:
                print(encode(each).decode())
            return
        for line in stats_text.clicks(list(found)):
            print(line)


@stats.command(cls=Verb)
def day(
    which: Annotated[str | None, typer.Argument(metavar="DAY", help="As 2026-11-16. Default: today.")] = None,
    json: Json = False,
    server: Server = None,
) -> None:
    """Show the clicks of a UTC day on the whole server, for administrators."""
    from satchel.cli.stats.periods import day_of, utc_today

    _show_stat(f"days/{day_of(which or utc_today())}", server, as_json=json)


@stats.command(cls=Verb)
def month(
    which: Annotated[str | None, typer.Argument(metavar="MONTH", help="As 2026-11. Default: this month.")] = None,
    json: Json = False,
    server: Server = None,
) -> None:
    """Show the clicks of a UTC month on the whole server, for administrators."""
    from satchel.cli.stats.periods import month_of, utc_today

    _show_stat(f"months/{month_of(which or utc_today())}", server, as_json=json)


@stats.command(cls=Verb)
def total(json: Json = False, server: Server = None) -> None:
    """Show all clicks on the whole server, for administrators."""
    _show_stat("total", server, as_json=json)


@stats.command(cls=Verb)
def press(
    count: Annotated[str, typer.Option("--count", metavar="NUMBER", help="How many clicks to record.")] = "1",
    link: Annotated[str | None, typer.Option("--link", metavar="LINK", help="On a link of yours.")] = None,
    kind: Annotated[
        str, typer.Option("--kind", metavar="KIND", help="press, open, view, download or upload.")
    ] = "press",
    label: Annotated[str | None, typer.Option("--label", metavar="TEXT", help="What was pressed.")] = None,
    at: Annotated[
        str | None, typer.Option("--at", metavar="TIME", help="When it was, up to 48 hours ago. Default: now.")
    ] = None,
    user: Annotated[
        str | None,
        typer.Option("--user", metavar="ID", help="Whose it is, if you administer the server. Default: yours."),
    ] = None,
    key: Annotated[
        str | None,
        typer.Option("--key", metavar="TEXT", help="An idempotency key: with the same key nothing counts twice."),
    ] = None,
    file: Annotated[
        str | None,
        typer.Option("--file", metavar="FILE", help="Record clicks from lines of JSON; - for standard input."),
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Print JSON for machines, an object per click.")] = False,
    server: Server = None,
) -> None:
    """Record a click, or many from a file.

    A line of a file is {"userId": …, "createDateTime": …, "clickCount": …, "kind": …, "target": …, "label": …}, all of
    which are optional.
    """
    counted = whole_number("--count", count, least=1, most=_MOST_CLICKS)
    if kind not in _KINDS:
        raise Misused(f"--kind takes {', '.join(_KINDS[:-1])} or {_KINDS[-1]}, not {kind!r}.")
    if file and (counted > 1 or kind != "press" or link or label or at or user):
        raise Misused("--file can be combined with --key, --json and --server only.")
    from satchel.cli.engine.http.client import open_client
    from satchel.cli.engine.resources.link_find import find
    from satchel.cli.stats.click_record import Line
    from satchel.cli.stats.periods import moment_of

    with open_client(server) as client:
        if file:
            _record_file(client, file, key, as_json=json)
            return
        click = {
            "clickCount": counted,
            "kind": kind,
            "label": label,
            "userId": user,
            "createDateTime": at and moment_of(at),
            "target": link and find(client, link).link_id,
        }
        asked = {name: value for name, value in click.items() if value is not None}
        _record(client, [Line(1, asked)], key, as_json=json)


@stats.command(cls=Verb)
def rebuild(
    period: Annotated[str, typer.Argument(metavar="PERIOD", help="A UTC day or month, as 2026-11-16 or 2026-11.")],
    json: Json = False,
    server: Server = None,
) -> None:
    """Recount a day or a month from its clicks; for administrators.

    A count that is correct does not change.
    """
    from satchel.cli.engine.api_types.stats_types import RebuiltView
    from satchel.cli.engine.http.client import open_client
    from satchel.cli.stats import stats_text
    from satchel.cli.stats.periods import day_of, month_of

    body = {"month": month_of(period)} if len(period) == len("2026-11") else {"day": day_of(period)}
    with open_client(server) as client:
        rebuilt = client.call("POST", "/clicks/rebuild", RebuiltView, body)
    answer(rebuilt, [stats_text.rebuilt(period, rebuilt)], as_json=json)


@stats.command(cls=Verb)
def erase(
    who: Annotated[str, typer.Argument(metavar="WHO", help="me, or an id or e-mail address (administrators).")],
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
    json: Json = False,
    server: Server = None,
) -> None:
    """Erase all clicks of a person. The totals do not change."""
    from satchel.cli.engine.api_types.stats_types import ErasedView
    from satchel.cli.engine.http.client import open_client
    from satchel.cli.stats.click_list import ME, person_id_of, quoted

    with open_client(server) as client:
        person_id = person_id_of(client, who)
        if not yes:
            confirm(f"This erases {'all your clicks' if who == ME else f'all clicks of {who}'} for good.")
        erased = client.call("DELETE", f"/clicks/people/{quoted(person_id)}", ErasedView)
    answer(erased, [f"Erased {shown_clicks(erased.erased)}."], as_json=json)


def _show_stat(which: str, server: str | None, *, as_json: bool) -> None:
    from satchel.cli.engine.api_types.stats_types import StatView
    from satchel.cli.engine.http.client import open_client
    from satchel.cli.stats.stats_text import stat

    with open_client(server) as client:
        found = client.call("GET", f"/clicks/stats/{which}", StatView)
    answer(found, [stat(found)], as_json=as_json)


def _record_file(client: "Client", name: str, key: str | None, *, as_json: bool) -> None:
    from satchel.cli.stats.click_record import read_lines

    if name == "-":
        _record(client, read_lines(sys.stdin.buffer), key, as_json=as_json)
        return
    try:
        with Path(name).open("rb") as file:
            _record(client, read_lines(file), key, as_json=as_json)
    except OSError as error:
        raise CommandFailed(f"{name} cannot be read: {error.strerror}.") from error


def _record(client: "Client", lines: "Iterable[Line]", key: str | None, *, as_json: bool) -> None:
    from msgspec.json import encode

    from satchel.cli.stats.click_record import new_key, record_all

    new = repeated = 0
    key = key or new_key()
    try:
        for recorded in record_all(client, lines, key):
            again = sum(each.repeated for each in recorded)
            new, repeated = new + len(recorded) - again, repeated + again
            if as_json:
                print("\n".join(encode(each).decode() for each in recorded))
    except (CommandFailed, KeyboardInterrupt):
        if new or repeated:
            note(f"{shown_clicks(new + repeated)} were recorded. Run it again with --key {key}: none counts twice.")
        raise
    if not as_json:
        before = f" {repeated:,} were recorded before." if repeated else ""
        print(f"Recorded {shown_clicks(new)}.{before}")
