"""`near-enough publish`: the published analysis anew."""

import click

from evals.commands.options import read_inputs, reports_folder


@click.command("publish", hidden=True)
def publish_command() -> None:
    """Write the published analysis of the settings in force into reports/near-enough."""
    from evals.report.contents import Contents
    from evals.report.published import published_files
    from retrieval.recordings import write_beside

    given = read_inputs()
    run, _ = given.measure()
    contents = Contents(run, near_rules=given.rules_alone(run))
    written = Contents(read_inputs(changes=("rephrase=written",)).measure()[0])
    for name, text in published_files(contents, written).items():
        write_beside(reports_folder() / "near-enough" / name, text)
