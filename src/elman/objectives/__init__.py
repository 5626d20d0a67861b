"""Objectives: what training minimises beyond likelihood, for any model that writes.

Each is ``objective(model, batch, progress) -> loss`` and knows of the task what `SequenceModel` says;
each has a config class whose ``build(model)`` makes it.
"""

from elman.decoding.sequence_model import DecoderStart, SequenceModel, Sequences, SequenceScores
from elman.objectives.baseline import Baseline, LearnedBaseline, SelfCriticalBaseline
from elman.objectives.mixer import Mixer, MixerConfig
from elman.objectives.objective import Objective
from elman.objectives.objective_config import LikelihoodConfig, ObjectiveConfig
from elman.objectives.professor import ProfessorConfig, ProfessorForcing
from elman.objectives.reinforce import Reinforce, ReinforceConfig
from elman.objectives.risk import MinimumRisk, RiskConfig
from elman.objectives.sample_sequences import SampleBatch, draw_samples
from elman.objectives.scheduled_sampling import ScheduledSamplingConfig, ScheduledSamplingLoss
from elman.objectives.sequence_costs import COSTS, Cost, pairwise_cost

__all__ = [
    "COSTS",
    "Baseline",
    "Cost",
    "DecoderStart",
    "LearnedBaseline",
    "LikelihoodConfig",
    "MinimumRisk",
    "Mixer",
    "MixerConfig",
    "Objective",
    "ObjectiveConfig",
    "ProfessorConfig",
    "ProfessorForcing",
    "Reinforce",
    "ReinforceConfig",
    "RiskConfig",
    "SampleBatch",
    "ScheduledSamplingConfig",
    "ScheduledSamplingLoss",
    "SelfCriticalBaseline",
    "SequenceModel",
    "SequenceScores",
    "Sequences",
    "draw_samples",
    "pairwise_cost",
]
