"""`satchel serve`: turns this process into a server."""

from functools import partial

import typer

from satchel.cli.engine.command.settings_options import SETTINGS, Chosen, takes_settings


@takes_settings(*SETTINGS)
def serve(chosen: Chosen) -> None:
    """Start a server, and stop it with Ctrl-C.

    Without options it listens on this machine only and keeps everything in the folder `data`. With --lan, phones and
    others on your network reach it, too.
    """
    given = chosen.settings()
    # Imported here, so that the other verbs do not wait for a whole server to load.
    from satchel.app import serve as run_server
    from satchel.cli.serve.reach_lines import reach_lines
    from satchel.cli.serve.reach_question import ask_reach

    settings = ask_reach(given)
    raise typer.Exit(run_server(settings, partial(reach_lines, settings)))
