"""`satchel photos`: back up photos, verify, propose albums, find, send, correct clocks, sort out duplicates, export."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from satchel.cli.engine.command.common_options import Json, JsonLines, Limit, Server
from satchel.cli.engine.command.typer_internals import Verb, verb_group
from satchel.cli.engine.terminal.output import CommandFailed, Misused, note

# As in `account`, what takes long to load is imported inside the verbs.

photos = verb_group("photos", no_args_is_help=True, help="Back up photos, verify that they are stored, export them.")
Folders = Annotated[list[str], typer.Argument(metavar="DIR", help="Folders, with all that is in them; or files.")]
Quiet = Annotated[bool, typer.Option("--quiet", help="Say only what went wrong.")]
NoCache = Annotated[bool, typer.Option("--no-cache", help="Read every file again, also unchanged ones.")]
INTERRUPTED = "Stopped. Run the same command again to resume."


@photos.command(cls=Verb)
def backup(
    folders: Folders,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only say what would be stored.")] = False,
    watch: Annotated[bool, typer.Option("--watch", help="Go on with what is added later, until Ctrl-C.")] = False,
    from_bin: Annotated[
        bool, typer.Option("--from-bin", help="Also take photos out of the bin that are here.")
    ] = False,
    no_cache: NoCache = False,
    quiet: Quiet = False,
    json: JsonLines = False,
    server: Server = None,
) -> None:
    """Store the photos and videos of folders that the server does not have yet.

    Each goes into the album of its date. Hidden files are skipped; sidecars of Google Takeout and XMP are read. If the
    command is interrupted, run it again to resume.
    """
    from satchel.cli.engine.http.client import open_client
    from satchel.cli.photos.photo_backup import PhotoBackup
    from satchel.cli.photos.photo_fates import FateReport
    from satchel.cli.photos.photo_watch import look, watch_folders

    with open_client(server) as client:

        def run(*, first: bool) -> FateReport:
            report = FateReport(as_json=json, quiet=quiet, tells_known=first, sums_up_albums=sys.stdout.isatty())
            PhotoBackup(
                client,
                folders,
                report,
                is_dry_run=dry_run,
                uses_cache=not (no_cache and first),
                takes_from_bin=from_bin,
            ).run()
            return report

        try:
            before = look(folders) if watch else {}
            report = run(first=True)
            if not json and not quiet:
                print(report.sum_up())
            if watch and not dry_run:
                watch_folders(folders, before, lambda: run(first=False), says=not (json or quiet))
        except KeyboardInterrupt:
            note(INTERRUPTED)
            raise
        if report.troubles:
            raise CommandFailed("Some files were not stored. Run the same command again to retry them.")


@photos.command(cls=Verb)
def have(
    folders: Folders,
    photos_only: Annotated[
        bool, typer.Option("--photos-only", help="Do not mind files that are no photos and are not stored.")
    ] = False,
    no_cache: NoCache = False,
    quiet: Quiet = False,
    json: JsonLines = False,
    server: Server = None,
) -> None:
    """Say of each file whether it is stored, after the server has read its bytes again.

    Exits with 0 only if all are, so that the card or folder can be wiped.
    """
    from satchel.cli.engine.http.client import open_client
    from satchel.cli.photos.photo_fates import FateReport
    from satchel.cli.photos.photo_have import PhotoHave

    with open_client(server) as client:
        report = FateReport(as_json=json, quiet=quiet)
        command = PhotoHave(client, folders, report, uses_cache=not no_cache, photos_only=photos_only)
        is_safe = command.run()
    if not is_safe:
        raise CommandFailed(command.verdict())
    if not json:
        print(command.verdict())


@photos.command(cls=Verb)
def scan(folders: Folders, no_cache: NoCache = False, json: JsonLines = False, server: Server = None) -> None:
    """Propose an album per folder, with its dates and the photos per day. Nothing is changed."""
    from satchel.cli.engine.http.client import open_client
    from satchel.cli.photos.album_proposals import propose

    with open_client(server) as client:
        propose(client, folders, uses_cache=not no_cache, as_json=json)


@photos.command(cls=Verb)
def find(
    words: Annotated[
        list[str] | None, typer.Argument(metavar="WORD", help="In names, cameras, albums or texts; or a date: 2025-07.")
    ] = None,
    start: Annotated[str | None, typer.Option("--from", metavar="DAY", help="Not before this day.")] = None,
    end: Annotated[str | None, typer.Option("--to", metavar="DAY", help="Not after this day.")] = None,
    camera: Annotated[str | None, typer.Option("--camera", metavar="NAME", help="Taken with this camera.")] = None,
    album: Annotated[str | None, typer.Option("--album", metavar="ALBUM", help="Only in this album.")] = None,
    near: Annotated[
        str | None, typer.Option("--near", metavar="LAT,LON", help="Taken within 10 km of this place.")
    ] = None,
    favourites: Annotated[bool, typer.Option("--favourites", help="Only your favourites.")] = False,
    limit: Limit = "1000",
    json: JsonLines = False,
    server: Server = None,
) -> None:
    """Find photos of yours and of albums shared with you. Exits with 1 if there are none."""
    from satchel.cli.engine.http.client import open_client
    from satchel.cli.engine.resources.album_find import find_album
    from satchel.cli.photos.photo_find import find_photos

    if not limit.isdigit() or not int(limit):
        raise Misused("--limit is a number, such as 100.")
    wanted = {"q": " ".join(words or []), "from": start, "to": end, "camera": camera, "near": near}
    with open_client(server) as client:
        asked = {name: value for name, value in wanted.items() if value}
        asked |= {"album": find_album(client, album).album_id} if album else {}
        asked |= {"favourite": "true"} if favourites else {}
        if not find_photos(client, asked, most=int(limit), as_json=json):
            raise CommandFailed("No photo was found.")


@photos.command(cls=Verb)
def clock(
    camera: Annotated[
        str | None, typer.Argument(metavar="CAMERA", help="Its name or serial number. Without it, cameras are listed.")
    ] = None,
    by: Annotated[
        str | None, typer.Option("--by", metavar="AMOUNT", help="What to add to the times: +1h, -2d3h30m, +45s.")
    ] = None,
    album: Annotated[str | None, typer.Option("--album", metavar="ALBUM", help="Only photos of this album.")] = None,
    start: Annotated[str | None, typer.Option("--from", metavar="DAY", help="From this day, with --to.")] = None,
    end: Annotated[str | None, typer.Option("--to", metavar="DAY", help="To this day, included.")] = None,
    undo: Annotated[str | None, typer.Option("--undo", metavar="ACT", help="Undo a correction, by its id.")] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only say what would change.")] = False,
    yes: Annotated[bool, typer.Option("--yes", help="Do it without asking.")] = False,
    json: Json = False,
    server: Server = None,
) -> None:
    """Correct the clock of a camera in an album or some days, after saying what would move; or list cameras."""
    from satchel.cli.engine.http.client import open_client
    from satchel.cli.engine.resources.album_find import find_album
    from satchel.cli.photos.clock_correct import CameraClock, shift_of, undo_correction

    if undo is not None:
        if camera or by or album or start or end:
            raise Misused("--undo needs nothing but the id that the correction has printed.")
        with open_client(server) as client:
            undo_correction(client, undo, dry_run=dry_run, yes=yes, as_json=json)
        return
    if bool(album) == bool(start and end):
        raise Misused("Say where its clock was wrong: give --album, or --from and --to.")
    if (camera is None) != (by is None):
        raise Misused("Give both a camera and --by, or neither to list the cameras.")
    seconds = 0 if by is None else shift_of(by)
    with open_client(server) as client:
        album_id = find_album(client, album).album_id if album else ""
        work = CameraClock(client, album_id, start or "", end or "", as_json=json)
        if camera is None:
            work.list_cameras()
        else:
            work.correct(camera, seconds, dry_run=dry_run, yes=yes)


@photos.command(cls=Verb)
def duplicates(
    group: Annotated[
        str | None, typer.Argument(metavar="GROUP", help="A group to decide about. Without it, all are listed.")
    ] = None,
    keep: Annotated[
        list[str] | None, typer.Option("--keep", metavar="PHOTO", help="Keep this one; can be given again.")
    ] = None,
    keep_best: Annotated[bool, typer.Option("--keep-best", help="Keep the one that is marked as best.")] = False,
    different: Annotated[bool, typer.Option("--different", help="They are different photos: keep all.")] = False,
    limit: Limit = "1000",
    yes: Annotated[bool, typer.Option("--yes", help="Do it without asking.")] = False,
    json: JsonLines = False,
    server: Server = None,
) -> None:
    """List photos that look alike, in groups; or keep some of a group and move the others into the bin."""
    from satchel.cli.engine.http.client import open_client
    from satchel.cli.photos.photo_duplicates import dismiss, keep_some, list_groups

    if not limit.isdigit() or not int(limit):
        raise Misused("--limit is a number, such as 100.")
    wishes = sum([bool(keep), keep_best, different])
    if wishes != (group is not None):
        raise Misused("Name one group, and give one of --keep, --keep-best and --different; or neither to list groups.")
    with open_client(server) as client:
        if group is None:
            if not list_groups(client, most=int(limit), as_json=json) and not json:
                print("No photos look alike.")
        elif different:
            dismiss(client, group, as_json=json)
        else:
            keep_some(client, group, keep or [], best=keep_best, yes=yes, as_json=json)


@photos.command(cls=Verb)
def send(
    files: Annotated[
        list[str] | None, typer.Argument(metavar="PHOTO", help="Ids of photos, or files that are stored.")
    ] = None,
    album: Annotated[str | None, typer.Option("--album", metavar="ALBUM", help="Your photos of this album.")] = None,
    to: Annotated[
        str | None, typer.Option("--to", metavar="E-MAIL", help="Send them to the person with this address.")
    ] = None,
    room: Annotated[
        str | None, typer.Option("--room", metavar="CODE", help="Put them into this room, for everybody in it.")
    ] = None,
    person: Annotated[
        str | None, typer.Option("--for", metavar="NAME", help="With --room: only for this person there.")
    ] = None,
    words: Annotated[str, typer.Option("--note", metavar="TEXT", help="A short message.")] = "",
    wait: Annotated[bool, typer.Option("--wait", help="Wait until everybody has verified or declined it.")] = False,
    wait_for: Annotated[
        str | None, typer.Option("--wait-for", metavar="SECONDS", help="Like --wait, but only for so long.")
    ] = None,
    quiet: Quiet = False,
    json: JsonLines = False,
    server: Server = None,
) -> None:
    """Send copies of your photos to a person or a room.

    They go without the place, unless their album is shared with places. The copies stay on your shelf, in the folder
    Sent. If the command is interrupted, run it again to resume.
    """
    from satchel.cli.engine.http.client import open_client
    from satchel.cli.engine.resources.transfer_report import TransferReport
    from satchel.cli.engine.terminal.numbers import whole_number
    from satchel.cli.photos.photo_send import find_photos_to_send, in_room, send_photos, somebody

    if not files and album is None:
        raise Misused("Say which photos to send, or give --album.")
    if bool(to) == bool(room):
        raise Misused("Say who gets them: give --to or --room.")
    if person and not room:
        raise Misused("--for needs --room.")
    for_seconds = None if wait_for is None else whole_number("--wait-for", wait_for, least=1)
    with open_client(server) as client:
        receiver = somebody(client, to) if to else in_room(client, room or "", person)
        media_ids = find_photos_to_send(client, files or [], album)
        transfer = send_photos(client, media_ids, receiver, words)
        report = TransferReport(client, receiver.name, as_json=json, quiet=quiet)
        report.tell_handed(transfer)
        if wait or for_seconds is not None:
            report.wait_for_receipts(transfer, for_seconds)


@photos.command(cls=Verb)
def export(
    folder: Annotated[str, typer.Argument(metavar="DIR", help="Where to put them; made if missing.")],
    album: Annotated[
        list[str] | None, typer.Option("--album", metavar="ALBUM", help="Only this album; can be given again.")
    ] = None,
    quiet: Quiet = False,
    json: JsonLines = False,
    server: Server = None,
) -> None:
    """Write all your photos into a folder per album, with sidecars that say what is known of each.

    `satchel photos backup` of that folder restores albums, dates, pins and favourites. Nothing is overwritten. If the
    command is interrupted, run it again to resume.
    """
    from satchel.cli.engine.http.client import open_client
    from satchel.cli.photos.photo_export import PhotoExport

    with open_client(server) as client:
        try:
            whole = PhotoExport(client, Path(folder), as_json=json, quiet=quiet).run(album or [])
        except OSError as error:
            raise CommandFailed(f"The folder {folder} cannot be used: {error.strerror}.") from error
        except KeyboardInterrupt:
            note(INTERRUPTED)
            raise
    if not whole:
        raise CommandFailed("Some files were not exported. Run the same command again to retry them.")
