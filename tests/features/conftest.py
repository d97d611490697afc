"""A fresh Satchel for every test of a slice."""

from collections.abc import AsyncGenerator
from pathlib import Path

import pytest

from tests.application import Caller, Satchel, running_satchel


@pytest.fixture
async def satchel(tmp_path: Path) -> AsyncGenerator[Satchel]:
    async with running_satchel(tmp_path, sign_up="open") as running:
        yield running


@pytest.fixture
async def ann(satchel: Satchel) -> Caller:
    """The first to sign up, and so the administrator."""
    caller = satchel.caller()
    assert (await caller.sign_up("ann@example.org")).status_code == 201
    return caller


@pytest.fixture
async def bob(satchel: Satchel, ann: Caller) -> Caller:
    """Somebody with an account."""
    caller = satchel.caller()
    assert (await caller.sign_up("bob@example.org")).status_code == 201
    return caller
