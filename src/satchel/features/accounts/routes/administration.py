"""Administration over HTTP: sign-up, invitations, storage and housekeeping."""

from typing import Annotated

import msgspec
from starlette.requests import Request

from satchel.edge.api.endpoints import Body, PageQuery, Router
from satchel.edge.api.fields import EmailAddress
from satchel.edge.api.idempotency_key import idempotency_key_of
from satchel.edge.api.identity import Admin
from satchel.edge.http.request_context import Client
from satchel.features.accounts.model import SignUpMode, UserId
from satchel.features.accounts.needs import Sweep
from satchel.features.accounts.records import InvitationRow
from satchel.features.accounts.service import directory, invitations
from satchel.features.accounts.service import sign_up as signing_up
from satchel.features.accounts.service.context import Accounts
from satchel.features.accounts.service.invitations import MAX_NOTE_CHARACTERS
from satchel.stores.patterns.idempotency_key import KeyReused


class Invite(Body, frozen=True, kw_only=True):
    """Whom to invite: one address or, without it, anybody with the token."""

    email: EmailAddress | None = None
    note: Annotated[str, msgspec.Meta(max_length=MAX_NOTE_CHARACTERS)] = ""
    administrator: bool = False


class SignUpChoice(Body, frozen=True, kw_only=True):
    """Who may sign up."""

    mode: SignUpMode


class InvitationView(msgspec.Struct, frozen=True, kw_only=True):
    """An open invitation. `token` is shown only in the answer that made it."""

    invitation_id: str
    email: str | None
    note: str
    administrator: bool
    invited_by: str
    created_at: str
    expires_at: str
    token: str | None = None


class InvitationList(msgspec.Struct, frozen=True):
    """A page of open invitations, and the cursor of the next."""

    invitations: list[InvitationView]
    cursor: str | None


class SignUpView(msgspec.Struct, frozen=True):
    """Who may sign up. On an `empty` server the first person may, and administers it.

    With `needs_code`, their invitation is the code in the link that the server printed when it started.
    """

    mode: SignUpMode
    empty: bool
    needs_code: bool = False


class StoresView(msgspec.Struct, frozen=True, kw_only=True):
    """The kind of each store: "sqlite" or "dynamodb", "memory" or "redis", "folder" or "s3"."""

    table: str
    ephemeral: str
    objects: str


class StorageView(msgspec.Struct, frozen=True, kw_only=True):
    """What all people store together. Free space is known only for a folder on the server's own disk."""

    used_bytes: int
    files: int
    people: int
    free_bytes: int | None
    capacity_bytes: int | None
    stores: StoresView


class ChoreView(msgspec.Struct, frozen=True, kw_only=True):
    """How one chore went: how many things it removed, or that it failed and is retried in the next round."""

    name: str
    removed: int
    failed: bool


class SweepView(msgspec.Struct, frozen=True, kw_only=True):
    """One round of housekeeping."""

    started_at: str
    ended_at: str
    chores: list[ChoreView]


class HousekeepingView(msgspec.Struct, frozen=True, kw_only=True):
    """The last round that any server finished. `every_seconds` is the time between two rounds."""

    last: SweepView | None
    every_seconds: int


def administration_routes(accounts: Accounts) -> Router:
    router = Router("administration")

    @router.get("/sign-up")
    async def read_sign_up(client: Client) -> SignUpView:
        """Read who may sign up."""
        rules = await signing_up.sign_up_rules(accounts, is_here=client.is_here)
        return SignUpView(rules.mode, rules.empty, rules.needs_code)

    @router.put("/sign-up", when_full=True)
    async def choose_sign_up(_admin: Admin, body: SignUpChoice) -> SignUpView:
        """Decide who may sign up."""
        await invitations.set_sign_up_mode(accounts, body.mode)
        return SignUpView(body.mode, empty=False)

    @router.post(
        "/invitations",
        status=201,
        raises=(KeyReused,),
        sends={"Idempotency-Key": "letters, digits, - and _: a retry with the same key is the same invitation"},
    )
    async def invite(admin: Admin, body: Invite, request: Request) -> InvitationView:
        """Invite somebody."""
        invited = await invitations.invite(
            accounts,
            UserId(admin.user_id),
            email=body.email,
            note=body.note,
            administrator=body.administrator,
            idempotency_key=idempotency_key_of(request),
        )
        return _invitation(invited.row, token=invited.token)

    @router.get("/invitations")
    async def list_invitations(_admin: Admin, query: PageQuery) -> InvitationList:
        """List the invitations that can still be used."""
        rows, cursor = await invitations.list_invitations(accounts, query.limit, query.cursor)
        return InvitationList([_invitation(row) for row in rows], cursor)

    @router.delete("/invitations/{invitation_id}")
    async def withdraw_invitation(_admin: Admin, invitation_id: str) -> None:
        """Withdraw an invitation."""
        await invitations.withdraw_invitation(accounts, invitation_id)

    @router.get("/storage")
    async def read_storage(_admin: Admin) -> StorageView:
        """Read how much is stored, and where."""
        kept = await directory.sum_up(accounts)
        room = await accounts.storage.room()
        kinds = accounts.storage.kinds
        return StorageView(
            used_bytes=kept.used_bytes,
            files=kept.files,
            people=kept.people,
            free_bytes=room.free_bytes if room else None,
            capacity_bytes=room.capacity_bytes if room else None,
            stores=StoresView(table=kinds.table, ephemeral=kinds.ephemeral, objects=kinds.objects),
        )

    @router.get("/administration/housekeeping")
    async def read_housekeeping(_admin: Admin) -> HousekeepingView:
        """Read when expired and orphaned data was last removed, and how much."""
        last = await accounts.housekeeping.last()
        return HousekeepingView(
            last=None if last is None else _sweep(last),
            every_seconds=int(accounts.housekeeping.every.total_seconds()),
        )

    return router


def _sweep(sweep: Sweep) -> SweepView:
    return SweepView(
        started_at=sweep.started_at,
        ended_at=sweep.ended_at,
        chores=[ChoreView(name=chore.name, removed=chore.removed, failed=chore.failed) for chore in sweep.chores],
    )


def _invitation(row: InvitationRow, token: str | None = None) -> InvitationView:
    return InvitationView(
        invitation_id=row.token_hash,
        email=row.email or None,
        note=row.note,
        administrator=row.administrator,
        invited_by=row.invited_by,
        created_at=row.created_at,
        expires_at=row.absolute_expiry,
        token=token,
    )
