"""Import this where an exported program runs (``torch.export.load``): it tells torch of Elman's operators."""

import elman.layers  # noqa: F401  (it names them)
from elman.operators import register_operators

register_operators()
