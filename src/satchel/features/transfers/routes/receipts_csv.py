"""Receipts as CSV for spreadsheets. Names are escaped, so that none can run as a formula."""

import csv
import io
from collections.abc import Sequence

from satchel.features.transfers.records import ReceiptRow

_HEADINGS = (
    "name",
    "person_id",
    "state",
    "offered_at",
    "shelved_at",
    "opened_at",
    "downloaded_at",
    "verified_at",
    "declined_at",
    "answer",
)
_ATTRIBUTES = {"shelved_at": "saved_at"}
# What makes spreadsheets compute a cell instead of showing it.
_BEGINS_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n")
# Without this mark, some spreadsheets do not read the file as UTF-8.
_MARK = "\ufeff"


def receipts_csv(receipts: Sequence[ReceiptRow]) -> bytes:
    written = io.StringIO()
    table = csv.writer(written)
    table.writerow(_HEADINGS)
    for receipt in sorted(receipts, key=lambda each: (each.name.casefold(), each.person_id)):
        table.writerow([_harmless(getattr(receipt, _ATTRIBUTES.get(heading, heading))) for heading in _HEADINGS])
    return (_MARK + written.getvalue()).encode()


def _harmless(cell: str) -> str:
    return f"'{cell}" if cell.lstrip(" ").startswith(_BEGINS_FORMULA) else cell
