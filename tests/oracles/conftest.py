"""Keras computes with torch, and neither reads nor writes the settings in the user's home."""

import os
import tempfile
from pathlib import Path

os.environ["KERAS_BACKEND"] = "torch"
os.environ["KERAS_HOME"] = str(Path(tempfile.gettempdir()) / "elman-tests-keras")
