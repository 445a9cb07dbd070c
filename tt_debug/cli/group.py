"""The words of the command line up to the command, which is imported when it is called."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from tt_debug import __version__
from tt_debug.cli import commands, help

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem


class LazyGroup(click.Group):
    """The commands of `commands`. What there is to say of all of them, `help` says before click is asked."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """In the order of the help."""
        return commands.names()

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """None for a word that is no command."""
        return commands.load(cmd_name)

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """Commands, none of them imported for it, and files: a first word that is no command is a STORE."""
        from click.shell_completion import CompletionItem

        places = [place for section in commands.SECTIONS.values() for place in section.items()]
        words = [CompletionItem(name, help=place.help) for name, place in places if name.startswith(incomplete)]
        options = click.Command.shell_complete(self, ctx, incomplete)
        return [*words, *options, CompletionItem(incomplete, type="file")]


@click.command(cls=LazyGroup, context_settings={"help_option_names": help.WORDS})
@click.version_option(__version__)
def group() -> None:
    """The options stand here for a shell that completes them."""
