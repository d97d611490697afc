"""`satchel score`: add sheet music from files, edit, keep, compare and share it, and take PDFs and files out."""

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
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Only tell which scores would be made, and what they would be called.")
    ] = False,
    json: Json = False,
    quiet: Annotated[bool, typer.Option("--quiet", help="Print nothing but failures.")] = False,
    server: Server = None,
) -> None:
    """Add sheet music. Each file becomes a score named after it, and pictures of one folder become one score.

    With --title or --to, all becomes one. `satchel score edit` changes what was guessed.
    """
    from msgspec import to_builtins

    from satchel.cli.engine.http.client import open_client
    from satchel.cli.scores.score_add import NewScores
    from satchel.cli.scores.score_text import planned

    if to and (title or composer or tag):
        raise Misused("--to adds pages to a score that exists. Leave out --title, --composer and --tag.")
    if dry_run and (to or title):
        raise Misused("--dry-run tells what names suggest. Leave out --to and --title.")
    with open_client(server) as client:
        job = NewScores(client, as_json=json, quiet=quiet, straighten=straighten)
        if dry_run:
            plan = job.plan(files, composer=composer or "")
            answer({"scores": [each.facts for each in plan]}, planned(plan), as_json=json)
            return
        job.add(files, to=to, title=title or "", composer=composer or "", tags=tag or [])
    if json:
        print_json({"scores": to_builtins(job.scores)})
    if job.broken and not job.failures:
        raise CommandFailed("Not everything was added.")
    if job.failures:
        raise CommandFailed("Not everything was added. Run the same command again to retry it.")


