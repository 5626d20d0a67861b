"""Elman: recurrent neural networks on text."""

from __future__ import annotations

__version__ = "0.1.0"
