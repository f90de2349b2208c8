"""docs/commands.md from the commands themselves: `python -m evals.reference > docs/commands.md`."""

import sys
from collections.abc import Iterator

import click

WIDTH = 100
START = """\
# Commands

Generated from the command line itself by `python -m evals.reference > docs/commands.md`; a test compares.

Exit status: 0 good; 1 the gate failed; 2 the input is bad, every fault listed with file and line; 3 not comparable;
70 a fault of the program.
"""


def reference(group: click.Group, name: str = "near-enough") -> str:
    """The help of a group and of each of its commands that is not hidden, as Markdown, in order of their names."""
    return START + "".join(f"\n## {title}\n\n```\n{text}\n```\n" for title, text in _helps(group, name))


def _helps(group: click.Group, name: str) -> Iterator[tuple[str, str]]:
    above = click.Context(
        group, info_name=name, terminal_width=WIDTH, max_content_width=WIDTH, help_option_names=["-h", "--help"]
    )
    yield name, group.get_help(above)
    for each in sorted(group.commands):
        command = group.commands[each]
        if not command.hidden:
            yield f"{name} {each}", command.get_help(click.Context(command, info_name=each, parent=above))


def main() -> None:
    """Write the reference to standard output."""
    from evals.cli import group

    sys.stdout.write(reference(group))


if __name__ == "__main__":
    main()
