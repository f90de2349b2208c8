"""The names of the pipeline's stages, in order: a module of its own, for the command line wants them at once."""

STAGES = ("words", "near", "fused", "pool", "answer")
