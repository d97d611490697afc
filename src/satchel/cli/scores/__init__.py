"""`satchel score`: add sheet music from files, list and show it, keep its states, share it, and export PDFs."""

from typing import Annotated

import typer

from satchel.cli.engine.command.common_options import Json, Server
from satchel.cli.engine.command.typer_internals import Verb, verb_group
from satchel.cli.engine.terminal.output import CommandFailed, Misused, answer, print_json, printable

# As in `account`, what takes long to load is imported inside the verbs.

score = verb_group("score", no_args_is_help=True, help="Keep sheet music: add, list, share and export scores.")
Score = Annotated[str, typer.Argument(metavar="SCORE", help="Its title, or its id.")]


@score.command(cls=Verb)
def add(
    files: Annotated[
        list[str], typer.Argument(metavar="FILE", help="PDF, MusicXML, MEI, ABC, PNG or JPEG; or folders of them.")
    ],
    to: Annotated[str | None, typer.Option("--to", metavar="SCORE", help="Add the pages to this score.")] = None,
    title: Annotated[str | None, typer.Option("--title", metavar="TITLE", help="Make one new score of all.")] = None,
    composer: Annotated[str | None, typer.Option("--composer", metavar="NAME", help="Who wrote it.")] = None,
    tag: Annotated[list[str] | None, typer.Option("--tag", metavar="TAG", help="A tag; can be repeated.")] = None,
    straighten: Annotated[
        bool, typer.Option("--straighten", help="Crop and level photos of pages. The photos stay stored.")
    ] = False,
    json: Json = False,
    quiet: Annotated[bool, typer.Option("--quiet", help="Print nothing but failures.")] = False,
    server: Server = None,
) -> None:
    """Add sheet music. Each file becomes a score named after it, unless --title or --to puts all into one."""
    from msgspec import to_builtins

    from satchel.cli.engine.http.client import open_client
    from satchel.cli.scores.score_add import NewScores

    if to and (title or composer or tag):
        raise Misused("--to adds pages to a score that exists. Leave out --title, --composer and --tag.")
    with open_client(server) as client:
        job = NewScores(client, as_json=json, quiet=quiet, straighten=straighten)
        job.add(files, to=to, title=title or "", composer=composer or "", tags=tag or [])
    if json:
        print_json({"scores": to_builtins(job.scores)})
    if job.broken and not job.failures:
        raise CommandFailed("Not everything was added.")
    if job.failures:
        raise CommandFailed("Not everything was added. Run the same command again to retry it.")


@score.command("list", cls=Verb)
def list_(
    words: Annotated[str, typer.Argument(metavar="[WORDS]", help="Words of title, composer or tag.")] = "",
    tag: Annotated[str, typer.Option("--tag", metavar="TAG", help="Only those with this tag.")] = "",
    mine: Annotated[bool, typer.Option("--mine", help="Only your own.")] = False,
    json: Json = False,
    server: Server = None,
) -> None:
    """List your scores and those shared with you, by title."""
    from satchel.cli.engine.http.client import open_client
    from satchel.cli.scores.score_find import list_scores
    from satchel.cli.scores.score_text import columns

    with open_client(server) as client:
        found = list_scores(client, words=words, tag=tag, mine=mine)
    answer(found, columns(found.scores), as_json=json)


@score.command(cls=Verb)
def show(name: Score, json: Json = False, server: Server = None) -> None:
    """Show a score: its pages, movements, parts and snapshots."""
    from satchel.cli.engine.http.client import open_client
    from satchel.cli.scores.score_find import find_score
    from satchel.cli.scores.score_text import details

    with open_client(server) as client:
        found = find_score(client, name)
    answer(found, details(found), as_json=json)


