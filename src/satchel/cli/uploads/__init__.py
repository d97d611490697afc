"""`satchel uploads`: what was begun and not finished, how much space it keeps, and a way to cancel it."""

from typing import Annotated

import typer

from satchel.cli.engine.command.common_options import Json, Server
from satchel.cli.engine.command.typer_internals import Verb, verb_group
from satchel.cli.engine.terminal.output import CommandFailed, Misused, answer, print_json, printable

# As in `account`, what takes long to load is imported inside the verbs.

uploads = verb_group("uploads", invoke_without_command=True)


@uploads.callback()
def unfinished(context: typer.Context, json: Json = False, server: Server = None) -> None:
    """List your unfinished uploads, newest first. Each keeps space on the server until it ends."""
    if context.invoked_subcommand is not None:
        return
    from satchel.cli.engine.http.client import open_client
    from satchel.cli.uploads.unfinished_uploads import every_upload, lines

    with open_client(server) as client:
        found = list(every_upload(client))
    answer({"uploads": found}, lines(found), as_json=json)


@uploads.command(cls=Verb)
def cancel(
    ids: Annotated[
        list[str] | None, typer.Argument(metavar="ID", help="Ids of uploads, or their ends as the list shows them.")
    ] = None,
    every: Annotated[bool, typer.Option("--all", help="Cancel all of them.")] = False,
    json: Json = False,
    server: Server = None,
) -> None:
    """Cancel unfinished uploads and free their space."""
    if bool(ids) == every:
        raise Misused("Give the ids of uploads, or --all.")
    from satchel.cli.engine.http.client import open_client
    from satchel.cli.uploads.unfinished_uploads import cancel_upload, every_upload

    with open_client(server) as client:
        found = list(every_upload(client))
        chosen = found if every else []
        for typed in ids or []:
            ending = [each for each in found if each.upload_id.endswith(typed.strip().lower())]
            if len(ending) != 1:
                many = f"Several uploads end with {typed}. Give more of the id."
                raise CommandFailed(many if ending else f"There is no upload {typed}. See `satchel uploads`.")
            chosen += ending
        for upload in chosen:
            cancel_upload(client, upload)
            if not json:
                print(printable(f"{upload.name or upload.upload_id} was cancelled."))
    if json:
        print_json({"cancelled": [upload.upload_id for upload in chosen]})
