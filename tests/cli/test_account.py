"""Signing up, in and out from a terminal, against a real server."""

import asyncio
import fcntl
import time

import httpx
import msgspec
import pytest

from satchel.config import Settings
from satchel.edge.api.identity import Identity, Member
from satchel.kernel.clock import system_clock
from satchel.kernel.signature import Signer
from satchel.stores.connect import open_ephemeral
from tests.application import PASSWORD
from tests.cli.terminal import SECRET, Person, Ran, explains
from tests.server.process import ServerProcess
from tests.services import free_port

pytestmark = pytest.mark.slow


def sign_up(person: Person, server: ServerProcess, email: str, name: str = "Ann") -> Ran:
    arguments = ("signup", "--server", server.url, "--email", email, "--name", name)
    return person.run(*arguments, SATCHEL_PASSWORD=PASSWORD)


def test_the_first_to_sign_up_administers_the_server_and_is_signed_in(ann: Person, fresh_server: ServerProcess) -> None:
    ran = sign_up(ann, fresh_server, "ann@example.org")
    assert ran == Ran(0, f"You are Ann <ann@example.org>, an administrator at {fresh_server.url}\n")
    assert ann.run("whoami").out == f"Ann <ann@example.org>, an administrator at {fresh_server.url}\n"


def test_the_second_needs_an_invitation_and_is_told_so(ann: Person, bob: Person, fresh_server: ServerProcess) -> None:
    sign_up(ann, fresh_server, "ann@example.org")
    assert explains(sign_up(bob, fresh_server, "bob@example.org"), 1, "invitation")
    invited = ann.run("invite", "bob@example.org", "--note", "of the band")
    command = next(line for line in invited.out.splitlines() if "--invitation" in line).split()
    assert command[:4] == ["satchel", "signup", "--server", fresh_server.url]
    token = ann.run("invite", "bob@example.org", "--json").json["token"]
    assert token != command[-1]
    arguments = ("signup", "--server", fresh_server.url, "--email", "bob@example.org", "--name", "Bob")
    ran = bob.run(*arguments, "--invitation", token, SATCHEL_PASSWORD=PASSWORD)
    assert ran == Ran(0, f"You are Bob <bob@example.org> at {fresh_server.url}\n")


def test_signing_in_is_remembered_and_signing_out_is_too(ann: Person, server: ServerProcess) -> None:
    sign_up(ann, server, "in-and-out@example.org")
    ann.credentials.unlink()
    login = ("login", "--server", server.url, "--email", "In-And-Out@example.org", "--password-stdin")
    assert ann.run(*login, typed=f"{PASSWORD}\n").code == 0
    assert ann.run("whoami", "--json").json["email"] == "in-and-out@example.org"
    signed_in = ann.kept
    assert ann.run("logout") == Ran(0, f"You are signed out of {server.url}.\n")
    assert explains(ann.run("whoami"), 1, "not signed in", server.url, "satchel login")
    assert ann.run("logout") == Ran(0, f"You were not signed in to {server.url}.\n")
    keep(ann, signed_in)
    assert ask(ann, server, "GET", "/accounts/me").status_code == 401


def test_who_has_signed_in_before_is_let_in_whatever_others_here_guess(
    ann: Person, bob: Person, server: ServerProcess
) -> None:
    sign_up(ann, server, "guessed@example.org")
    assert ann.run("logout").code == 0
    for number in range(11):
        body = {"email": "guessed@example.org", "password": f"guess {number}"}
        server.client.post("/api/v1/sessions", json=body)
    login = ("login", "--server", server.url, "--email", "guessed@example.org", "--password-stdin")
    assert explains(bob.run(*login, typed=f"{PASSWORD}\n"), 1, "minutes")
    assert ann.run(*login, typed=f"{PASSWORD}\n").code == 0


def test_programs_read_who_signed_in_and_out_and_what_was_removed(ann: Person, server: ServerProcess) -> None:
    signup = ("signup", "--server", server.url, "--email", "prog@example.org", "--name", "P", "--json")
    assert ann.run(*signup, SATCHEL_PASSWORD=PASSWORD).json["email"] == "prog@example.org"
    (ann.home / "x.txt").write_text("x")
    assert ann.run("put", "x.txt", "--quiet").code == 0
    assert [each["name"] for each in ann.run("rm", "x.txt", "--json").json["removed"]] == ["x.txt"]
    assert ann.run("logout", "--json").json == {"server": server.url, "signed_out": True}
    assert ann.run("logout", "--json").json == {"server": server.url, "signed_out": False}
    login = ("login", "--server", server.url, "--email", "prog@example.org", "--json")
    assert ann.run(*login, SATCHEL_PASSWORD=PASSWORD).json["name"] == "P"


