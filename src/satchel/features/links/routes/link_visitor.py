"""The visitor of a link, read from the request."""

import msgspec
from starlette.requests import Request

from satchel.edge.api.endpoints import Query
from satchel.edge.api.guess_work import WORK_HEADER
from satchel.edge.http.callers import Guest, Member, Stranger
from satchel.edge.http.request_context import client_of
from satchel.features.links.service.link_enter import Visitor
from satchel.kernel.robots import is_beforehand, is_robot
from satchel.kernel.visit_source import referrer_host

Anybody = Stranger | Guest | Member


class PassQuery(Query, frozen=True, kw_only=True):
    """The pass from entering. A link without a password needs none."""

    shown: str = msgspec.field(name="pass", default="")


def visitor_of(caller: Anybody, request: Request, referrer: str = "") -> Visitor:
    client = client_of(request.scope)
    person_id = None
    if isinstance(caller, Member):
        person_id = caller.user_id
    elif isinstance(caller, Guest):
        person_id = f"guest:{caller.id}"
    return Visitor(
        person_id=person_id,
        member_id=caller.user_id if isinstance(caller, Member) else None,
        address=client.address,
        agent=client.user_agent,
        is_robot=is_robot(request.headers),
        is_beforehand=is_beforehand(request.headers),
        referrer=referrer_host(referrer, request.url.hostname or ""),
        work=request.headers.get(WORK_HEADER, ""),
    )
