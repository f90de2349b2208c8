"""The command line: all commands in one, and the only place that catches and exits.

Status 0: good. 1: the gate failed. 2: the input is bad, every fault listed. 3: not comparable. 70: a fault of the
program. Heavy imports stand inside the commands that need them, so that `--help` answers at once.
"""

import sys
import traceback
from collections.abc import Sequence

import click

from evals.commands.ask import ask_command
from evals.commands.compare import compare_command
from evals.commands.exchange import export_command, import_command
from evals.commands.gate import baseline_command, gate_command
from evals.commands.judge import judge_command
from evals.commands.lint import lint_command
from evals.commands.measure import evaluate_command
from evals.commands.publish import publish_command
from evals.commands.record import record_command, recordings_command
from evals.commands.search import search_command
from evals.commands.start import init_command

BAD_INPUT = 2
PROGRAM_FAULT = 70
INTERRUPTED = 130
PIPE_CLOSED = 141


def main(arguments: Sequence[str] | None = None) -> None:
    """Run a command and exit with its status."""
    try:
        status = group.main(args=arguments, prog_name="near-enough", standalone_mode=False)
    except click.ClickException as error:
        error.show()
        status = BAD_INPUT
    except (click.Abort, KeyboardInterrupt):
        click.echo("stopped", err=True)
        status = INTERRUPTED
    except SystemExit:  # click's answer to a reader that closed the pipe: neither good nor a failed gate
        status = PIPE_CLOSED
    except Exception as error:  # the one place that tells bad input from a fault of the program
        status = _failed(error)
    sys.exit(status or 0)


def _failed(error: Exception) -> int:
    """Say what went wrong, and the status for it."""
    from retrieval.errors import NearEnoughError

    if isinstance(error, NearEnoughError):
        click.echo(f"near-enough: {error}", err=True)
        return BAD_INPUT
    if isinstance(error, OSError) and error.filename is not None:
        click.echo(f"near-enough: {error.filename}: {error.strerror}", err=True)
        return BAD_INPUT
    traceback.print_exception(error)
    click.echo("near-enough: this is a fault of the program; please report it with the lines above", err=True)
    return PROGRAM_FAULT


@click.group(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(package_name="near-enough")
def group() -> None:
    """Measure a retrieval pipeline before anybody changes a number in it."""


for command in (
    ask_command,
    baseline_command,
    compare_command,
    evaluate_command,
    export_command,
    gate_command,
    import_command,
    init_command,
    judge_command,
    lint_command,
    publish_command,
    record_command,
    recordings_command,
    search_command,
):
    group.add_command(command)


if __name__ == "__main__":
    main()
