"""Parts of a work side by side against one after the other."""

import threading

import pytest
import torch

from elman.tasks.parallel_map import parallel_map


@pytest.fixture
def threads():
    before = torch.get_num_threads()
    torch.set_num_threads(3)
    yield 3
    torch.set_num_threads(before)


def test_results_stand_in_the_order_of_their_parts(threads):
    assert parallel_map(lambda n: n * n, range(20)) == [n * n for n in range(20)]
    assert parallel_map(str, []) == []


def test_parts_share_the_threads_that_there_are(threads):
    together = threading.Barrier(threads, timeout=60)  # broken unless all of them come

    def work(_):
        together.wait()
        return torch.get_num_threads()

    assert parallel_map(work, range(threads)) == [1] * threads
    assert parallel_map(lambda _: torch.get_num_threads(), [None]) == [threads]


def test_afterwards_torch_has_its_threads_again(threads):
    with pytest.raises(ZeroDivisionError):
        parallel_map(lambda n: 1 // n, [1, 1, 0, 1])
    assert torch.get_num_threads() == threads
    assert parallel_map(lambda _: torch.get_num_threads(), [None]) == [threads]
    seen = []
    other = threading.Thread(target=lambda: seen.append(torch.get_num_threads()))
    other.start()
    other.join()
    assert seen == [threads]


def test_a_second_work_at_the_same_time_leaves_the_threads_alone(threads):
    inside = parallel_map(lambda _: parallel_map(lambda _: threading.get_ident(), range(4)), range(2))
    assert all(len(set(found)) == 1 for found in inside)
    assert torch.get_num_threads() == threads
