"""The commands, a module each, that `evals.cli` adds up; what they share is in `options` and `again`."""
