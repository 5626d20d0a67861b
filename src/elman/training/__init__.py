"""Training: ``fit`` is a generator of events; who consumes it prints, plots, saves or stops."""

from elman.training.batches import Batches
from elman.training.checkpoint import load_checkpoint, save_checkpoint
from elman.training.ema import WeightAverage
from elman.training.evaluation import Validation
from elman.training.events import Checkpoint, Evaluation, TrainingEnd, Update
from elman.training.optimizers import learning_rate, make_optimizer
from elman.training.run import follow
from elman.training.snapshot import Snapshot
from elman.training.stateful_loss import StatefulLoss
from elman.training.training_config import TrainingConfig
from elman.training.training_loop import fit

__all__ = ["Batches", "Checkpoint", "Evaluation", "Snapshot", "StatefulLoss", "TrainingConfig", "TrainingEnd"]
__all__ += ["Update", "Validation", "WeightAverage"]
__all__ += ["fit", "follow", "learning_rate", "load_checkpoint", "make_optimizer", "save_checkpoint"]
