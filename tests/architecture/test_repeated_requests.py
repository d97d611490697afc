"""Requests that make something take an idempotency key, or are written down here with what makes them repeatable."""

import json
from pathlib import Path

OPENAPI = Path(__file__).parents[2] / "web" / "openapi.json"
REPEATABLE = {
    "/accounts": "the address is taken then, and whoever asks signs in",
    "/sessions": "a session nobody uses ends by itself",
    "/scopes": "the same grant is the same row",
    "/photos/choices": "the id follows from the photos",
    "/photos/copies": "ids follow from folder and photos",
    "/shelf/selections": "the id follows from the entries",
    "/drop/sessions": "the client draws the id",
    "/drop/sessions/{session_id}/members": "the client draws the id",
    "/drop/sessions/{session_id}/requests": "the client draws the id",
    "/transfers/{transfer_id}/files/{place}/challenge": "a challenge is made for one proof, and nothing is left of it",
}


def test_what_makes_something_takes_an_idempotency_key_or_says_why_it_needs_none() -> None:
    paths = json.loads(OPENAPI.read_text())["paths"]
    without = {
        path.removeprefix("/api/v1")
        for path, methods in paths.items()
        if "201" in methods.get("post", {}).get("responses", {})
        and "Idempotency-Key" not in {each["name"] for each in methods["post"].get("parameters", [])}
    }
    assert without == set(REPEATABLE)
