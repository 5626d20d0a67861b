"""Decoding: `rollout` writes what a policy chooses, `Beam` searches for what is likeliest.

Both run a step ``(state, tokens) -> (state, logits)``, end rows by a stop and obey constraints.
"""

from elman.decoding.beam import Beam
from elman.decoding.beam_event import BeamEvent, PrunedHypothesis
from elman.decoding.beam_tree import BeamNode, BeamTree, format_tree, grow_tree
from elman.decoding.constraints import BannedTokens, ForcedPrefix, MinLength, NoRepeatNgram
from elman.decoding.ensemble import ensemble
from elman.decoding.hypotheses import Hypothesis
from elman.decoding.interfaces import PADDING, Constraint, History, Policy, Step, Stop
from elman.decoding.policies import Greedy, Sample, ScheduledSampling, TeacherForcing
from elman.decoding.repetition_penalty import RepetitionPenalty
from elman.decoding.rollout import Rollout, Turn, rollout, unroll
from elman.decoding.stopping import AnyOf, AtLengths, AtStrings, AtTokens, Deadline, within

__all__ = ["PADDING", "AnyOf", "AtLengths", "AtStrings", "AtTokens", "BannedTokens", "Beam", "BeamEvent"]
__all__ += ["Constraint", "Deadline", "ForcedPrefix", "Greedy", "History", "Hypothesis", "MinLength"]
__all__ += ["NoRepeatNgram", "Policy", "RepetitionPenalty", "Rollout", "Sample", "ScheduledSampling", "Step"]
__all__ += ["Stop", "TeacherForcing", "Turn", "ensemble", "rollout", "unroll", "within"]
__all__ += ["BeamNode", "BeamTree", "PrunedHypothesis", "format_tree", "grow_tree"]
