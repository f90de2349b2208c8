"""A verdict in words: for a terminal, a pull request, and the forms that CI reads."""
