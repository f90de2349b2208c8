"""The stages that ask over a network, against servers on loopback that misbehave on purpose."""