def test_nobody_is_asked_anything_while_the_server_is_down(ann: Person) -> None:
    nowhere = f"http://127.0.0.1:{free_port()}"
    ran = ann.run("signup", "--server", nowhere)
    assert explains(ran, 1, "Nothing answers")
    assert "E-mail" not in ran.out


def test_the_session_is_listed_with_the_name_of_the_machine(ann: Person, server: ServerProcess) -> None:
    sign_up(ann, server, "device@example.org")
    sessions = ask(ann, server, "GET", "/sessions").json()["sessions"]
    assert [session["device"].startswith("satchel on ") for session in sessions] == [True]


def test_a_terminal_is_asked_for_what_is_missing_and_never_shows_the_password(
    ann: Person, server: ServerProcess
) -> None:
    questions = [("E-mail: ", "asked@example.org\n"), ("Name: ", "Ann Asked\n")]
    twice = [("Choose a password", f"{PASSWORD}\n"), ("Once more: ", f"{PASSWORD}\n")]
    ran = ann.run_in_terminal("signup", "--server", server.url, answers=[*questions, *twice])
    assert ran.code == 0, ran.out
    assert "You are Ann Asked <asked@example.org>" in ran.out
    assert PASSWORD not in ran.out
    ran = ann.run_in_terminal("login", answers=[("E-mail: ", "asked@example.org\n"), ("Password", f"{PASSWORD}\n")])
    assert ran.code == 0, ran.out


def test_two_different_passwords_make_no_account(ann: Person, server: ServerProcess) -> None:
    answers = [("Choose a password", f"{PASSWORD}\n"), ("Once more: ", "something else\n")]
    arguments = ("signup", "--server", server.url, "--email", "twice@example.org", "--name", "Ann")
    ran = ann.run_in_terminal(*arguments, answers=answers)
    assert ran.code == 1
    assert "do not match" in ran.out
    assert not ann.credentials.exists()


def test_ctrl_c_at_a_question_ends_quietly_with_130(ann: Person, server: ServerProcess) -> None:
    for question in ("E-mail: ", "Password"):
        given = () if question == "E-mail: " else ("--email", "ann@example.org")
        ran = ann.run_in_terminal("login", "--server", server.url, *given, answers=[(question, "\x03")])
        assert ran.code == 130, ran.out
        assert "Traceback" not in ran.out


def test_without_a_terminal_nothing_is_asked(ann: Person, server: ServerProcess) -> None:
    assert explains(ann.run("login", "--server", server.url), 2, "--email")
    login = ("login", "--server", server.url, "--email", "ann@example.org")
    assert explains(ann.run(*login), 2, "--password-stdin", "SATCHEL_PASSWORD")
    assert explains(ann.run(*login, "--password-stdin"), 2, "no password")


def test_a_refusal_is_the_servers_own_sentence(ann: Person, server: ServerProcess) -> None:
    login = ("login", "--server", server.url, "--email", "nobody@example.org")
    assert explains(ann.run(*login, SATCHEL_PASSWORD="wrong password"), 1, "E-mail address or password is wrong")
    assert explains(sign_up(ann, server, "no address"), 1, "e-mail address such as")
    assert not ann.credentials.exists()


def test_the_server_is_the_option_else_the_environment_else_the_last_login(
    ann: Person, server: ServerProcess, fresh_server: ServerProcess
) -> None:
    assert explains(ann.run("whoami"), 1, "http://127.0.0.1:8400")
    sign_up(ann, server, "several@example.org")
    sign_up(ann, fresh_server, "other@example.org")
    assert ann.run("whoami", "--json").json["email"] == "other@example.org"
    assert ann.run("whoami", "--json", SATCHEL_SERVER=f"{server.url}/").json["email"] == "several@example.org"
    option = ann.run("whoami", "--json", "--server", server.url, SATCHEL_SERVER=fresh_server.url)
    assert option.json == {
        "server": server.url,
        "user_id": option.json["user_id"],
        "email": "several@example.org",
        "name": "Ann",
        "administrator": option.json["administrator"],
    }


def test_a_session_that_was_ended_elsewhere_asks_to_sign_in_again(ann: Person, server: ServerProcess) -> None:
    sign_up(ann, server, "ended@example.org")
    ask(ann, server, "DELETE", "/sessions?keep_current=false")
    assert explains(ann.run("whoami"), 1, "has ended", "satchel login")
    assert ann.run("logout").code == 0