@score.command("list", cls=Verb)
def list_(
    words: Annotated[str, typer.Argument(metavar="WORDS", help="Words of title, composer or tag.")] = "",
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
def edit(
    name: Score,
    title: Annotated[str | None, typer.Option("--title", metavar="TITLE", help="What it is called.")] = None,
    composer: Annotated[str | None, typer.Option("--composer", metavar="NAME", help="Who wrote it.")] = None,
    description: Annotated[str | None, typer.Option("--description", metavar="TEXT", help="What it is.")] = None,
    tag: Annotated[
        list[str] | None, typer.Option("--tag", metavar="TAG", help='All its tags; can be repeated. "" takes all away.')
    ] = None,
    access: Annotated[str | None, typer.Option("--access", metavar="WHO", help="private or public.")] = None,
    json: Json = False,
    server: Server = None,
) -> None:
    """Change what a score is called, its tags, and whether everybody who knows its address can read it."""
    from satchel.cli.engine.api_types.score_types import ScoreView
    from satchel.cli.engine.http.client import open_client
    from satchel.cli.scores.score_find import find_score
    from satchel.cli.scores.score_text import details

    tags = None if tag is None else [each for each in tag if each]
    facts = {"title": title, "composer": composer, "description": description, "tags": tags, "access": access}
    patch = {key: value for key, value in facts.items() if value is not None}
    if not patch:
        raise Misused("Say what to change: give --title, --composer, --description, --tag or --access.")
    if access not in (None, "private", "public"):
        raise Misused("A score is private or public.")
    with open_client(server) as client:
        found = find_score(client, name)
        headers = {"if-match": f'"{found.etag}"'}
        changed = client.call("PATCH", f"/scores/{found.score_id}", ScoreView, patch, headers=headers)
    answer(changed, details(changed), as_json=json)


@score.command(cls=Verb)
def delete(
    name: Score,
    yes: Annotated[bool, typer.Option("--yes", help="Do it without asking.")] = False,
    json: Json = False,
    server: Server = None,
) -> None:
    """Delete a score of yours with its pages, marks and snapshots, for everybody."""
    from satchel.cli.engine.http.client import open_client
    from satchel.cli.engine.terminal.prompts import confirm
    from satchel.cli.scores.score_find import find_score

    with open_client(server) as client:
        found = find_score(client, name)
        if not yes:
            confirm(f"{found.title} goes with its pages, marks and snapshots. This cannot be undone.")
        client.call("DELETE", f"/scores/{found.score_id}", type(None))
    answer({"score_id": found.score_id}, [printable(f"{found.title} is deleted.")], as_json=json)


@score.command(cls=Verb)
def files(
    name: Score,
    into: Annotated[
        str | None, typer.Option("--into", metavar="FOLDER", help="Save all of them there, as they were added.")
    ] = None,
    unused: Annotated[
        bool, typer.Option("--delete-unused", help="Delete those that nothing shows, and of which no pages were made.")
    ] = False,
    json: Json = False,
    server: Server = None,
) -> None:
    """List the stored files of a score that you may edit: what each is for. Save them, or delete what is unused."""
    from satchel.cli.engine.http.client import open_client
    from satchel.cli.scores.score_files import delete_unused, list_files, save_files
    from satchel.cli.scores.score_find import find_score
    from satchel.cli.scores.score_text import file_lines

    if into and unused:
        raise Misused("Give either --into or --delete-unused.")
    with open_client(server) as client:
        found = find_score(client, name)
        listed = list_files(client, found)
        if into:
            listed = save_files(client, found, listed, into)
        elif unused:
            listed = delete_unused(client, found, listed)
    answer({"files": listed}, file_lines(listed), as_json=json)


@score.command(cls=Verb)
def export(
    name: Score,
    file: Annotated[str | None, typer.Argument(metavar="FILE", help="Where to. Default: its title.pdf, here.")] = None,
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
        kept = client.make(f"/scores/{found.score_id}/snapshots", SnapshotView, {"name": called})
    answer(kept, [printable(f"{found.title} is kept as it is now: {kept.name}.")], as_json=json)


@score.command(cls=Verb)
def restore(
    name: Score,
    called: Annotated[str, typer.Argument(metavar="SNAPSHOT", help="The name of the snapshot.")],
    json: Json = False,
    server: Server = None,
) -> None:
    """Let a score be what it was in a snapshot. What it is now becomes a snapshot first."""
    from satchel.cli.engine.api_types.score_types import ScoreView
    from satchel.cli.engine.http.client import open_client
    from satchel.cli.scores.score_find import find_score, snapshot_of

    with open_client(server) as client:
        found = find_score(client, name)
        kept = snapshot_of(found, called)
        path = f"/scores/{found.score_id}/snapshots/{kept.snapshot_id}/restore"
        after = client.call("POST", path, ScoreView, headers={"if-match": f'"{found.etag}"'})
    before = after.snapshots[-1].name if after.snapshots else ""
    answer(after, [printable(f"{after.title} is again as in {kept.name}. How it was before: {before}.")], as_json=json)


@score.command(cls=Verb)
def compare(
    name: Score,
    before: Annotated[str, typer.Argument(metavar="SNAPSHOT", help="The name of the older state.")],
    after: Annotated[
        str | None, typer.Argument(metavar="SNAPSHOT", help="The name of the newer one. Default: as it is now.")
    ] = None,
    json: Json = False,
    server: Server = None,
) -> None:
    """Compare two states of a score: pages and marks that were added, removed and changed, and by whom."""
    from urllib.parse import urlencode

    from satchel.cli.engine.api_types.score_types import ComparisonView
    from satchel.cli.engine.http.client import open_client
    from satchel.cli.scores.score_find import find_score, snapshot_of
    from satchel.cli.scores.score_text import differences

    with open_client(server) as client:
        found = find_score(client, name)
        end = "now" if after is None else snapshot_of(found, after).snapshot_id
        query = urlencode({"from": snapshot_of(found, before).snapshot_id, "to": end})
        compared = client.call("GET", f"/scores/{found.score_id}/compare?{query}", ComparisonView)
    answer(compared, differences(found, compared), as_json=json)


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
