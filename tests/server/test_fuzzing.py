"""The API as its own description promises it, against requests that nobody would think of."""

# schemathesis leaves most of its types open.
# pyright: basic, reportAttributeAccessIssue=false, reportArgumentType=false

from contextlib import suppress
from pathlib import Path
from typing import Any

import schemathesis
from hypothesis import HealthCheck, given, settings
from hypothesis.errors import Unsatisfiable
from schemathesis import GenerationMode
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from tests.application import PASSWORD
from tests.server.process import serving

CHECKS = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
]
# Of each kind for each operation; others in every run, save in CI.
EXAMPLES = 2


@schemathesis.serializer("application/offset+octet-stream", "application/vnd.satchel.bundle")
def as_bytes(_context: Any, value: Any) -> bytes:
    """Whatever comes to mind, as the body of an upload."""
    return value if isinstance(value, bytes) else str(value).encode(errors="replace")


def test_no_request_makes_an_answer_that_the_description_does_not_know(tmp_path: Path) -> None:
    tried: dict[str, int] = {}
    with serving(tmp_path, "--sign-up", "open") as server:
        body = {"email": "ann@example.org", "name": "Ann", "password": PASSWORD}
        tokens = server.client.post("/api/v1/accounts", json=body).json()["tokens"]
        member = {"authorization": f"Bearer {tokens['access_token']}"}
        schema = schemathesis.openapi.from_url(f"{server.url}/api/v1/openapi.json")
        for declared in schema.get_all_operations():
            operation = declared.ok()
            # Ending the session that everything else uses would leave nothing to try.
            ends_sessions = operation.method.upper() == "DELETE" and "/sessions" in operation.path
            headers = {} if ends_sessions else member
            tried[operation.label] = sum(try_out(operation, headers, mode) for mode in GenerationMode)
        assert server.client.get("/api/v1/accounts/me", headers=member).status_code == 200
    assert len(tried) > 20
    assert sum(tried.values()) > 30 * EXAMPLES


def try_out(
    operation: schemathesis.APIOperation[Any, Any, Any, Any], headers: dict[str, str], mode: GenerationMode
) -> int:
    """Send the operation what it asks for and more; how many requests were answered as described."""
    answered = 0

    @settings(max_examples=EXAMPLES, deadline=None, database=None, suppress_health_check=list(HealthCheck))
    @given(operation.as_strategy(generation_mode=mode))
    def check_one(case: schemathesis.Case) -> None:
        nonlocal answered
        case.validate_response(case.call(headers=headers), checks=CHECKS)
        answered += 1

    # There is nothing to get wrong in an operation that takes nothing.
    with suppress(Unsatisfiable):
        check_one()
    return answered
