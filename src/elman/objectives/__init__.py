"""Objectives: what training makes small, for any model that writes.

Each is ``objective(model, batch, progress) -> loss`` and knows of the task what `Generative` says.
"""

from elman.decoding.generative import Beginning, Generative, Scored, Sequences
from elman.objectives.baseline import Baseline, Learned, SelfCritical
from elman.objectives.costs import COSTS, Cost, by_pairs
from elman.objectives.mixer import Mixer
from elman.objectives.objective import Objective
from elman.objectives.professor import ProfessorForcing
from elman.objectives.reinforce import Reinforce
from elman.objectives.risk import MinimumRisk
from elman.objectives.sampling import Draw, draw
from elman.objectives.scheduled import Scheduled

__all__ = [
    "COSTS",
    "Baseline",
    "Beginning",
    "Cost",
    "Draw",
    "Generative",
    "Learned",
    "MinimumRisk",
    "Mixer",
    "Objective",
    "ProfessorForcing",
    "Reinforce",
    "Scheduled",
    "Scored",
    "SelfCritical",
    "Sequences",
    "by_pairs",
    "draw",
]
