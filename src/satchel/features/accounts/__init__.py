"""People sign up, sign in and stay signed in, see and end their sessions, and change name and password.

Guests come in without an account. Owners share what they have by granting scopes to e-mail addresses. Administrators
invite people, decide who may sign up, see everybody, promote and suspend, and reset forgotten passwords.

One request, `DELETE /sessions/{session_id}`: `routes/sessions.py` calls `end_session` in `service/sessions.py`. That
revokes the access token first, then deletes session and refresh token in one transaction.
"""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

from satchel.declaration import Platform, RouteNeeds, Slice
from satchel.edge.api.endpoints import Router
from satchel.edge.api.identity import Identity, Token
from satchel.edge.http.callers import Guest, Member
from satchel.features.accounts.adapters import PeopleSearch
from satchel.features.accounts.limits import LIMITS, AccountLimits
from satchel.features.accounts.needs import Usages
from satchel.features.accounts.records import SHAPES
from satchel.features.accounts.routes import routes
from satchel.features.accounts.service.account_delete import stop_deletions, sweep_deleted_accounts
from satchel.features.accounts.service.context import Accounts
from satchel.features.accounts.service.invitations import sweep_expired_invitations
from satchel.features.accounts.service.password_resets import sweep_expired_resets
from satchel.features.accounts.service.passwords import AT_ONCE, Passwords
from satchel.features.accounts.service.sessions import sweep_expired_sessions
from satchel.features.accounts.service.sign_up import first_account_line
from satchel.features.accounts.storage import Storage
from satchel.kernel.grant_refused import GrantRefused
from satchel.kernel.suspended import PersonSuspended


class _Tokens:
    """Access tokens, made by the edge's identity."""

    def __init__(self, identity: Identity) -> None:
        self._identity = identity
        self.revoke = identity.revoke

    def issue_member(self, *, user_id: str, email: str, session_id: str, admin: bool) -> Token:
        return self._identity.issue_access(Member(user_id, email, session_id, admin))

    def issue_guest(self, *, guest_id: str, name: str) -> Token:
        return self._identity.issue_guest(Guest(guest_id, name))


def _make(platform: Platform, *, usages: Usages) -> Accounts:
    return Accounts(
        tables=platform.stores.tables,
        clock=platform.clock,
        signer=platform.signer,
        access=_Tokens(platform.identity),
        passwords=Passwords(platform.settings.share(AT_ONCE)),
        limits=AccountLimits(platform.stores.ephemeral),
        storage=Storage(platform.settings, usages),
        housekeeping=platform.housekeeper,
        default_sign_up=platform.settings.sign_up,
        events=platform.events,
        is_public=bool(platform.settings.public_url),
        holdings=platform.holdings,
    )


def _routes(accounts: Accounts, _: RouteNeeds) -> list[Router]:
    return routes(accounts)


@asynccontextmanager
async def _running(accounts: Accounts) -> AsyncGenerator[None]:
    try:
        yield
    finally:
        await stop_deletions(accounts)


ACCOUNTS = Slice(
    name="accounts",
    make=_make,
    routes=_routes,
    records=SHAPES,
    limits=LIMITS,
    greets=first_account_line,
    search=PeopleSearch,
    states=(PersonSuspended, GrantRefused),
    chores={
        "deleted accounts": sweep_deleted_accounts,
        "expired sessions": sweep_expired_sessions,
        "expired invitations": sweep_expired_invitations,
        "expired password resets": sweep_expired_resets,
    },
    running=_running,
)
