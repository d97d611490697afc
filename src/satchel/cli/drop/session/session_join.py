"""Join a session by its link, or by a spoken code that is checked without telling it to the server."""

import os
import sys
import time
from dataclasses import replace

import msgspec

from satchel.cli.drop.crypto.codes import Invitation, normalised, read_invitation
from satchel.cli.drop.crypto.cpace import Guest
from satchel.cli.drop.crypto.session_keys import SUITE, Secret, b64, from_b64
from satchel.cli.drop.session.drop_session import DropSession, enter_session, find_session, new_id
from satchel.cli.engine.http.client import Client
from satchel.cli.engine.http.failures import Refused
from satchel.cli.engine.terminal.output import CommandFailed, Misused

# Guests are admitted one at a time, each within a second unless they have to type.
_BUSY_SECONDS = 60.0
_EXPLAINED = {
    "code-wrong": "The code is wrong. After three wrong tries the sender's program shows a new one.",
    "code-dead": "The code was disabled after wrong tries. Ask for the one that the sender's program shows now.",
    "versions-differ": "Your program and the sender's speak different versions of drop. Update both, then try again.",
    "door-busy": "Somebody else is joining by the code right now. Try again in a moment.",
    "door-closed": (
        "The sender's program has ended or lost its connection, so nobody can check the code. "
        "Try again when it runs, or ask for the link."
    ),
    "knock-unanswered": (
        "The sender's program did not answer. Ask whether it still runs, and try again, or ask for the link."
    ),
    "admission-refused": "The link does not match the session of this name. Ask for it again, and copy all of it.",
}


class _ShareAnswer(msgspec.Struct, frozen=True):
    share: str


class _VerdictAnswer(msgspec.Struct, frozen=True):
    tag: str
    sealed: str


def invited_by(given: str | None) -> Invitation:
    """From the argument, else SATCHEL_CODE, else a prompt: all users of a machine can read arguments."""
    invitation = read_invitation(given or os.environ.get("SATCHEL_CODE") or _typed("Code or link"))
    if invitation.secret is None and invitation.code is None:
        return replace(invitation, code=normalised(_typed(f"Code for {invitation.name}")))
    return invitation


def join(client: Client, invitation: Invitation, name: str) -> DropSession:
    """Join the session as `name`. Errors are explained to the person who typed the code."""
    try:
        session_id = find_session(client, invitation.name)
        secret = invitation.secret or secret_for_code(client, session_id, invitation)
        return enter_session(client, session_id, secret, name)
    except Refused as refusal:
        if refusal.slug == "session-unknown":
            raise CommandFailed(
                f"There is no session called {invitation.name} on {client.server}. Check the code. If the "
                "sender uses another server, name it with --server."
            ) from refusal
        if refusal.slug not in _EXPLAINED:
            raise
        raise CommandFailed(_EXPLAINED[refusal.slug]) from refusal


def secret_for_code(client: Client, session_id: str, invitation: Invitation) -> Secret:
    """Get the session's secret from the member who shows the code. A wrong code uses up one of the three guesses."""
    if invitation.code is None:
        raise Misused(f"The code is missing behind {invitation.name}.")
    knocks = f"/drop/sessions/{session_id}/knocks"
    knock_id, guest, share = _knock(client, knocks, session_id, invitation.name, invitation.code)
    # The other side can test one guess with this tag, so it is sent only once for each code that a person types.
    tag = {"tag": b64(guest.tag(share))}
    verdict = client.call("POST", f"{knocks}/{knock_id}/tag", _VerdictAnswer, tag, as_self=False)
    return guest.open(from_b64(verdict.tag) or b"", from_b64(verdict.sealed) or b"")


def _knock(client: Client, knocks: str, session_id: str, name: str, code: str) -> tuple[str, Guest, bytes]:
    """Knock until the door is free. Returns the knock's id, our side of the exchange, and the share of the door."""
    until = time.monotonic() + _BUSY_SECONDS
    while True:
        knock_id = new_id()
        guest = Guest(code, name, session_id, knock_id)
        knock = {"knock_id": knock_id, "suite": SUITE, "share": b64(guest.share)}
        try:
            door = client.call("POST", knocks, _ShareAnswer, knock, as_self=False)
        except Refused as refusal:
            pause = refusal.after_seconds or 1
            if refusal.slug != "door-busy" or time.monotonic() + pause > until:
                raise
            time.sleep(pause)
        else:
            return knock_id, guest, from_b64(door.share) or b""


def _typed(what: str) -> str:
    if not sys.stdin.isatty():
        raise Misused("Give the code or the link from the sender: in SATCHEL_CODE, or as an argument.")
    print(f"{what}: ", end="", file=sys.stderr, flush=True)
    typed = sys.stdin.readline().strip()
    if not typed:
        raise Misused("Without a code or a link there is nothing to receive.")
    return typed
