"""Speed and memory, measured beside peers in one run. Nothing here is a test: figures depend on the machine."""
