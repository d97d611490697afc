"""People in real browsers while the servers behind nginx die one after the other."""

import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import OpenPage, sign_in, sign_up
from tests.browser.test_rooms import chat, come_as_guest, in_room, open_room, say
from tests.browser.test_uploads import LARGE_BYTES, ON_ITS_WAY, bar, choose, digest, shelf, slow_line, stored, written
from tests.server.cluster import Cluster, cluster
from tests.server.process import ServerProcess

pytestmark = [pytest.mark.services, pytest.mark.without_service_worker]

ANN = "ann@example.org"
# A live connection is made anew with a pause; an upload waits for the lock of a server that is no more.
PATIENCE_MS = 90_000
# What deploy/nginx.distributed.conf says, and a little.
LEFT_OUT_SECONDS = 11


@pytest.fixture(scope="module")
def parts(data: Path, dynamodb_endpoint: str) -> Iterator[Cluster]:
    with cluster(data, dynamodb=dynamodb_endpoint) as parts:
        sign_up(parts.front, ANN, "Ann")
        yield parts
        assert parts.traces == ""


@pytest.fixture(scope="module")
def server(parts: Cluster) -> ServerProcess:
    return parts.front


def test_a_room_and_an_upload_go_on_while_one_server_dies_and_then_the_other(
    parts: Cluster, open_page: OpenPage, tmp_path: Path
) -> None:
    ann, ben, uploading = (open_page(may_fail=True) for _ in range(3))
    for page in (ann, uploading):
        sign_in(page, ANN)
    come_as_guest(ben, open_room(ann, "Rehearsal"), "Ben")
    in_room(ben, "Rehearsal")
    file = written(tmp_path / "long.bin", LARGE_BYTES)
    full_speed = slow_line(uploading)
    choose(uploading, file)
    expect(bar(uploading, file)).to_have_attribute("aria-valuenow", ON_ITS_WAY)

    parts.servers["one"].kill()
    says_and_is_heard(ann, ben, "who is still here?")
    says_and_is_heard(ben, ann, "I am")
    parts.start("one")
    # So long nginx leaves out a server that has refused.
    time.sleep(LEFT_OUT_SECONDS)
    parts.servers["two"].kill()
    says_and_is_heard(ann, ben, "and now?")
    says_and_is_heard(ben, ann, "still")
    parts.start("two")

    full_speed()
    expect(shelf(uploading).get_by_text(file.name)).to_be_visible(timeout=PATIENCE_MS)
    assert stored(uploading)[file.name] == digest(file)
    for page in (ann, ben):
        for text in ("who is still here?", "I am", "and now?", "still"):
            expect(chat(page).get_by_text(text, exact=True)).to_have_count(1)


def says_and_is_heard(speaker: Page, listener: Page, text: str) -> None:
    say(speaker, text)
    expect(chat(listener).get_by_text(text, exact=True)).to_be_visible(timeout=PATIENCE_MS)
