"""`satchel transfers`: the history of transfers, their receipts, and declining, withdrawing and resending them."""

from itertools import islice
from typing import Annotated

import typer

from satchel.cli.engine.command.common_options import Json, Limit, Server
from satchel.cli.engine.command.typer_internals import Verb, verb_group
from satchel.cli.engine.terminal.numbers import whole_number
from satchel.cli.engine.terminal.output import Misused, answer, printable

# As in `account`, what takes long to load is imported inside the verbs.

transfers = verb_group("transfers", invoke_without_command=True)
Id = Annotated[str, typer.Argument(metavar="ID", help="The id of the transfer, or the end of it as the list shows it.")]


@transfers.callback()
def history(
    context: typer.Context,
    sent: Annotated[bool, typer.Option("--sent", help="Only what you sent.")] = False,
    received: Annotated[bool, typer.Option("--received", help="Only what you received.")] = False,
    limit: Limit = "25",
    json: Json = False,
    server: Server = None,
) -> None:
    """List what you sent and received, newest first."""
    if context.invoked_subcommand is not None:
        return
    if sent and received:
        raise Misused("Give --sent or --received, or neither for both.")
    most = whole_number("--limit", limit)
    from satchel.cli.engine.http.client import open_client
    from satchel.cli.engine.resources.transfer_find import history as every_transfer
    from satchel.cli.transfers.transfer_list import history as lines

    direction = "sent" if sent else "received" if received else "all"
    with open_client(server) as client:
        found = list(islice(every_transfer(client, direction), most))
    answer({"transfers": found}, lines(found), as_json=json)


@transfers.command(cls=Verb)
def show(transfer: Id, json: Json = False, server: Server = None) -> None:
    """Show one transfer, with its files and receipts."""
    from satchel.cli.engine.http.client import open_client
    from satchel.cli.engine.resources.transfer_find import find
    from satchel.cli.transfers.transfer_list import details

    with open_client(server) as client:
        found = find(client, transfer)
    answer(found, details(found), as_json=json)


@transfers.command(cls=Verb)
def decline(transfer: Id, json: Json = False, server: Server = None) -> None:
    """Decline a transfer."""
    _do(transfer, "decline", "You declined {summary} from {sender}.", server, as_json=json)


@transfers.command(cls=Verb)
def withdraw(transfer: Id, json: Json = False, server: Server = None) -> None:
    """Withdraw a transfer from receivers who have not downloaded it."""
    _do(transfer, "withdraw", "You withdrew {summary}.", server, as_json=json)


@transfers.command(cls=Verb)
def resend(transfer: Id, json: Json = False, server: Server = None) -> None:
    """Send a transfer again."""
    _do(transfer, "resend", "Sent again: {summary}. Transfer {short_id}.", server, as_json=json)


def _do(typed: str, verb: str, sentence: str, server: str | None, *, as_json: bool) -> None:
    from satchel.cli.engine.api_types.transfer_types import TransferView
    from satchel.cli.engine.http.client import open_client
    from satchel.cli.engine.resources.transfer_find import find_id
    from satchel.cli.engine.resources.transfer_text import short_id, summary

    with open_client(server) as client:
        now = client.call("POST", f"/transfers/{find_id(client, typed)}/{verb}", TransferView)
    words = {"summary": summary(now), "sender": now.sender.name, "short_id": short_id(now)}
    answer(now, [printable(sentence.format(**words))], as_json=as_json)
