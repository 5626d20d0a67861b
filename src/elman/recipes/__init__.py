"""The recipes of published results: where they are, and what they reach. A wheel holds them in this folder."""
