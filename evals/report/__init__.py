"""What a run shows: tables, plots, a summary to read, a page to open. Measures nothing itself."""
