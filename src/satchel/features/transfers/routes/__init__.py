"""Transfers over HTTP, one file for each side."""

from satchel.edge.api.endpoints import Router
from satchel.features.transfers.routes import transfer_receive, transfer_send
from satchel.features.transfers.service.context import Transfers

__all__ = ["routes"]


def routes(transfers: Transfers) -> list[Router]:
    return [transfer_send.routes(transfers), transfer_receive.routes(transfers)]
