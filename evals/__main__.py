"""`python -m evals` is `near-enough`."""

from evals.cli import main

main()
