"""What a newcomer meets first: help, versions, and mistakes that are explained instead of traced back."""

import os
import re
import subprocess
import sys
from typing import Any

import pytest
from typer.main import get_command

from satchel.cli import _app
from tests.cli.terminal import AtOnce, Person, explains
from tests.fork_server import SATCHEL


def test_help_says_what_this_is_groups_the_verbs_and_shows_how_to_begin(ann: Person) -> None:
    ran = ann.run("--help")
    assert ran.code == 0
    assert "your own server" in ran.out
    assert ran.out.index("Run a server:") < ran.out.index("  serve ") < ran.out.index("Use a server:")
    assert ran.out.index("Use a server:") < ran.out.index("  login ")
    assert "To begin:\n    satchel serve" in ran.out


def every_verb() -> dict[tuple[str, ...], Any]:
    """Each command, and each group of them, by the words that call it."""
    found: dict[tuple[str, ...], Any] = {}
    rest: list[tuple[tuple[str, ...], Any]] = [((), get_command(_app("")))]
    while rest:
        words, command = rest.pop()
        found[words] = command
        rest += [((*words, name), below) for name, below in getattr(command, "commands", {}).items()]
    return found


def test_every_verb_that_ends_answers_machines() -> None:
    runs_on = {("serve",), ("worker",)}
    without = {
        words
        for words, verb in every_verb().items()
        if (not hasattr(verb, "commands") or verb.invoke_without_command)
        and not any("--json" in parameter.opts for parameter in verb.params)
    }
    assert without == runs_on


def test_the_usage_of_every_verb_reads_as_in_a_manual() -> None:
    usages = {
        verb.get_usage(verb.context_class(verb, info_name=" ".join(words))) for words, verb in every_verb().items()
    }
    assert {usage for usage in usages if re.search(r"\[\[|<|\{", usage)} == set()


@pytest.mark.parametrize(
    ("typed", "offered", "elsewhere"),
    [
        ("satchel\nlink", ("link", "links"), "room"),
        ("satchel\nroom\n", ("open", "leave"), "room"),
        ("satchel\nroom\nopen\n--", ("--knock", "--json"), "--save-as"),
    ],
)
def test_a_shell_completes_what_is_typed(ann: Person, typed: str, offered: tuple[str, ...], elsewhere: str) -> None:
    asked = {"_SATCHEL_COMPLETE": "complete_bash", "COMP_WORDS": typed, "COMP_CWORD": str(typed.count("\n"))}
    words = ann.run(**asked).out.splitlines()
    assert {*offered} <= {*words}
    assert elsewhere not in words


def test_completion_is_installed_for_the_shell_that_one_is_in(ann: Person) -> None:
    in_bash = ["bash", "--norc", "-c", f"{SATCHEL} --install-completion; true"]
    subprocess.run(in_bash, env=ann.environment(), capture_output=True, check=True)
    assert "_SATCHEL_COMPLETE=complete_bash" in (ann.home / ".bash_completions/satchel.sh").read_text()


def test_every_line_of_help_fits_a_narrow_terminal(
    ann: Person, at_once: AtOnce, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    assert at_once("serve", "--help").out == ann.run_in_terminal("serve", "--help").out
    for verb in every_verb():
        ran = at_once(*verb, "--help")
        assert ran.code == 0
        assert max(map(len, ran.out.splitlines())) <= 80, verb


def test_the_options_of_serve_say_what_the_settings_say_of_themselves(ann: Person) -> None:
    help_text = " ".join(ann.run("serve", "--help").out.split())
    assert "--port NUMBER The port to listen on; 0 takes a free one. [8400]" in help_text
    assert "--table-prefix TEXT Put before every table name" in help_text
    assert "SATCHEL_LOG_LEVEL" in help_text


def test_the_secret_is_no_option_because_everyone_can_read_those(ann: Person) -> None:
    ran = ann.run("serve", "--secret", "x" * 40)
    assert ran.code == 2
    assert "No such option: --secret" in ran.err


def test_the_version_is_told(ann: Person) -> None:
    assert ann.run("--version").out.startswith("satchel 0.")


def test_the_package_can_be_run_as_a_module(ann: Person) -> None:
    command = [sys.executable, "-m", "satchel", "--version"]
    done = subprocess.run(command, env=ann.environment(), capture_output=True, text=True)
    assert done.stdout == ann.run("--version").out


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("srve",), "Did you mean 'serve'"),
        (("serve", "--prt", "1"), "Possible options: --port"),
        (("login", "extra"), "unexpected extra argument"),
    ],
)
def test_a_misspelt_command_is_answered_with_what_was_meant(
    ann: Person, arguments: tuple[str, ...], words: str
) -> None:
    ran = ann.run(*arguments)
    assert ran.code == 2
    assert ran.out == ""
    assert words in ran.err


