"""Single operations that PyTorch has not, or has slower: C++ on a CPU, Triton on a GPU."""
