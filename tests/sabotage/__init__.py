"""Faults planted one at a time, and harmless changes: the gate and the tests, tested."""
