"""A person judges laws, and the answers become questions that the set reads."""
