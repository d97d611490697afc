"""How verbs are read and listed: lighter than Typer's own ways, because every call of the command pays for them."""

from typing import Any

from typer.core import TyperCommand, TyperGroup


class _AsWritten:
    """Takes what was typed as it is. All our options are text or flags, and the settings check their own values."""

    def coerce(self, value: Any, **_context: Any) -> Any:
        return value


def _as_written(parameters: list[Any]) -> list[Any]:
    # Typer converts values with pydantic, which it loads for this alone: a fifth of a second and 16 MB, in a server for
    # as long as it runs. Should Typer name this attribute otherwise one day, nothing breaks but that saving.
    for parameter in parameters:
        parameter._runtime_param = _AsWritten()  # noqa: SLF001
    return parameters


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
