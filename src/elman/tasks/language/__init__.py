"""The parts of a language model: its network, its text, its loss, and how it adapts to what it reads."""
