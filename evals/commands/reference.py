"""docs/commands.md from the commands themselves: `python -m evals.commands.reference > docs/commands.md`."""

import sys
from collections.abc import Iterator

import click

WIDTH = 100
START = """\
# Commands

Generated from the command line itself by `python -m evals.commands.reference > docs/commands.md`; a test compares.

Exit status: 0 good; 1 the gate failed; 2 the input is bad, every fault listed with file and line; 3 not comparable;
70 a fault of the program.
"""


def reference(group: click.Group, name: str = "near-enough") -> str:
    """The help of a group and of all commands in it that are not hidden, as Markdown, in order of their names."""
    context = click.Context(
        group, info_name=name, terminal_width=WIDTH, max_content_width=WIDTH, help_option_names=["-h", "--help"]
    )
    return START + "".join(f"\n## {title}\n\n```\n{text}\n```\n" for title, text in _help(group, context))


def _help(command: click.Command, context: click.Context) -> Iterator[tuple[str, str]]:
    yield context.command_path, command.get_help(context)
    commands = command.commands if isinstance(command, click.Group) else {}
    for name, each in sorted(commands.items()):
        if not each.hidden:
            yield from _help(each, click.Context(each, info_name=name, parent=context))


def main() -> None:
    """Write the reference to standard output."""
    from evals.cli import group

    sys.stdout.write(reference(group))


if __name__ == "__main__":
    main()
