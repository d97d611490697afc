"""The settings of a server as options of a verb, with the descriptions from `config.py`."""

import inspect
import os
from collections.abc import Callable, Mapping
from dataclasses import Field, dataclass, fields
from pathlib import Path
from typing import Annotated, Any, get_args

import typer

from satchel.cli.engine.terminal.output import Misused
from satchel.config import BadSetting, Settings, load_settings

# Everyone on the machine can read the arguments of a process, so the secret cannot be one.
_NEVER_AN_ARGUMENT = "secret"
SETTINGS: Mapping[str, Field[Any]] = {each.name: each for each in fields(Settings) if each.name != _NEVER_AN_ARGUMENT}
_ELSEWHERE = """
Defaults stand in brackets. Every option can also be given as an environment variable (--log-level as
SATCHEL_LOG_LEVEL) or in the file named by --config (log_level = "debug"). Options override the environment, and
that overrides the file. The secret that signs tokens is never an option: use SATCHEL_SECRET or the file.
"""


@dataclass(frozen=True, slots=True)
class Chosen:
    """What the command line says; the environment, the file and the defaults add the rest."""

    options: Mapping[str, str | bool | None]
    file: Path | None

    def settings(self) -> Settings:
        """May raise `BadSetting`."""
        return load_settings(self.options, os.environ, self.file)


def takes_settings(*names: str) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Give a verb, which has a parameter `chosen`, one option for each of these settings, and `--config`."""

    def decorate(verb: Callable[..., None]) -> Callable[..., None]:
        def with_options(config: str | None, **given: Any) -> None:
            options = {name: given.pop(name) for name in names}
            try:
                verb(chosen=Chosen(options, Path(config) if config else None), **given)
            except BadSetting as error:
                raise Misused(str(error)) from error

        own = [
            each.replace(kind=inspect.Parameter.KEYWORD_ONLY)
            for each in inspect.signature(verb).parameters.values()
            if each.name != "chosen"
        ]
        settings = [_parameter(name, _option(SETTINGS[name]), _kind(SETTINGS[name])) for name in names]
        # Typer reads what a verb takes from its signature.
        vars(with_options)["__signature__"] = inspect.Signature([*settings, _CONFIG, *own])
        vars(with_options)["epilog"] = _ELSEWHERE
        with_options.__name__, with_options.__doc__ = verb.__name__, verb.__doc__
        return with_options

    return decorate


def _parameter(name: str, option: Any, kind: type = str) -> inspect.Parameter:
    annotation = Annotated[kind | None, option]
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=annotation)


def _kind(setting: Field[Any]) -> type:
    return bool if setting.type is bool else str


def _option(setting: Field[Any]) -> Any:
    if setting.type is bool:
        name = setting.name.replace("_", "-")
        # What is on already can only be switched off.
        return typer.Option(f"--{name}/--no-{name}" if setting.default else f"--{name}", help=setting.metadata["about"])
    default: Any = setting.default
    shown = str(default) if isinstance(default, str | int | Path) else ",".join(map(str, default))
    # Typer must not fill in the default itself: whether an option was given decides if the environment counts.
    about = setting.metadata["about"] + (f" [{shown}]" if shown else "")
    name = "--" + setting.name.replace("_", "-")
    return typer.Option(name, help=about, metavar=_placeholder(setting.type))


def _placeholder(wanted: Any) -> str:
    if choices := get_args(wanted):
        return "WORD" if all(isinstance(choice, str) for choice in choices) else "LIST"
    return {Path: "PATH", int: "NUMBER"}.get(wanted, "TEXT")


_CONFIG = _parameter("config", typer.Option("--config", help="A TOML file with settings.", metavar="PATH"))
