"""Commands that stand apart from a run: each module holds click commands that the command line adds."""
