"""Any formula as one CUDA kernel for the whole sequence, generated from its trace."""
