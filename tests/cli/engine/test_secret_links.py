"""Links that the command line prints are those that the web app understands: both are held to the same vectors."""

import json
from pathlib import Path

import pytest

from satchel.cli.engine.resources.secret_links import invitation_link, password_reset_link

VECTORS = json.loads((Path(__file__).parents[2] / "vectors" / "links.json").read_text(encoding="utf-8"))
MAKERS = {"/sign-up": invitation_link, "/reset": password_reset_link}


@pytest.mark.parametrize("vector", VECTORS, ids=lambda vector: vector["link"])
def test_a_link_is_as_the_vectors_have_it(vector: dict[str, str]) -> None:
    whom = [vector["email"]] if "email" in vector else []
    assert MAKERS[vector["page"]](vector["server"], vector["token"], *whom) == vector["link"]
