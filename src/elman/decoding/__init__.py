"""Decoding: `rollout` writes what a policy chooses, `Beam` searches for what is likeliest.

Both run a step ``(state, tokens) -> (state, logits)``, end rows by a stop and obey constraints.
"""

from elman.decoding.beam import Beam, Event
from elman.decoding.constraints import Banned, MinLength, NoRepeat, Prefix
from elman.decoding.ensemble import ensemble
from elman.decoding.kinds import PADDING, Constraint, Policy, Step, Stop, Written
from elman.decoding.policies import Forced, Greedy, Mixed, Sample, Switch
from elman.decoding.rollout import Rollout, Turn, rollout, unroll
from elman.decoding.stops import AnyOf, AtLengths, AtStrings, AtTokens, Deadline, within
from elman.decoding.tree import Hypothesis

__all__ = [
    "PADDING",
    "AnyOf",
    "AtLengths",
    "AtStrings",
    "AtTokens",
    "Banned",
    "Beam",
    "Constraint",
    "Deadline",
    "Event",
    "Forced",
    "Greedy",
    "Hypothesis",
    "MinLength",
    "Mixed",
    "NoRepeat",
    "Policy",
    "Prefix",
    "Rollout",
    "Sample",
    "Step",
    "Stop",
    "Switch",
    "Turn",
    "Written",
    "ensemble",
    "rollout",
    "unroll",
    "within",
]
