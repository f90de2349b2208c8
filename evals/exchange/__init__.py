"""Question sets, judgements and rankings that others made, or that others shall read."""
