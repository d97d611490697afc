"""All that the command assumes of Typer's insides, so that short commands start quickly.

What is assumed, and what breaks without it:

- A parameter keeps what converts its value in `_runtime_param`, and its `get_runtime_param()` answers that. Typer makes
  one with pydantic otherwise, which takes a fifth of a second and 16 MB to load. Only that saving would be lost.
- An argument answers how the usage line and the list below it name it by `get_usage_pieces(ctx)` and by
  `display_type_rich(ctx=ctx)` behind its name. Help would show `{FILE}...` and `FILE <list[str]>`.
- A group asks `get_params` for its parameters and `format_commands` for its list in the help, and a command has
  `rich_help_panel` and `get_short_help_str`. The list of verbs in the help would lose its headings.

`tests/cli/engine/test_typer_internals.py` fails if a release of Typer changes any of this.
"""

from functools import partial
from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup


class _AsWritten:
    """Takes what was typed as it is. All our options are text or flags, and the settings check their own values."""

    def coerce(self, value: Any, **_context: Any) -> Any:
        return value


def _as_written(parameters: list[Any]) -> list[Any]:
    for parameter in parameters:
        parameter._runtime_param = _AsWritten()  # noqa: SLF001
        if parameter.param_type_name == "argument":
            parameter.get_usage_pieces = partial(_usage_pieces, parameter)
            parameter.display_type_rich = _no_type
    return parameters


def _usage_pieces(parameter: Any, ctx: Any) -> list[str]:  # noqa: ARG001  # the name is Typer's
    """As manuals write it: `FILE...`, or `[FILE]...` for what may be left out."""
    name = parameter.display_name_raw
    return [(name if parameter.required else f"[{name}]") + ("" if parameter.nargs == 1 else "...")]


def _no_type(ctx: Any) -> None:  # the name is Typer's
    """All arguments are text, which says nothing."""


class Verb(TyperCommand):
    """A command whose parameters are all `str | None` or flags."""

    def get_params(self, ctx: Any) -> list[Any]:
        return _as_written(super().get_params(ctx))


class GroupedVerbs(TyperGroup):
    """Lists the verbs under their headings, which Typer only does in boxes, and three times as slowly."""

    def get_params(self, ctx: Any) -> list[Any]:
        return _as_written(super().get_params(ctx))

    def format_commands(self, ctx: Any, formatter: Any) -> None:  # noqa: ARG002  # the name is Typer's
        sections: dict[str, list[tuple[str, str]]] = {}
        for name, command in self.commands.items():
            heading = getattr(command, "rich_help_panel", None) or "Commands"
            sections.setdefault(heading, []).append((name, command.get_short_help_str(limit=100)))
        widest = max(len(name) for name in self.commands)
        for heading, rows in sections.items():
            with formatter.section(heading):
                formatter.write_dl([(name.ljust(widest), about) for name, about in rows])


def verb_group(name: str, *, cls: type[GroupedVerbs] = GroupedVerbs, **options: Any) -> typer.Typer:
    """A verb that has verbs of its own, such as `satchel links`."""
    return typer.Typer(cls=cls, name=name, rich_markup_mode=None, add_completion=False, **options)
