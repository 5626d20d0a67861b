"""The parts of sequence-to-sequence models."""
