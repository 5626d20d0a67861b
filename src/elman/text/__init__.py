"""From files to numbers: readers, tokenizers and vocabularies, pretrained vectors, batches.

Readers yield lazily and name file and line in every complaint. Only `batching` imports torch.
"""
