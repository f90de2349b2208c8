"""`near-enough init`: a small working set to edit."""

from pathlib import Path

import click


@click.command("init")
@click.argument("folder", type=click.Path(path_type=Path))
def init_command(folder: Path) -> None:
    """Write a small working set into FOLDER: laws, questions, settings and a CI workflow, to edit.

    No file is overwritten. What near-enough is started with in that folder takes its settings, laws and questions from
    there.
    """
    from evals.starting import installed_from, start

    for path in start(folder, installed_from()):
        click.echo(path)
    click.echo(f"Next: cd {folder} && near-enough eval, and {folder / 'README.md'} says how to go on.")
