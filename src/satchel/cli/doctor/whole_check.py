"""Tries what a server tries when it starts: whether its stores make one whole set-up."""

from contextlib import AsyncExitStack

from satchel.cli.doctor.findings import Report, Step
from satchel.config import Settings
from satchel.kernel.clock import system_clock
from satchel.kernel.signature import Signer
from satchel.setup_check import store_checks
from satchel.stores.connect import Stores, open_ephemeral, open_objects, open_tables

PART = "set-up"
_STORES = ("table", "ephemeral", "objects")


async def examine_setup(settings: Settings, signer: Signer, report: Report) -> None:
    """Only if every store works by itself: else what is wrong has been said."""
    if any(finding.outcome == "bad" and finding.part in _STORES for finding in report.findings):
        return
    async with AsyncExitStack() as opened:
        tables = await open_tables(settings, system_clock)
        opened.push_async_callback(tables.close)
        ephemeral = await open_ephemeral(settings, system_clock)
        opened.push_async_callback(ephemeral.close)
        objects = await open_objects(settings, system_clock, signer)
        opened.push_async_callback(objects.close)
        checks = store_checks(settings, Stores(tables, ephemeral, objects), system_clock)
        await report.run(PART, [Step(check.tried, check.attempt) for check in checks])
