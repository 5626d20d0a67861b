"""Batches: padded rows, buckets of like length, windows of long texts."""

from elman.text.batching.bptt_windows import BPTTBatches, BPTTWindow, BPTTWindows
from elman.text.batching.buckets import BucketBatches, bucket_batches, length_sorted_chunks, pad

__all__ = ["BPTTBatches", "BPTTWindow", "BPTTWindows", "BucketBatches"]
__all__ += ["bucket_batches", "length_sorted_chunks", "pad"]