@score.command(cls=Verb)
def export(
    name: Score,
    file: Annotated[
        str | None, typer.Argument(metavar="[FILE]", help="Where to. Default: its title.pdf, here.")
    ] = None,
    part: Annotated[str | None, typer.Option("--part", metavar="NAME", help="Only the pages of this part.")] = None,
    transpose: Annotated[
        int, typer.Option("--transpose", metavar="SEMITONES", min=-12, max=12, help="Engraved music, so much higher.")
    ] = 0,
    instrument: Annotated[
        str | None, typer.Option("--instrument", metavar="NAME", help="Engraved music, of this instrument alone.")
    ] = None,
    size: Annotated[
        str, typer.Option("--size", metavar="SIZE", help="Engraved music: small, normal or large.")
    ] = "normal",
    plain: Annotated[bool, typer.Option("--without-marks", help="Leave out all marks.")] = False,
    json: Json = False,
    server: Server = None,
) -> None:
    """Export a score as a PDF, with the marks that you see."""
    from satchel.cli.engine.http.client import open_client
    from satchel.cli.engine.terminal.sizes import shown_bytes
    from satchel.cli.scores.score_find import find_score
    from satchel.cli.scores.score_pdf import Wanted, export_score

    if size not in ("small", "normal", "large"):
        raise Misused("A size is small, normal or large.")
    wanted = Wanted(part=part, transpose=transpose, instrument=instrument, size=size, with_marks=not plain)
    with open_client(server) as client:
        found = find_score(client, name)
        path, size_bytes = export_score(client, found, file, wanted)
    value = {"score_id": found.score_id, "saved_as": str(path), "size_bytes": size_bytes}
    answer(value, [printable(f"{found.title}: {path}, {shown_bytes(size_bytes)}")], as_json=json)


@score.command(cls=Verb)
def snapshot(
    name: Score,
    called: Annotated[str, typer.Argument(metavar="NAME", help="What to call this state.")],
    json: Json = False,
    server: Server = None,
) -> None:
    """Keep the present state of a score under a name."""
    from satchel.cli.engine.api_types.score_types import SnapshotView
    from satchel.cli.engine.http.client import open_client
    from satchel.cli.scores.score_find import find_score

    with open_client(server) as client:
        found = find_score(client, name)
        kept = client.call("POST", f"/scores/{found.score_id}/snapshots", SnapshotView, {"name": called})
    answer(kept, [printable(f"{found.title} is kept as it is now: {kept.name}.")], as_json=json)


@score.command(cls=Verb)
def link(
    name: Score,
    part: Annotated[str | None, typer.Option("--part", metavar="NAME", help="Only this part, for its player.")] = None,
    frozen: Annotated[
        str | None, typer.Option("--snapshot", metavar="NAME", help="As this snapshot keeps it; it never changes.")
    ] = None,
    json: Json = False,
    server: Server = None,
) -> None:
    """Give a link to a score of yours, for anybody who has it. Without options it shows the score as it is then."""
    from satchel.cli.engine.api_types.link_types import LinkView
    from satchel.cli.engine.http.client import open_client
    from satchel.cli.scores.score_find import find_score, part_of, snapshot_of

    if part is not None and frozen is not None:
        raise Misused("Give either --part or --snapshot.")
    with open_client(server) as client:
        found = find_score(client, name)
        thing = found.link_thing
        if part is not None:
            thing = part_of(found, part).link_thing
        elif frozen is not None:
            thing = snapshot_of(found, frozen).link_thing
        made = client.make("/links", LinkView, {"thing": {"kind": "score", "id": thing}})
    answer(made, [printable(f"Anybody with this link can play from {made.thing.name}:"), made.address], as_json=json)


@score.command(cls=Verb)
def share(
    name: Score,
    email: Annotated[str, typer.Argument(metavar="E-MAIL", help="The address of the person.")],
    role: Annotated[str, typer.Option("--role", metavar="ROLE", help="reader, marker or editor.")] = "reader",
    json: Json = False,
    server: Server = None,
) -> None:
    """Share a score with a person, who may get an account later."""
    from urllib.parse import quote

    from satchel.cli.engine.api_types.score_types import ScoreShareView
    from satchel.cli.engine.http.client import open_client
    from satchel.cli.scores.score_find import find_score

    can = {"reader": "can read it", "marker": "can read and mark it", "editor": "can change it"}
    if role not in can:
        raise Misused("A role is reader, marker or editor.")
    with open_client(server) as client:
        found = find_score(client, name)
        path = f"/scores/{found.score_id}/shares/{quote(email, safe='')}"
        shared = client.call("PUT", path, ScoreShareView, {"role": role})
    unknown = "" if shared.name else " They have no account yet."
    answer(shared, [printable(f"{found.title}: {shared.email} {can[shared.role]}.{unknown}")], as_json=json)
