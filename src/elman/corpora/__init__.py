"""The corpora of the recipes: fetched from their public homes, and checked."""
