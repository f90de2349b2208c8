"""`near-enough publish`: the published analysis anew."""

from typing import TYPE_CHECKING

import click

from evals.commands.options import read_inputs, reports_folder

if TYPE_CHECKING:
    pass


@click.command("publish", hidden=True)
def publish_command() -> None:
    """Write the published analysis of the settings in force into reports/near-enough."""
    from evals.report.contents import Contents
    from evals.report.published import published_files
    from retrieval.recordings import write_beside

    contents, written = (Contents(read_inputs(changes=changes).measure()[0]) for changes in ((), ("rephrase=written",)))
    for name, text in published_files(contents, written).items():
        write_beside(reports_folder() / "near-enough" / name, text)
