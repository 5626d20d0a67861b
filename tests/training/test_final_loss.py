"""How well a training fits its data in the end, and whether another one did as well."""

from elman.training.events import Update
from elman.training.final_loss import FinalLoss


def watched(*losses: float) -> FinalLoss:
    """A training of so many updates."""
    found = FinalLoss()
    count = len(losses)

    def train():
        for number, loss in enumerate(losses, 1):
            yield Update(number, 1, number / count, loss, 0.1, 1.0, 8.0)

    assert [event.loss for event in found.watch(train())] == [*losses]
    return found


def test_the_last_tenth_of_a_training_counts():
    assert watched(*[9.0] * 17, 5.0, 1.0, 3.0).mean == 3.0
    assert watched(2.0).mean == 2.0
    assert FinalLoss().mean == 0.0


def test_a_loss_is_worse_by_a_quarter_and_more_than_chance():
    assert watched(0.64).is_worse_than(watched(0.47))
    assert not watched(0.63).is_worse_than(watched(0.47))
    assert not watched(0.04).is_worse_than(watched(0.001))
    assert not watched(0.3).is_worse_than(watched(0.5))
    assert not watched(9.0).is_worse_than(FinalLoss())


def test_a_watched_training_that_is_left_is_closed():
    ended = []

    def train():
        try:
            yield Update(1, 1, 0.5, 1.0, 0.1, 1.0, 8.0)
        finally:
            ended.append(True)

    events = FinalLoss().watch(train())
    next(events)
    events.close()
    assert ended
