"""What `cli/engine/command/typer_internals.py` assumes of Typer. A failure here means that Typer has changed inside."""

import subprocess
import sys
from typing import Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup
from typer.main import get_command

from satchel.cli.engine.command.typer_internals import GroupedVerbs, Verb


def _app() -> Any:
    app = typer.Typer(cls=GroupedVerbs, rich_markup_mode=None, add_completion=False)

    @app.command(cls=Verb, rich_help_panel="Greet somebody")
    def hello(name: Annotated[str | None, typer.Option("--name", help="Whom to greet.")] = None) -> None:
        """Say hello."""
        print(f"Hello {name}")

    @app.command(cls=Verb, rich_help_panel="Part from somebody")
    def goodbye(loudly: Annotated[bool, typer.Option("--loudly")] = False) -> None:
        """Say goodbye."""
        print(loudly)

    del hello, goodbye
    return get_command(app)


def test_a_parameter_converts_its_value_by_what_we_gave_it() -> None:
    hello = _app().commands["hello"]
    (name, *_) = hello.get_params(hello.make_context("hello", []))
    assert name._runtime_param is name.get_runtime_param()
    assert type(name.get_runtime_param()).__name__ == "_AsWritten"


def test_a_parameter_has_the_attribute_before_we_set_it() -> None:
    """Else setting it would change nothing, and pydantic would be loaded again."""
    name: Any = _app().commands["hello"].params[0]
    assert name._runtime_param is None


def test_a_command_and_a_group_ask_the_methods_that_we_override() -> None:
    for method in ("get_params", "format_commands"):
        assert callable(getattr(TyperGroup, method))
    assert callable(TyperCommand.get_params)


def test_the_help_lists_verbs_below_their_headings() -> None:
    command = "from tests.cli.engine.test_typer_internals import _app; _app()(['--help'])"
    lines = subprocess.run([sys.executable, "-c", command], capture_output=True, text=True, check=True).stdout
    assert "Greet somebody:\n  hello    Say hello.\n" in lines
    assert "Part from somebody:\n  goodbye  Say goodbye.\n" in lines


def test_options_and_flags_are_read_without_pydantic_and_rich() -> None:
    command = (
        "import sys; from tests.cli.engine.test_typer_internals import _app; "
        "_app()(['hello', '--name', 'Ann'], standalone_mode=False); "
        "_app()(['goodbye', '--loudly'], standalone_mode=False); "
        "print({'pydantic', 'rich'} & set(sys.modules))"
    )
    ran = subprocess.run([sys.executable, "-c", command], capture_output=True, text=True, check=True)
    assert ran.stdout.splitlines() == ["Hello Ann", "True", "set()"]


def test_arguments_are_named_as_manuals_name_them() -> None:
    app = typer.Typer(cls=GroupedVerbs, rich_markup_mode=None, add_completion=False)

    @app.command(cls=Verb)
    def copy(
        files: Annotated[list[str], typer.Argument(metavar="FILE")],
        target: Annotated[str | None, typer.Argument(metavar="TO", help="Where to.")] = None,
    ) -> None:
        """Copy files."""
        print(files, target)

    @app.command(cls=Verb)
    def move() -> None:
        """Move files."""

    del copy, move
    group: Any = get_command(app)
    command = group.commands["copy"]
    text = command.get_help(command.make_context("copy", ["x"], resilient_parsing=True))
    assert text.splitlines()[0] == "Usage: copy [OPTIONS] FILE... [TO]"
    assert "<" not in text
