"""Transfers over HTTP, one file for each side."""

from satchel.edge.api.endpoints import Router
from satchel.features.transfers.routes import receiving, sending
from satchel.features.transfers.service.context import Transfers

__all__ = ["routes"]


def routes(transfers: Transfers) -> list[Router]:
    return [sending.routes(transfers), receiving.routes(transfers)]
