"""From files to numbers: readers, tokenizers and vocabularies, pretrained vectors, batches.

Readers yield lazily and name file and line in every complaint. Only ``elman.text.batching`` imports torch.
"""

from elman.text.conll import Sentence, read_sentences
from elman.text.corpus_cache import CorpusCache, EncodedCorpus
from elman.text.files import read_lines, read_parallel
from elman.text.pre_tokenizer import PreTokenizer
from elman.text.spans import Span, convert_tags, detect_scheme, spans_to_tags, tags_to_spans
from elman.text.subword_tokenizer import SubwordTokenizer
from elman.text.tables import read_rows
from elman.text.tokenizer import TOKEN_KINDS, Tokenizer, build_tokenizer, load_tokenizer
from elman.text.vectors import WordVectors, read_vectors
from elman.text.vocab import Labels, Vocab
from elman.text.vocab_tokenizer import VocabTokenizer

__all__ = ["TOKEN_KINDS", "CorpusCache", "EncodedCorpus", "Labels", "PreTokenizer", "Sentence", "Span"]
__all__ += ["SubwordTokenizer", "Tokenizer", "Vocab", "VocabTokenizer", "WordVectors"]
__all__ += ["build_tokenizer", "convert_tags", "detect_scheme", "load_tokenizer", "read_lines", "read_parallel"]
__all__ += ["read_rows", "read_sentences", "read_vectors", "spans_to_tags", "tags_to_spans"]
