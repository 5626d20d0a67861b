"""From a recipe to a model folder."""

from elman.pipeline.train_recipe import Outcome, run_recipe, train

__all__ = ["Outcome", "run_recipe", "train"]
