"""Scopes over HTTP: share, stop sharing, and list who may do what."""

from typing import Annotated

import msgspec

from satchel.edge.api.endpoints import Body, PageQuery, Query, Router
from satchel.edge.api.fields import EmailAddress
from satchel.edge.api.identity import Member
from satchel.features.accounts.model import GRANTABLE, Email, UserId
from satchel.features.accounts.records import ScopeRow
from satchel.features.accounts.routes.session_cookies import Text
from satchel.features.accounts.service import scopes
from satchel.features.accounts.service.context import Accounts
from satchel.kernel.errors import TooMany

GrantableType = Annotated[str, msgspec.Meta(max_length=64, extra_json_schema={"pattern": f"^({GRANTABLE})$"})]
ResourceId = Annotated[str, msgspec.Meta(min_length=1, max_length=scopes.MAX_RESOURCE_CHARACTERS)]
ResourceName = Annotated[str, msgspec.Meta(max_length=scopes.MAX_RESOURCE_CHARACTERS)]


class Grant(Body, frozen=True, kw_only=True):
    """What to share with whom; `type` is such as `album:visitor`."""

    granted_to: EmailAddress
    type: GrantableType
    resource_id: ResourceId
    resource_name: ResourceName = ""


class GrantQuery(Query, frozen=True, kw_only=True):
    """Which grant is meant."""

    granted_to: EmailAddress
    type: GrantableType
    resource_id: ResourceId


class ReceivedQuery(Query, frozen=True, kw_only=True):
    """Which grant is meant, as the list shows it."""

    resource_owner: Text
    type: GrantableType
    resource_id: Text


class ScopeView(msgspec.Struct, frozen=True, kw_only=True):
    """What somebody may do."""

    granted_to: str
    type: str
    resource_owner: str
    resource_id: str
    resource_name: str
    granted_at: str


class ScopeList(msgspec.Struct, frozen=True):
    """A page of grants, and the cursor of the next."""

    scopes: list[ScopeView]
    cursor: str | None


def scope_routes(accounts: Accounts) -> Router:
    router = Router("scopes")

    @router.post("/scopes", status=201, raises=(TooMany,))
    async def grant_scope(member: Member, body: Grant) -> ScopeView:
        """Share a thing of yours with an e-mail address."""
        row = await scopes.grant_scope(
            accounts,
            UserId(member.user_id),
            to=body.granted_to,
            scope_type=body.type,
            resource_id=body.resource_id,
            resource_name=body.resource_name,
        )
        return _scope(row)

    @router.delete("/scopes")
    async def revoke_scope(member: Member, query: GrantQuery) -> None:
        """Stop sharing a thing with an address."""
        await scopes.revoke_scope(
            accounts,
            UserId(member.user_id),
            to=query.granted_to,
            scope_type=query.type,
            resource_id=query.resource_id,
        )

    @router.get("/scopes")
    async def list_my_scopes(member: Member, query: PageQuery) -> ScopeList:
        """List what you may do."""
        page = await scopes.list_my_scopes(accounts, Email(member.email), query.limit, query.cursor)
        return ScopeList([_scope(row) for row in page.records], page.cursor)

    @router.delete("/scopes/received")
    async def refuse_scope(member: Member, query: ReceivedQuery) -> None:
        """Give up what somebody shares with you. It disappears from your lists, and you from theirs."""
        await scopes.refuse_scope(
            accounts,
            Email(member.email),
            owner=query.resource_owner,
            scope_type=query.type,
            resource_id=query.resource_id,
        )

    @router.get("/scopes/granted")
    async def list_granted_scopes(member: Member, query: PageQuery) -> ScopeList:
        """List what you share with others."""
        page = await scopes.list_granted_scopes(accounts, UserId(member.user_id), query.limit, query.cursor)
        # Owning your things is a scope, too, but not one that was granted.
        others = [row for row in page.records if row.granted_to != member.email]
        return ScopeList([_scope(row) for row in others], page.cursor)

    return router


def _scope(row: ScopeRow) -> ScopeView:
    return ScopeView(
        granted_to=row.granted_to,
        type=row.type,
        resource_owner=row.resource_owner,
        resource_id=row.resource_id,
        resource_name=row.resource_name,
        granted_at=row.granted_at,
    )
