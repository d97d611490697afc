"""Accounts over HTTP, one file per subject: what clients send and get, and which use case answers."""

from satchel.edge.api.endpoints import Router
from satchel.features.accounts.routes.account_delete import deletion_routes
from satchel.features.accounts.routes.administration import administration_routes
from satchel.features.accounts.routes.contacts import contact_routes
from satchel.features.accounts.routes.directory import directory_routes
from satchel.features.accounts.routes.guests import guest_routes
from satchel.features.accounts.routes.people import people_routes
from satchel.features.accounts.routes.scopes import scope_routes
from satchel.features.accounts.routes.sessions import session_routes
from satchel.features.accounts.service.context import Accounts


def routes(accounts: Accounts) -> list[Router]:
    return [
        people_routes(accounts),
        session_routes(accounts),
        guest_routes(accounts),
        scope_routes(accounts),
        administration_routes(accounts),
        directory_routes(accounts),
        deletion_routes(accounts),
        contact_routes(accounts),
    ]
