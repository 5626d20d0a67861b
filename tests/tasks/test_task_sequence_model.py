"""How a task's data becomes the batches of objectives and of measurements."""

import pytest

from elman.tasks.task_sequence_model import TaskSequenceModel


class Rows:
    """Encoded examples, each known by its length."""

    def __init__(self, lengths):
        self.lengths = lengths

    def __len__(self):
        return len(self.lengths)

    def pick(self, index):
        return [self.lengths[i] for i in index]


@pytest.mark.parametrize(
    ("limit", "rows", "batches"),
    [
        (100, 50, [[1, 2, 3, 4, 5, 6, 7]]),
        (7, 3, [[1, 2, 3], [4, 5, 6], [7]]),
        (3, 2, [[3, 5], [7]]),  # the first of each third, in the order of their lengths
        (1, 2, [[7]]),
        (0, 2, []),
    ],
)
def test_some_sequences_are_spread_over_a_dataset_and_those_of_like_length_go_together(limit, rows, batches):
    data = Rows([7, 1, 5, 6, 3, 4, 2])
    assert [*TaskSequenceModel().sample_batches(data, limit, rows)] == batches


def test_fifty_go_together_and_nothing_is_no_batch():
    assert [len(batch) for batch in TaskSequenceModel().sample_batches(Rows([1] * 120), 110)] == [50, 50, 10]
    assert [*TaskSequenceModel().sample_batches(Rows([]), 5)] == []


def test_objectives_get_the_model_its_batch_and_how_far_training_is():
    model = TaskSequenceModel()
    loss = model.training_loss(lambda *given: given)
    assert loss("batch", 0.5) == (model, "batch", 0.5)
    assert model.words([(1, 2), (3,)]) == [[1, 2], [3]]
