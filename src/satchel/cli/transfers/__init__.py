"""`satchel transfers`: the history of transfers and their receipts, what can be done to them, and who may send some."""

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

_RECEIVING = {
    "anybody": "Files of anybody come to your shelf at once. After a decline, and above a bound, they ask first.",
    "known": "Files of people you know come to your shelf at once. Others ask first.",
    "nobody": "Everybody asks first. An offer takes no space until you save it.",
}


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


@transfers.command(cls=Verb)
def save(transfer: Id, json: Json = False, server: Server = None) -> None:
    """Accept a transfer: save its files on your shelf."""
    from satchel.cli.engine.api_types.transfer_types import SavedView
    from satchel.cli.engine.http.client import open_client
    from satchel.cli.engine.resources.transfer_find import find_id, with_all_files
    from satchel.cli.engine.resources.transfer_text import summary

    with open_client(server) as client:
        answered = client.call("POST", f"/transfers/{find_id(client, transfer)}/save", SavedView, {})
        saved = with_all_files(client, answered.transfer)
    answer(saved, [printable(f"Saved on your shelf: {summary(saved)} from {saved.sender.name}.")], as_json=json)


@transfers.command(cls=Verb)
def receiving(
    from_whom: Annotated[
        str | None, typer.Argument(metavar="anybody|known|nobody", help="Default: show what is chosen.")
    ] = None,
    json: Json = False,
    server: Server = None,
) -> None:
    """Show or choose whose files come to your shelf at once. Everybody else asks first."""
    from satchel.cli.engine.api_types.transfer_types import ReceivingView
    from satchel.cli.engine.http.client import open_client

    with open_client(server) as client:
        if from_whom is None:
            chosen = client.call("GET", "/contacts/receiving", ReceivingView)
        elif from_whom in _RECEIVING:
            chosen = client.call("PUT", "/contacts/receiving", ReceivingView, {"from_whom": from_whom})
        else:
            raise Misused("Choose anybody, known or nobody.")
    answer(chosen, [_RECEIVING[chosen.from_whom]], as_json=json)


@transfers.command(cls=Verb)
def block(transfer: Id, json: Json = False, server: Server = None) -> None:
    """Block whoever sent you a transfer. Nothing that they send or share reaches you; they are not told."""
    from satchel.cli.engine.http.client import open_client
    from satchel.cli.engine.resources.transfer_find import find

    with open_client(server) as client:
        found = find(client, transfer)
        if found.direction != "received":
            raise Misused("You sent this transfer. Name one that you received.")
        client.call("PUT", f"/contacts/blocked/{found.sender.person_id}", type(None))
    answer(found.sender, [printable(f"{found.sender.name} is blocked ({found.sender.person_id}).")], as_json=json)


@transfers.command(cls=Verb)
def blocked(json: Json = False, server: Server = None) -> None:
    """List whom you have blocked."""
    from satchel.cli.engine.api_types.transfer_types import BlockedList
    from satchel.cli.engine.http.client import open_client

    with open_client(server) as client:
        found = client.call("GET", "/contacts/blocked", BlockedList)
    lines = [printable(f"{each.person_id}  {each.name}, since {each.blocked_at[:10]}") for each in found.blocked]
    answer(found, lines or ["You have blocked nobody."], as_json=json)


@transfers.command(cls=Verb)
def unblock(
    person: Annotated[str, typer.Argument(metavar="PERSON-ID", help="Their id, which `transfers blocked` shows.")],
    json: Json = False,
    server: Server = None,
) -> None:
    """Stop blocking somebody."""
    from urllib.parse import quote

    from satchel.cli.engine.http.client import open_client

    with open_client(server) as client:
        client.call("DELETE", f"/contacts/blocked/{quote(person, safe='')}", type(None))
    answer({"unblocked": person}, ["They are not blocked any more."], as_json=json)


def _do(typed: str, verb: str, sentence: str, server: str | None, *, as_json: bool) -> None:
    from satchel.cli.engine.api_types.transfer_types import TransferView
    from satchel.cli.engine.http.client import open_client
    from satchel.cli.engine.resources.transfer_find import find_id, with_all_files
    from satchel.cli.engine.resources.transfer_text import short_id, summary

    with open_client(server) as client:
        answered = client.call("POST", f"/transfers/{find_id(client, typed)}/{verb}", TransferView)
        now = with_all_files(client, answered)
    words = {"summary": summary(now), "sender": now.sender.name, "short_id": short_id(now)}
    answer(now, [printable(sentence.format(**words))], as_json=as_json)
