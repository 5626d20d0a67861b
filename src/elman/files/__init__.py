"""Files: written whole or not at all, with names that a model folder and other libraries know."""
