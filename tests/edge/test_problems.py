"""Every error leaves as a problem detail, with what to do and without what is inside."""

import pytest

from satchel.edge.http.problems import MethodNotAllowed, kinds_of_problem
from satchel.kernel.errors import Conflict, Invalid, OutOfSpace, SatchelError, TooMany, Unavailable
from satchel.stores.ports.ephemeral import WrongKind
from satchel.stores.ports.table import TableMissing
from tests.edge.given import Edge, slug


class BoatFull(Conflict):
    """Nobody else fits into
    this boat."""

    slug = "boat-full"
    title = "The boat is full"


def raising(edge: Edge, error: BaseException) -> None:
    router = edge.router()

    @router.get("/fail/{secret}")
    async def fail(secret: str) -> None:
        raise error


async def test_an_error_of_ours_has_slug_title_detail_facts_and_the_request(edge: Edge) -> None:
    raising(edge, BoatFull("Ask somebody to leave.", seats=4, status="not this", when=(1, 2)))
    answer = await edge.client().get("/api/v1/fail/x")
    assert answer.status_code == 409
    assert answer.headers["content-type"] == "application/problem+json"
    assert answer.headers["cache-control"] == "no-store"
    assert answer.json() == {
        "type": "/problems#boat-full",
        "title": "The boat is full",
        "status": 409,
        "detail": "Ask somebody to leave.",
        "instance": f"urn:satchel:request:{answer.headers['x-request-id']}",
        "seats": 4,
        "when": [1, 2],
    }


async def test_anything_else_is_a_plain_500_whose_cause_is_only_in_the_log(
    edge: Edge, caplog: pytest.LogCaptureFixture
) -> None:
    raising(edge, RuntimeError("password=hunter2 at /srv/data"))
    answer = await edge.client().get("/api/v1/fail/x")
    assert (answer.status_code, slug(answer.json())) == (500, "internal")
    assert "hunter2" not in answer.text
    assert "/srv" not in answer.text
    [record] = [record for record in caplog.records if record.exc_info]
    assert "hunter2" in str(record.exc_info)
    assert vars(record)["request"] == answer.headers["x-request-id"]


async def test_waiting_times_become_a_header(edge: Edge) -> None:
    raising(edge, TooMany("Wait.", retry_after=17))
    answer = await edge.client().get("/api/v1/fail/x")
    assert (answer.status_code, answer.headers["retry-after"]) == (429, "17")


async def test_a_failing_store_is_a_503_that_is_logged(edge: Edge, caplog: pytest.LogCaptureFixture) -> None:
    raising(edge, Unavailable("The store does not answer."))
    answer = await edge.client().get("/api/v1/fail/x")
    assert (answer.status_code, answer.headers["retry-after"]) == (503, "2")
    assert "does not answer" in caplog.text


async def test_a_table_that_is_missing_is_no_fault_of_who_asks(edge: Edge) -> None:
    """They were told 404, and to create it."""
    error = TableMissing("A table is missing. Create it with `satchel tables create`.")
    error.__cause__ = ConnectionError("DynamoDB: ResourceNotFoundException")
    raising(edge, error)
    answer = await edge.client().get("/api/v1/fail/x")
    assert (answer.status_code, answer.headers["retry-after"]) == (503, "2")
    assert not any(word in answer.text for word in ("DynamoDB", "tables create"))


async def test_a_key_of_the_wrong_kind_is_no_fault_of_who_asks(edge: Edge, caplog: pytest.LogCaptureFixture) -> None:
    """They were told 409, and to delete a key that they cannot see."""
    raising(edge, WrongKind("This key holds a value of another kind. Delete it first, or use another key."))
    answer = await edge.client().get("/api/v1/fail/x")
    assert (answer.status_code, answer.headers["retry-after"]) == (503, "2")
    assert "key" not in answer.json()["detail"]
    assert "This key holds a value of another kind" in caplog.text


@pytest.mark.parametrize("kind", [Unavailable, OutOfSpace])
async def test_what_a_vendor_said_is_in_the_log_and_not_in_the_answer(
    edge: Edge, caplog: pytest.LogCaptureFixture, kind: type[SatchelError]
) -> None:
    error = kind("The bucket photos cannot be used.")
    error.__cause__ = ConnectionRefusedError("10.0.0.9 refused")
    raising(edge, error)
    answer = await edge.client().get("/api/v1/fail/x")
    assert "administrator" in answer.json()["detail"]
    assert not any(word in answer.text for word in ("photos", "10.0.0.9"))
    assert "The bucket photos cannot be used. (ConnectionRefusedError: 10.0.0.9 refused)" in caplog.text
    assert not any(record.exc_info for record in caplog.records)


async def test_facts_that_json_does_not_know_are_written_as_text(edge: Edge) -> None:
    class Odd:
        def __str__(self) -> str:
            return "odd"

    raising(edge, Invalid("No.", what=Odd()))
    assert (await edge.client().get("/api/v1/fail/x")).json()["what"] == "odd"


def test_every_kind_is_listed_once_with_its_explanation() -> None:
    kinds = kinds_of_problem()
    slugs = [kind.slug for kind in kinds]
    assert slugs == sorted(set(slugs))
    assert {"internal", "invalid", "token-expired", "malformed", "boat-full"} <= set(slugs)
    [boat_full] = [kind for kind in kinds if kind.slug == "boat-full"]
    assert (boat_full.status, boat_full.title) == (409, "The boat is full")
    assert boat_full.about == "Nobody else fits into this boat."
    assert all(kind.about and kind.title for kind in kinds)


def test_no_two_kinds_share_a_slug() -> None:
    owners: dict[str, set[str]] = {}
    waiting: list[type[SatchelError]] = [SatchelError]
    while waiting:
        kind = waiting.pop()
        waiting.extend(kind.__subclasses__())
        if "slug" in vars(kind):
            owners.setdefault(kind.slug, set()).add(kind.__qualname__)
    assert {slug: names for slug, names in owners.items() if len(names) > 1} == {}


def test_allowed_methods_are_part_of_the_problem() -> None:
    assert MethodNotAllowed(["GET", "PUT"]).facts == {"allow": ["GET", "PUT"]}
