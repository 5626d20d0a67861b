"""Objectives: what training minimises beyond likelihood, for any model that writes.

Each is ``objective(model, batch, progress) -> loss`` and knows of the task what `SequenceModel` says;
each has a config class whose ``build(model)`` makes it. ``objective.kind`` chooses one, its other keys are its
fields.
"""

from dataclasses import dataclass
from typing import Literal

from elman.decoding.sequence_model import DecoderStart, SequenceModel, Sequences, SequenceScores
from elman.objectives.baseline import Baseline, LearnedBaseline, SelfCriticalBaseline
from elman.objectives.mixer import Mixer, MixerConfig
from elman.objectives.objective import Objective
from elman.objectives.professor import ProfessorConfig, ProfessorForcing
from elman.objectives.reinforce import Reinforce, ReinforceConfig
from elman.objectives.risk import MinimumRisk, RiskConfig
from elman.objectives.sample_sequences import SampleBatch, draw_samples
from elman.objectives.scheduled_sampling import ScheduledSamplingConfig, ScheduledSamplingLoss
from elman.objectives.sequence_costs import COSTS, Cost, pairwise_cost

__all__ = ["COSTS", "Baseline", "Cost", "DecoderStart", "LearnedBaseline", "LikelihoodConfig", "MinimumRisk"]
__all__ += ["Mixer", "MixerConfig", "Objective", "ObjectiveConfig", "ProfessorConfig", "ProfessorForcing"]
__all__ += ["Reinforce", "ReinforceConfig", "RiskConfig", "SampleBatch", "ScheduledSamplingConfig"]
__all__ += ["ScheduledSamplingLoss", "SelfCriticalBaseline", "SequenceModel", "SequenceScores", "Sequences"]
__all__ += ["draw_samples", "pairwise_cost"]


@dataclass(frozen=True)
class LikelihoodConfig:
    """Maximum likelihood: the loss of the task itself."""

    kind: Literal["likelihood"] = "likelihood"


ObjectiveConfig = (
    LikelihoodConfig | ScheduledSamplingConfig | RiskConfig | ReinforceConfig | MixerConfig | ProfessorConfig
)
"""What training makes small, by its ``kind``."""
