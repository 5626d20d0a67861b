"""Answers to the exercises of notebook 04."""

import torch

from elman.cells import LSTM
from elman.formula import State, formula, sigmoid, tanh


@formula(gates="z r n")
def right_gru(x, U, s):
    r, z = sigmoid(x.r + U.r(s.h)), sigmoid(x.z + U.z(s.h))
    return State(h=s.h + (1 - z) * (tanh(x.n + U.n(s.h * r)) - s.h))


@formula(gates="r z n")
def flipped(x, U, s):
    r, z = sigmoid(x.r + U.r(s.h)), sigmoid(x.z + U.z(s.h))
    return State(h=(1 - z) * s.h + z * tanh(x.n + U.n(r * s.h)))


@formula(gates="r z n")
def reset_after(x, U, s):
    r, z = sigmoid(x.r + U.r(s.h)), sigmoid(x.z + U.z(s.h))
    return State(h=z * s.h + (1 - z) * tanh(x.n + r * U.n(s.h)))


@formula(gates="r z n")
def without_tanh(x, U, s):
    r, z = sigmoid(x.r + U.r(s.h)), sigmoid(x.z + U.z(s.h))
    return State(h=z * s.h + (1 - z) * (x.n + U.n(r * s.h)))


def right_step(i, f, z, o, c):
    c = f * c + i * z
    return o * torch.tanh(c), c


RIGHT = {"04.1": right_step, "04.2": 14, "04.3": 22650, "04.4": right_gru}
WRONG = {
    "04.1": [
        lambda i, f, z, o, c: (o * torch.tanh(i * c + f * z), i * c + f * z),
        lambda i, f, z, o, c: (o * (f * c + i * z), f * c + i * z),
        lambda i, f, z, o, c: (o * torch.tanh(f * c + i * z), torch.tanh(f * c + i * z)),
        lambda i, f, z, o, c: right_step(i, f, z, o, c)[::-1],
        lambda i, f, z, o, c: right_step(i, f, z, o, c)[0],
    ],
    "04.2": [13, 10, 20, 13.5],
    "04.3": [30200, 22500, 22800, 15100],
    "04.4": [flipped, reset_after, without_tanh, LSTM.formula],
}
