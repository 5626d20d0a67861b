"""Bulk prediction on Ray Data: a model as a callable class for ``Dataset.map_batches``."""

from elman.ray.bulk_predictor import Predictor

__all__ = ["Predictor"]
