"""What click's completion for fish and zsh gets wrong: names with a comma, or with a backslash."""

from __future__ import annotations

from typing import Any, Final

from click.shell_completion import CompletionItem, FishComplete, ZshComplete, add_completion_class

_FISH: Final = """\
function %(complete_func)s
    for answer in (env %(complete_var)s=fish_complete COMP_WORDS=(commandline -cp) COMP_CWORD=(commandline -t) \\
            %(prog_name)s)
        # A name may have commas of its own.
        set -l parts (string split -m 1 , -- $answer)
        switch $parts[1]
            case dir
                __fish_complete_directories $parts[2]
            case file
                __fish_complete_path $parts[2]
            case plain
                printf '%%s\\n' $parts[2]
        end
    end
end
complete --no-files --command %(prog_name)s --arguments "(%(complete_func)s)"
"""


class Fish(FishComplete):
    """Completion for fish of names with commas."""

    name = "fish"
    source_template = _FISH


class Zsh(ZshComplete):
    """Completion for zsh of names with backslashes, which it takes away where a description follows."""

    name = "zsh"

    def format_completion(self, item: CompletionItem[Any]) -> str:
        """Three lines: kind, value, description."""
        escaped = str(item.value).replace("\\", "\\\\") if item.help else item.value
        return super().format_completion(CompletionItem(escaped, item.type, item.help))


def prepare() -> None:
    """Answer both in our own way."""
    add_completion_class(Fish)
    add_completion_class(Zsh)
