"""No cell of the receipts is computed by a spreadsheet, whatever somebody calls themselves."""

import csv
import io

import pytest

from satchel.features.transfers.model import PersonId, TransferId
from satchel.features.transfers.records import ReceiptRow
from satchel.features.transfers.routes.receipts_csv import receipts_csv


def name_in_table(name: str) -> str:
    transfer_id, person_id, offered_at = TransferId("t"), PersonId("p"), "2026-11-16T00:00:00Z"
    receipt = ReceiptRow(
        transfer_id=transfer_id, person_id=person_id, name=name, state="offered", offered_at=offered_at
    )
    text = receipts_csv([receipt]).decode("utf-8-sig")
    _, row = csv.reader(io.StringIO(text, newline=""))
    return row[0]


@pytest.mark.parametrize("before", ["", " ", "   "], ids=["at once", "after a space", "after spaces"])
@pytest.mark.parametrize("first", ["=", "+", "-", "@", "\t", "\r", "\n"], ids=repr)
def test_what_begins_a_formula_is_text(first: str, before: str) -> None:
    assert name_in_table(f"{before}{first}1+1") == f"'{before}{first}1+1"


@pytest.mark.parametrize("name", ["Ümit", "a=1", "1-1", "ann@example.org", "'quoted'", "", " "], ids=repr)
def test_what_begins_none_stays_as_it_is(name: str) -> None:
    assert name_in_table(name) == name
