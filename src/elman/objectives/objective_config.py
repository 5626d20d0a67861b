"""The objectives as configuration: ``objective.kind`` chooses one, its other keys are its fields."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from elman.objectives.mixer import MixerConfig
from elman.objectives.professor import ProfessorConfig
from elman.objectives.reinforce import ReinforceConfig
from elman.objectives.risk import RiskConfig
from elman.objectives.scheduled_sampling import ScheduledSamplingConfig


@dataclass(frozen=True)
class LikelihoodConfig:
    """Maximum likelihood: the loss of the task itself."""

    kind: Literal["likelihood"] = "likelihood"


ObjectiveConfig = (
    LikelihoodConfig | ScheduledSamplingConfig | RiskConfig | ReinforceConfig | MixerConfig | ProfessorConfig
)
"""What training makes small, by its ``kind``."""
"""The options of one objective; its ``kind`` says of which."""