def test_signing_out_without_the_server_forgets_the_tokens_and_says_what_is_left(ann: Person) -> None:
    absent = f"http://127.0.0.1:{free_port()}"
    session = {"email": "ann@example.org", "access_token": "a", "refresh_token": "r"}
    keep(ann, {"server": absent, "sessions": {absent: session}})
    assert explains(ann.run("logout"), 1, "signed out here", "could not be reached")
    assert ann.kept["sessions"] == {}


def test_an_expired_token_is_renewed_once_though_several_commands_need_it_at_once(
    ann: Person, server: ServerProcess
) -> None:
    sign_up(ann, server, "expired@example.org")
    let_the_access_token_expire(ann, server)
    old = ann.kept["sessions"][server.url]["refresh_token"]
    refused, refreshed = count(server, "/accounts/me", 401), count(server, "/sessions/refresh", 200)
    with ann.credentials.with_suffix(".lock").open() as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        commands = [ann.start("whoami") for _ in range(3)]
        deadline = time.monotonic() + 60
        while count(server, "/accounts/me", 401) < refused + 3 and time.monotonic() < deadline:
            time.sleep(0.1)  # until all of them know that their token has expired
        assert count(server, "/sessions/refresh", 200) == refreshed
    assert [command.communicate(timeout=60)[1] for command in commands] == [""] * 3
    assert count(server, "/sessions/refresh", 200) == refreshed + 1
    assert ann.kept["sessions"][server.url]["refresh_token"] != old
    assert ann.run("whoami").code == 0
    assert count(server, "/sessions/refresh", 200) == refreshed + 1


def test_a_refresh_token_used_by_a_thief_ends_the_session_with_a_clear_sentence(
    ann: Person, server: ServerProcess
) -> None:
    sign_up(ann, server, "thief@example.org")
    stolen = {"refresh_token": ann.kept["sessions"][server.url]["refresh_token"]}
    for _ in range(2):  # two rotations, after which the old token is too old for a lost answer
        answer = ask(ann, server, "POST", "/sessions/refresh", stolen)
        stolen = {"refresh_token": answer.json()["tokens"]["refresh_token"]}
    let_the_access_token_expire(ann, server)
    assert explains(ann.run("whoami"), 1, "used twice", "satchel login")


def let_the_access_token_expire(person: Person, server: ServerProcess) -> None:
    """Put a token in place of the kept one that the server gave out an hour ago for the same session."""
    kept = person.kept
    session = kept["sessions"][server.url]
    caller = ask(person, server, "GET", "/whoami").json()
    in_memory = asyncio.run(open_ephemeral(Settings(), system_clock))
    an_hour_ago = Identity(Signer(SECRET.encode()), in_memory, clock=lambda: system_clock() - 3600)
    member = Member(caller["id"], caller["email"], caller["session_id"], caller["administrator"])
    session["access_token"] = an_hour_ago.issue_access(member).value
    keep(person, kept)


def ask(person: Person, server: ServerProcess, method: str, path: str, body: object = None) -> httpx.Response:
    """Speak to the server behind the command's back, as the same person."""
    headers = {"authorization": f"Bearer {person.kept['sessions'][server.url]['access_token']}"}
    return httpx.request(method, f"{server.url}/api/v1{path}", json=body, headers=headers)


def keep(person: Person, credentials: object) -> None:
    person.credentials.parent.mkdir(parents=True, exist_ok=True)
    person.credentials.write_bytes(msgspec.json.encode(credentials))
    person.credentials.chmod(0o600)


def count(server: ServerProcess, path: str, status: int) -> int:
    """How often the server has answered so."""
    wanted = {f'route="/api/v1{path}"', f'status="{status}"'}
    lines = httpx.get(f"{server.url}/metrics").text.splitlines()
    found = [line for line in lines if line.startswith("satchel_http_requests_total{")]
    return sum(int(float(line.rpartition(" ")[2])) for line in found if all(label in line for label in wanted))


@pytest.mark.parametrize(
    "address",
    [
        "127.0.0.1:8400",
        "ftp://a.org",
        "http://",
        "http://a:b@host",
        "http://h:x",
        "http://[::1",
        "http://a..b",
    ],
)
def test_an_address_that_is_none_is_answered_with_how_one_looks(ann: Person, address: str) -> None:
    assert explains(ann.run("whoami", "--server", address), 2, "https://satchel.example.org")