def test_an_unusable_setting_is_one_sentence_wherever_it_came_from(ann: Person) -> None:
    assert explains(ann.run("serve", "--port", "many"), 2, "--port", "whole number")
    assert explains(ann.run("tables", SATCHEL_TABLE="mysql://x"), 2, "SATCHEL_TABLE", "dynamodb:")
    assert explains(ann.run("serve", "--config", "absent.toml"), 2, "absent.toml", "cannot be read")
    (ann.home / "satchel.toml").write_text('colour = "red"')
    assert explains(ann.run("serve", "--config", "satchel.toml"), 2, "satchel.toml", "'colour'")


def test_an_option_counts_before_the_environment_and_that_before_the_file(ann: Person) -> None:
    (ann.home / "satchel.toml").write_text('table_prefix = "file-"')
    from_file = ann.run("tables", "--json", "--config", "satchel.toml")
    from_environment = ann.run("tables", "--json", "--config", "satchel.toml", SATCHEL_TABLE_PREFIX="environment-")
    from_option = ann.run("tables", "--json", "--table-prefix", "option-", SATCHEL_TABLE_PREFIX="environment-")
    prefixes = [ran.json["prefix"] for ran in (from_file, from_environment, from_option)]
    assert prefixes == ["file-", "environment-", "option-"]


def test_a_reader_who_leaves_early_causes_no_complaint(ann: Person) -> None:
    for arguments in (["--help"], ["tables", "--json"], ["tables"]):
        reader, writer = os.pipe()
        os.close(reader)
        done = subprocess.run(
            [str(SATCHEL), *arguments],
            env=ann.environment(),
            stdout=writer,
            stderr=subprocess.PIPE,
            text=True,
            cwd=ann.home,
        )
        os.close(writer)
        assert done.stderr == ""
        assert done.returncode == 1


def test_colours_are_for_terminals_whose_owner_wants_them(ann: Person) -> None:
    assert "\x1b[" in ann.run_in_terminal("tables").out
    assert "\x1b[" not in ann.run_in_terminal("tables", NO_COLOR="1").out
    assert "\x1b[" not in ann.run_in_terminal("tables", TERM="dumb").out
    assert "\x1b[" not in ann.run("tables").out


def test_a_terminal_without_our_letters_gets_others(ann: Person) -> None:
    with ann.start("tables", PYTHONIOENCODING="ascii") as command:
        out, _ = command.communicate()
    assert command.returncode == 0
    assert "? catalog" in out


def loaded_by(person: Person, *arguments: str) -> set[str]:
    show = "import sys; from satchel.cli import main; main(); print(*sys.modules)"
    command = [sys.executable, "-c", show, *arguments]
    ran = subprocess.run(command, env=person.environment(), cwd=person.home, capture_output=True, text=True, check=True)
    return set(ran.stdout.splitlines()[-1].split())


def test_help_and_light_verbs_load_no_heavy_libraries(ann: Person) -> None:
    """pydantic comes with Typer and would cost every command, and a server for as long as it runs."""
    heavy = {"aiobotocore", "httpx", "obstore", "pydantic", "redis", "rich", "sqlite3", "starlette", "uvicorn"}
    assert not heavy & loaded_by(ann, "--help")
    assert not heavy & loaded_by(ann, "tables")


def test_a_verb_loads_no_other(ann: Person) -> None:
    loaded = loaded_by(ann, "receive", "--help")
    assert "satchel.cli.drop" in loaded
    assert not {"asyncio", "satchel.cli.serve", "satchel.cli.stats", "satchel.config"} & loaded
