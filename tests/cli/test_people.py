"""Looking after the people of a server from a terminal."""

import httpx
import pytest

from tests.application import PASSWORD
from tests.cli.terminal import Person, explains
from tests.server.process import ServerProcess

pytestmark = pytest.mark.slow


def sign_up(person: Person, server: ServerProcess, email: str, *more: str) -> None:
    arguments = ("signup", "--server", server.url, "--email", email, "--name", email.partition("@")[0], *more)
    assert person.run(*arguments, SATCHEL_PASSWORD=PASSWORD).code == 0


def test_an_administrator_lists_people_and_helps_with_a_forgotten_password(
    ann: Person, bob: Person, fresh_server: ServerProcess
) -> None:
    sign_up(ann, fresh_server, "ann@example.org")
    sign_up(bob, fresh_server, "bob@example.org", "--invitation", ann.run("invite", "--json").json["token"])
    lines = ann.run("people").out.splitlines()
    assert [line.partition(", last active ")[0] for line in lines] == [
        "ann <ann@example.org>, an administrator, 0 bytes",
        "bob <bob@example.org>, 0 bytes",
    ]
    assert [person["email"] for person in ann.run("people", "--json").json] == ["ann@example.org", "bob@example.org"]
    shown = ann.run("reset-password", "Bob@Example.org")
    assert f"  {fresh_server.url}/reset#token=" in shown.out
    token = shown.out.split("#token=")[1].strip()
    body = {"token": token, "password": "a brand new password"}
    assert httpx.post(f"{fresh_server.url}/api/v1/password-resets", json=body).status_code == 204
    login = ("login", "--server", fresh_server.url, "--email", "bob@example.org")
    assert bob.run(*login, SATCHEL_PASSWORD="a brand new password").code == 0
    assert explains(ann.run("reset-password", "carl@example.org"), 1, "carl@example.org", "satchel people")
    assert explains(bob.run("people"), 1, "administrator")
