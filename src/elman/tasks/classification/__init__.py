"""The parts of a classifier: examples, and the network."""
