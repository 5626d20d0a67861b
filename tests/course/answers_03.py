"""Answers to the exercises of notebook 03."""

import torch

RIGHT = {
    "03.1": [1, 6, 7, 4],
    "03.2": lambda letter, memory: letter in "aeiou",
    "03.3": lambda x, h, W, U, b: torch.sigmoid(W @ x + U @ h + b),
    "03.4": 0.75,
}
WRONG = {
    "03.1": [[5, 2, 3, 8], [1, 0, 0, 4], [11, 6, 7, 20], [1, 6, 7, 8], [1, 6, 7]],
    "03.2": [
        lambda letter, memory: letter in "aeiou" and memory == "",
        lambda letter, memory: 1,
        lambda letter, memory: letter not in "aeiou",
        lambda letter, memory: 0,
    ],
    "03.3": [
        lambda x, h, W, U, b: torch.tanh(W @ x + U @ h + b),
        lambda x, h, W, U, b: torch.sigmoid(W @ x + U @ h),
        lambda x, h, W, U, b: torch.sigmoid(W @ x + U @ h + b) * h,
        lambda x, h, W, U, b: W @ x + U @ h + b,
    ],
    "03.4": [0.25, 7 / 8, 7 / 12, 1.75],
}
