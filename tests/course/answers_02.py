"""Answers to the exercises of notebook 02."""

import torch

RIGHT = {
    "02.1": lambda h: 1 - h * h,
    "02.2": 0.9**50,
    "02.3": "explodes",
    "02.4": lambda gradient, limit: gradient * min(1.0, limit / float(gradient.norm())),
}
WRONG = {
    "02.1": [lambda h: 1 - torch.tanh(h) ** 2, lambda h: h * (1 - h), lambda h: 1 - h, lambda h: h],
    "02.2": [0.9 * 50, 0.9**49, 0.9**51, 1 - 0.9**50, 0.5],
    "02.3": ["vanishes", "stays", "grows", 1.2],
    "02.4": [
        lambda gradient, limit: gradient.clamp(-limit, limit),
        lambda gradient, limit: gradient / gradient.norm() * limit,
        lambda gradient, limit: gradient,
        lambda gradient, limit: torch.zeros_like(gradient) if gradient.norm() > limit else gradient,
    ],
}
