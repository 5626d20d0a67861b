"""From files to numbers: readers, tokenizers and vocabularies, pretrained vectors, batches.

Readers yield lazily and name file and line in every complaint. Only ``elman.text.batching`` imports torch.
"""

from elman.text.conll import Sentence, read_sentences
from elman.text.corpus_cache import CorpusCache, EncodedCorpus
from elman.text.files import read_lines, read_parallel
from elman.text.pre_tokenizer import PreTokenizer
from elman.text.spans import Span, convert_tags, detect_scheme, spans_to_tags, tags_to_spans
from elman.text.subword_tokenizer import SubwordTokenizer
from elman.text.tables import Table, TableReport, TableRow, find_columns, open_table, read_rows
from elman.text.tokenizer import TOKEN_KINDS, Tokenizer, build_tokenizer, load_tokenizer
from elman.text.vectors import WordVectors, read_vectors
from elman.text.vocab import Labels, Vocab
from elman.text.vocab_tokenizer import VocabTokenizer

__all__ = ["TOKEN_KINDS", "CorpusCache", "EncodedCorpus", "Labels", "PreTokenizer", "Sentence", "Span"]
__all__ += ["SubwordTokenizer", "Table", "TableReport", "TableRow", "Tokenizer", "Vocab", "VocabTokenizer"]
__all__ += ["WordVectors", "build_tokenizer", "convert_tags", "detect_scheme", "find_columns", "load_tokenizer"]
__all__ += ["open_table", "read_lines", "read_parallel", "read_rows", "read_sentences", "read_vectors"]
__all__ += ["spans_to_tags", "tags_to_spans"]
