"""What a run needs of its models: planned, asked, written down, checked again, listed."""
