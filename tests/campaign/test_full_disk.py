"""A small sample of the campaign: at every size the old model or the new one."""

import sys

import pytest

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="has no limits on the size of a file")


def test_a_disk_of_any_size_leaves_a_whole_model_and_says_one_sentence():
    from tests.campaign.full_disk import run_campaign

    ends = run_campaign(step=6000, seconds=600, limit=True)  # ends when three runs had room: on no clock
    assert ends["old model"]
    assert ends["new model"]
    assert not ends["wrong"]
