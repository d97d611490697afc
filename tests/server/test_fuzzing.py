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
# Refusals of the form of a request. What the description calls valid meets none of them: whatever else is wrong with it
# depends on what there is, or is one of `satchel.kernel.unfit`.
FORM = {"invalid", "malformed", "upload-header"}


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
    is_valid = mode is GenerationMode.POSITIVE
    says_all = is_valid and not takes_bytes(operation)

    # The same valid requests in each run: a rare one must not fail the work of somebody who has nothing to do with it.
    @settings(
        derandomize=is_valid,
        max_examples=EXAMPLES,
        deadline=None,
        database=None,
        suppress_health_check=list(HealthCheck),
    )
    @given(operation.as_strategy(generation_mode=mode))
    def check_one(case: schemathesis.Case) -> None:
        nonlocal answered
        if is_valid:
            # To a schema of JSON, 3.0 is a whole number. Here, whole numbers have no fraction.
            case.body = whole(case.body)
        response = case.call(headers=headers)
        case.validate_response(response, checks=CHECKS)
        if says_all and response.status_code in (400, 422):
            problem = response.json()
            assert problem["type"].rpartition("#")[2] not in FORM, (operation.label, problem["detail"], case.body)
        answered += 1

    # There is nothing to get wrong in an operation that takes nothing.
    with suppress(Unsatisfiable):
        check_one()
    return answered


def takes_bytes(operation: schemathesis.APIOperation[Any, Any, Any, Any]) -> bool:
    """Whether its body has a form that no JSON schema describes."""
    return any(body.media_type != "application/json" for body in operation.body)


def whole(value: Any) -> Any:
    match value:
        case float() if value.is_integer():
            return int(value)
        case list():
            return [whole(each) for each in value]
        case dict():
            return {name: whole(each) for name, each in value.items()}
        case _:
            return value
