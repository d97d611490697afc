"""`satchel data`: back up what a server keeps while it runs, restore it, read every byte again, copy it elsewhere."""

from pathlib import Path
from typing import Annotated

import typer

from satchel.cli.engine.command.common_options import Json
from satchel.cli.engine.command.settings_options import Chosen, takes_settings
from satchel.cli.engine.command.typer_internals import Verb, verb_group
from satchel.cli.engine.terminal.output import answer

# The stores are imported inside the verbs, because `satchel --help` reads this file too.

data = verb_group("data", no_args_is_help=True, help="Back up, restore, verify and copy what a server keeps.")
Place = Annotated[str, typer.Argument(metavar="PLACE", help="The folder of the backups, or s3://bucket/folder.")]
_WHERE = ("data", "table", "table_prefix", "objects", "ephemeral")


@takes_settings(*_WHERE)
def backup(
    chosen: Chosen,
    place: Place,
    keep: Annotated[
        str | None, typer.Option("--keep", metavar="NUMBER", help="Delete all but so many of the newest backups.")
    ] = None,
    json: Json = False,
) -> None:
    """Copy everything that a server keeps, as it is at one moment, while it runs.

    A place holds many backups and every file once. So the next one takes the time and space of what is new, and of
    the tables, which are copied whole. Files are read again on the way: exits with 1 if one of them is damaged.
    Unfinished uploads are left out. A backup has the secret that signs tokens, so keep it as safe as the server. The
    place is a folder on another disk, or a bucket: s3://bucket/folder, with ?endpoint=https://host if it is not AWS's.

    Of stores that servers share (DynamoDB, Redis, S3), everything is as it was at some moment during the copying.
    """
    import asyncio

    from satchel.cli.data.data_text import Progress, taken_lines
    from satchel.cli.engine.terminal.numbers import whole_number
    from satchel.data_backup import backup_shared
    from satchel.kernel.clock import system_clock
    from satchel.stores import backups

    kept = None if keep is None else whole_number("--keep", keep, least=1)
    with Progress("copied", quiet=json) as told:
        settings, to = chosen.settings(), backups.open_place(place, system_clock)
        if settings.keeps_all_here:
            taken = backups.backup(settings, to, system_clock, told, keep=kept)
        else:
            taken = asyncio.run(backup_shared(settings, to, system_clock, told, keep=kept))
    answer(taken, taken_lines(taken, place), as_json=json)
    raise typer.Exit(1 if taken.damages else 0)


@data.command(cls=Verb)
def backups(place: Place, json: Json = False) -> None:
    """List the backups in a folder or bucket, oldest first."""
    from satchel.cli.data.data_text import backup_lines
    from satchel.kernel.clock import system_clock
    from satchel.stores.backups import open_place, some_backups_in

    found = some_backups_in(open_place(place, system_clock))
    answer({"backups": found}, backup_lines(found), as_json=json)


@takes_settings(*_WHERE)
def restore(
    chosen: Chosen,
    place: Place,
    name: Annotated[
        str | None, typer.Argument(metavar="BACKUP", help="Its name, as `satchel data backups` shows it.")
    ] = None,
    json: Json = False,
) -> None:
    """Make a new data folder from a backup, by default the newest.

    Every byte is compared with what was copied. Nothing that is there is overwritten: name a folder that is empty or
    not there with --data.
    """
    import asyncio

    from satchel import data_copy
    from satchel.cli.data.data_text import Progress, restored_lines
    from satchel.kernel.clock import system_clock
    from satchel.stores import backups

    settings = chosen.settings()
    with Progress("restored", quiet=json) as told:
        restored = backups.restore(settings, backups.open_place(place, system_clock), name, told)
        asyncio.run(data_copy.make_whole(settings, system_clock))
    answer({"backup": restored, "data": str(settings.data)}, restored_lines(restored, settings.data), as_json=json)


@takes_settings(*_WHERE)
def verify(
    chosen: Chosen,
    place: Annotated[
        str | None, typer.Argument(metavar="PLACE", help="A folder or bucket of backups, to verify these instead.")
    ] = None,
    repair_from: Annotated[
        str | None, typer.Option("--repair-from", metavar="PLACE", help="Take good copies from these backups.")
    ] = None,
    json: Json = False,
) -> None:
    """Read every byte that a server keeps, and compare it with the digest that was stored with it.

    Then look whether everything is there that files, photos, scores and rooms need. A server may be running. Exits with
    1 if anything is damaged or gone and was not repaired. Of shared stores, the objects are read; the makers of the
    tables look after these.
    """
    import asyncio

    from satchel.cli.data.data_text import Progress, verified_lines
    from satchel.cli.engine.terminal.output import Misused
    from satchel.data_backup import verify_all
    from satchel.kernel.clock import system_clock
    from satchel.stores import backups

    if place is not None and repair_from is not None:
        raise Misused("Backups are not repaired from others. Leave PLACE out to verify the server's own files.")
    with Progress("read", quiet=json) as told:
        source = None if repair_from is None else backups.open_place(repair_from, system_clock)
        if place is not None:
            found = backups.verify_place(backups.open_place(place, system_clock), told)
        else:
            found = asyncio.run(verify_all(chosen.settings(), system_clock, told, source))
    answer(found, verified_lines(found), as_json=json)
    raise typer.Exit(1 if found.damages or found.missing else 0)


@takes_settings(*_WHERE)
def copy(
    chosen: Chosen,
    target: Annotated[
        str, typer.Argument(metavar="FILE", help="A TOML file with the settings of the stores to copy to.")
    ],
    finish: Annotated[
        bool, typer.Option("--finish", help="All servers have stopped: make the copy ready for servers of its own.")
    ] = False,
    json: Json = False,
) -> None:
    """Copy everything to other stores, such as from this machine to DynamoDB, Redis and S3, or back.

    Run it while the source serves people, as often as you like: each run copies what has changed, and one that was
    broken off goes on. Every file is read again in its new place, and all items are counted and hashed. Then stop the
    servers and the worker, after `satchel worker --once` if there is one, and run it with --finish. Until then, no
    server starts on the copy. What was copied is remembered in FILE.progress. Exits with 1 if something differs.
    """
    import asyncio

    from satchel.cli.data.data_text import Progress, copied_lines
    from satchel.config import load_settings
    from satchel.data_copy import copy_data
    from satchel.kernel.clock import system_clock

    file = Path(target).absolute()
    there = load_settings({}, {}, file)
    with Progress("copied", quiet=json) as told:
        progress = file.with_name(f"{file.name}.progress")
        done = asyncio.run(copy_data(chosen.settings(), there, progress, system_clock, told.more, finish=finish))
    answer(done, copied_lines(done), as_json=json)
    raise typer.Exit(1 if done.different else 0)


for _verb in (backup, restore, verify, copy):
    data.command(cls=Verb, epilog=vars(_verb).get("epilog"))(_verb)
