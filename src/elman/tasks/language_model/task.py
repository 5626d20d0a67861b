"""Language models: how likely is a text, and what comes next."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from math import exp, inf, log
from pathlib import Path
from typing import Any, Literal

import numpy as np
import torch

from elman.errors import ConfigError, ModelError
from elman.files.model_files import VOCABULARIES, remove_files
from elman.generation.cache import Cache
from elman.generation.dynamic_eval import DynamicEval
from elman.generation.mixin import GenerationMixin
from elman.generation.scoring import StreamingNLL
from elman.layers import graph_replay
from elman.layers.embedding import Pretrained, PretrainedEmbedding
from elman.layers.ngram_mixture import NGramMixture
from elman.layers.softmax import Softmax
from elman.layers.weight_transfer import copy_weights
from elman.number_format import format_number
from elman.shapes import Tensor
from elman.state import eval_mode
from elman.tasks.base import Progress, Task, TaskDefaults
from elman.tasks.baseline_result import BaselineResult
from elman.tasks.building_limit import limit_to_memory
from elman.tasks.config import TokenizerConfig
from elman.tasks.data_facts import DataFacts
from elman.tasks.growth import Growth, new_tokens, token_unit
from elman.tasks.judgement import Judgement
from elman.tasks.language_model import SPEC
from elman.tasks.language_model.config import LanguageModelConfig
from elman.tasks.language_model.corpus import TextCorpus, read_corpus
from elman.tasks.language_model.data import (
    LanguageModelDataConfig,
    LanguageModelDataset,
    count_tokens,
    encode_lines,
    ends_lines_with_newline,
    learn_tokenizer,
)
from elman.tasks.language_model.explain import trace
from elman.tasks.language_model.judged_lines import judge_lines
from elman.tasks.language_model.lm_baseline import judge_ngrams
from elman.tasks.language_model.lm_blueprint import list_lm_parts, write_sample
from elman.tasks.language_model.network import BPTTBatch, BPTTLoss, LanguageModelNetwork
from elman.tasks.language_model.sequence import LanguageModelSequenceModel
from elman.tasks.language_model.text_ngrams import count_ngrams_of, load_ngrams, mix_best
from elman.tasks.results import CardInfo, Report
from elman.text.arguments import check_texts
from elman.text.batching import BPTTBatches, BPTTWindow, BPTTWindows
from elman.text.tokenizer import Tokenizer, load_tokenizer
from elman.text.vectors import read_vectors
from elman.text.vocab import EOS

__all__ = [
    "BPTTBatch",
    "BPTTLoss",
    "LanguageModel",
    "LanguageModelConfig",
    "LanguageModelDataConfig",
    "LanguageModelDataset",
    "LanguageModelNetwork",
    "TextCorpus",
    "read_corpus",
]


class LanguageModel(GenerationMixin, Task[str]):
    """The probability of texts. Make one with ``from_examples``, or load one from a model folder.

    A line ends in `</s>`; among characters and bytes it ends in a newline, a token like others. What ends a
    line also stands before the first token of a text (``end``): there it was seen in training, while `<s>`, and
    among characters `</s>`, never was. So p(text) = p(w_1 … w_n end | end).
    """

    spec = SPEC
    defaults = TaskDefaults(
        LanguageModelDataConfig(),
        TokenizerConfig(),
        LanguageModelConfig(),
        {"lr": 4e-3, "weight_decay": 0.1, "epochs": 10, "grad_clip": 0.5},
    )
    unit = "tokens"
    noun = "lines"
    predict_options = frozenset()
    evaluate_options = frozenset({"cache", "dynamic"})
    can_be_wrong = False
    search_holdout = 0.1
    metric = "perplexity"
    best: Literal["max", "min"] = "min"
    read = staticmethod(read_corpus)
    trace = trace
    blueprint = list_lm_parts
    sample_text = write_sample

    config: LanguageModelConfig
    net: LanguageModelNetwork

    def __init__(
        self, config: LanguageModelConfig, tokenizer: Tokenizer, vectors: Pretrained | None = None
    ) -> None:
        self.config, self.tokenizer = config, tokenizer
        with limit_to_memory():
            self.net = LanguageModelNetwork(config, len(tokenizer.items), vectors)
        self.bptt_loss = BPTTLoss(self.net, config)
        self.counted: list[NGramMixture] = []  # n-grams of a run, beside the network that it trains

    @classmethod
    def split(cls, data: LanguageModelDataConfig) -> tuple[TextCorpus, TextCorpus | None]:
        """What to train on and what to validate on: without a file for it, the end of the text."""
        corpus = read_corpus(data, data.train, train=True)
        if data.valid:
            return corpus, read_corpus(data, data.valid)
        return corpus.split(data.holdout) if data.holdout else (corpus, None)

    @classmethod
    def split_fold(cls, data: LanguageModelDataConfig) -> tuple[TextCorpus, TextCorpus | None, TextCorpus]:
        """A fold is a stretch of the text; without a file to validate on, the end of the rest is held out."""
        others, fold = read_corpus(data, data.train, train=True).take_fold(data.folds, data.fold)
        if data.valid:
            return others, read_corpus(data, data.valid), fold
        return *(others.split(data.holdout) if data.holdout else (others, None)), fold

    @classmethod
    def join(cls, training: TextCorpus, held: TextCorpus) -> TextCorpus:
        return training.join(held)

    @classmethod
    def take_share(cls, examples: TextCorpus, share: float) -> TextCorpus:
        """The beginning of the text. The vocabulary is that of all of it: perplexities stay comparable."""
        return replace(examples, share=share)

    @classmethod
    def read_test(cls, data: LanguageModelDataConfig) -> TextCorpus | None:
        return read_corpus(data, data.test) if data.test else None

    @classmethod
    def content(cls, example: str) -> str:
        return example

    @classmethod
    def measure(cls, examples: TextCorpus, tokens: TokenizerConfig) -> DataFacts:
        """Of a large text a sample is counted."""
        return replace(examples.measure(), noun=cls.noun, running=True, kind=tokens.kind)

    @classmethod
    def warn_of_overlap(cls, training: TextCorpus, valid: TextCorpus | None, test: TextCorpus | None) -> None:
        """Say so where a file is trained on, too: of a large corpus no more is looked at."""
        for name, part in (("validation", valid), ("test", test)):
            if part is not None and (shared := training.same_files(part)):
                warnings.warn(
                    f"{shared[0]}: the {name} text is trained on, too: its scores are too good", stacklevel=2
                )

    @classmethod
    def with_progress(cls, examples: TextCorpus | None, report: Progress) -> TextCorpus | None:
        return None if examples is None else replace(examples, report=report)

    @classmethod
    def check_objective(cls, config: LanguageModelConfig, objective: str) -> None:
        for name in ("activation_penalty", "temporal_penalty"):
            if getattr(config, name) and objective in ("scheduled", "mixer"):
                raise ConfigError(
                    f"model.{name} is for windows that are read at once, which those of {objective!r} are "
                    "not: set it to 0, or objective.kind to 'likelihood'"
                )

    @classmethod
    def from_examples(
        cls, config: LanguageModelConfig, tokens: TokenizerConfig, examples: TextCorpus | Iterable[str]
    ) -> LanguageModel:
        tokenizer = (
            examples.learn(tokens) if isinstance(examples, TextCorpus) else learn_tokenizer(examples, tokens)
        )
        if not config.vectors:
            return cls(config, tokenizer)
        found = read_vectors(config.vectors, tokenizer.items)
        matrix, known = torch.from_numpy(found.matrix), torch.from_numpy(found.found)
        trained = torch.full_like(known, not config.freeze_vectors)
        return cls(config, tokenizer, Pretrained(matrix, known, trained))

    @classmethod
    def from_folder(
        cls, config: LanguageModelConfig, folder: Path, weights: Mapping[str, Tensor]
    ) -> LanguageModel:
        tokenizer = load_tokenizer(folder)
        model = cls(config, tokenizer, cls._stored_vectors(config, weights, len(tokenizer.items)))
        model.net.ngrams = load_ngrams(weights, len(tokenizer.items))
        return model

    @staticmethod
    def _stored_vectors(
        config: LanguageModelConfig, weights: Mapping[str, Tensor], tokens: int
    ) -> Pretrained | None:
        """What an embedding of these weights is made from, as far as shapes go."""
        if not config.vectors:
            return None
        if config.freeze_vectors:
            own, given, trained = (weights[f"embed.{n}"] for n in ("own", "given", "trained"))
            return Pretrained.like(own, given, trained)
        nothing = torch.zeros(tokens, dtype=torch.bool)
        return Pretrained(torch.zeros_like(weights["embed.E.weight"]), nothing, ~nothing)

    def grow(
        self, tokens: TokenizerConfig, examples: TextCorpus | Iterable[str]
    ) -> tuple[LanguageModel, Growth]:
        known = self.tokenizer
        if known.level in ("subword", "byte"):  # these spell every text: no need to read it
            return self, Growth()
        counts = examples.count(known) if isinstance(examples, TextCorpus) else count_tokens(examples, known)
        fixed, size = self.config.fixed_vocabulary, len(known.items)
        new = new_tokens(known, tokens, counts, known=size, fixed=fixed)
        growth = Growth(tokens={token_unit(known): len(new.taken)}, left=new.left)
        if not new.taken:
            return self, growth
        large = LanguageModel(self.config, known.extend(new.taken), self._longer_vectors(len(new.taken)))
        ngrams, self.net.ngrams = self.net.ngrams, None
        copy_weights(self.net, large.net)
        large.net.ngrams = ngrams and ngrams.widen(large.net.vocabulary)
        return large, growth

    def _longer_vectors(self, further: int) -> Pretrained | None:
        """What an embedding with so many more rows is made from, as far as shapes go."""
        embed = self.net.embed
        if isinstance(embed, PretrainedEmbedding):
            return embed.shape().extend(further, at=self.net.vocabulary)
        if not self.config.vectors:
            return None
        nothing = torch.zeros(self.net.vocabulary + further, dtype=torch.bool)
        return Pretrained(torch.zeros(len(nothing), embed.output_size), nothing, ~nothing)

    def reuse_vocab(self, folder: Path) -> None:
        stored = load_tokenizer(folder)
        if len(stored.items) != len(self.tokenizer.items):
            raise ModelError(f"{folder} was trained on other data: its vocabulary differs")
        self.tokenizer = stored

    def save_vocab(self, folder: Path) -> None:
        remove_files(folder, VOCABULARIES)  # of an earlier model
        self.tokenizer.save(folder)

    @property
    def end(self) -> int:
        """The token that ends a line, and stands before the first one."""
        return self.tokenizer.encode("\n")[0] if ends_lines_with_newline(self.tokenizer) else EOS

    @property
    def writes_passages(self) -> bool:
        """Whether ``elman generate`` writes over line ends unless told: characters, trained on running text."""
        return ends_lines_with_newline(self.tokenizer) and bool(self.record and self.record.data.train)

    def encode(self, examples: TextCorpus | Iterable[str]) -> LanguageModelDataset:
        """A text, or some lines, as numbers."""
        if isinstance(examples, TextCorpus):
            return examples.encode(self.tokenizer)
        return encode_lines(examples, self.tokenizer)

    def encode_valid(
        self, data: LanguageModelDataConfig, examples: TextCorpus | None
    ) -> LanguageModelDataset | None:
        """What is validated on, in a few streams."""
        if examples is None:
            return None
        found = replace(self.encode(examples), head=data.eval_tokens)
        return replace(found, rows=_count_streams(found, data.eval_streams))

    def fit_statistics(self, dataset: LanguageModelDataset) -> None:
        """Count the n-grams of the training text, and its tokens, where these settle how a softmax begins."""
        self.counted = count_ngrams_of(self, dataset)
        if self.config.frequency_bias and self.record is None and isinstance(self.net.softmax, Softmax):
            counts = np.bincount(np.asarray(dataset.ids), minlength=self.net.vocabulary)
            self.net.softmax.begin_with(torch.from_numpy(counts))

    def validate(self, dataset: LanguageModelDataset) -> dict[str, float]:
        """The scores of the beginning of the text, or of all of it, with the n-grams where there are any."""
        head = dataset.take_head()
        head = replace(head, rows=_count_streams(head, dataset.rows))
        if not self.counted:
            return self.evaluate_dataset(head)
        total = mix_best(self, self.counted, head)
        self.net.ngrams = None
        return self.score_costs(head, total)

    def calibrate(self, dataset: LanguageModelDataset | None) -> dict[str, float]:
        """Mix in the n-grams for good. The scores are of all the text, where only its beginning was read."""
        counted, self.counted = self.counted, []
        if not counted:
            return self.evaluate_dataset(dataset) if dataset is not None and dataset.head else {}
        total = None if dataset is None else mix_best(self, counted, dataset)
        self.net.ngrams = self.net.ngrams or counted[-1]
        self.counted = [one for one in counted[-1:] if one is self.net.ngrams]
        return {} if dataset is None or total is None else self.score_costs(dataset, total)

    def learn_held_out(self, training: TextCorpus, held: TextCorpus | None) -> None:
        """Count the n-grams of all of the text; how much they count stays as it was chosen."""
        if self.counted and held is not None:
            (chosen,) = self.counted
            *_, self.net.ngrams = count_ngrams_of(self, self.encode(self.join(training, held)))
            self.net.ngrams.share.copy_(chosen.share)

    @contextmanager
    def training_anew(self) -> Iterator[None]:
        """While the network is trained its n-grams stand beside it."""
        ngrams, self.net.ngrams = self.net.ngrams, None
        try:
            yield
        finally:
            self.net.ngrams = ngrams

    def build_batches(
        self, dataset: LanguageModelDataset, data: LanguageModelDataConfig, seed: int
    ) -> BPTTBatches[BPTTBatch]:
        streams = data.streams or min(32, max(1, len(dataset) // (data.bptt * self.batches_per_epoch)))
        lengths = data.bptt, data.bptt_std
        windows = BPTTWindows(dataset.ids, streams, *lengths, data.random_start, seed, first=self.end)
        return BPTTBatches(windows, self.collate)

    def dataset_stats(self, dataset: LanguageModelDataset) -> dict[str, int]:
        return {"tokens": len(dataset)}

    @property
    def training_loss(self) -> BPTTLoss:
        return self.bptt_loss

    def sequence_model(self) -> LanguageModelSequenceModel:
        return LanguageModelSequenceModel(self)

    def loss(self, batch: BPTTBatch, progress: float) -> Tensor:
        """The loss of a window by itself; in training ``bptt_loss`` carries the state over."""
        return self.bptt_loss(batch, progress, self.bptt_loss.begin(batch))[0]

    def weight(self, batch: BPTTBatch) -> float:
        return batch.weight

    def collate(self, window: BPTTWindow) -> BPTTBatch:
        """A window of streams where the network is."""
        ids, targets, mask = (torch.from_numpy(part).to(self.device, non_blocking=True) for part in window)
        return BPTTBatch(ids, targets, mask, float(window.mask.sum()))

    def evaluate_dataset(
        self, data: LanguageModelDataset, *, cache: Cache | None = None, dynamic: DynamicEval | None = None
    ) -> dict[str, float]:
        """What a text costs, read from its beginning to its end in as many streams as ``data.rows``."""
        return self.score_costs(data, self.nll(data, cache=cache, dynamic=dynamic))

    def baseline(
        self, training: LanguageModelDataset, valid: LanguageModelDataset, seconds: float
    ) -> BaselineResult:
        return judge_ngrams(self, training, valid, seconds)

    def score_costs(self, data: LanguageModelDataset, total: float) -> dict[str, float]:
        """The scores of a text that costs so many nats."""
        mean = total / len(data)
        perplexity = exp(mean) if mean < 700 else inf
        scores = {"perplexity": perplexity, "nats_per_token": mean, "bits_per_token": mean / log(2)}
        if data.characters is not None:
            scores["bits_per_character"] = total / log(2) / data.characters
        return {**scores, "tokens": len(data)}

    def nll(
        self,
        data: LanguageModelDataset,
        *,
        cache: Cache | None = None,
        dynamic: DynamicEval | None = None,
        window: int = 4096,
    ) -> float:
        """-log p of a text, the state carried from each window of so many tokens to the next."""
        costs = self.token_costs(data, cache=cache, dynamic=dynamic, window=window)
        return sum((float(some.sum()) for some in costs), 0.0)

    def token_costs(
        self,
        data: LanguageModelDataset,
        *,
        cache: Cache | None = None,
        dynamic: DynamicEval | None = None,
        window: int = 4096,
    ) -> Iterator[Tensor]:
        """-log p of the tokens of one window after the other."""
        window = min(window, 1024) if cache else window  # the cache compares each token with each
        replayed = not dynamic and graph_replay.worthwhile(self.net, len(data) // data.rows)
        most = min(graph_replay.WINDOW, window // data.rows) if replayed else window // data.rows
        steps = dynamic.steps if dynamic else _even(data, max(1, most))
        with torch.no_grad(), eval_mode(self.net) as net:
            read = graph_replay.GraphReplay(net.read) if replayed else None
            costs = StreamingNLL(net, data.rows, cache=cache, dynamic=dynamic, read=read)
            for batch in map(self.collate, BPTTWindows(data.ids, data.rows, steps, first=self.end)()):
                yield costs(batch.ids, batch.targets, batch.mask).double()[batch.mask]

    def perplexity(self, lines: Iterable[str]) -> float:
        """exp of what a token costs on average, ends of lines included."""
        return self.evaluate_dataset(self.encode(check_texts(lines, "perplexity", "lines")))["perplexity"]

    def report(self, dataset: LanguageModelDataset, progress: Progress, **options: Any) -> Report:
        return Report(self.evaluate_dataset(dataset, **options), digits=4)

    def judge(self, dataset: LanguageModelDataset, progress: Progress, **options: Any) -> Judgement:
        return judge_lines(self, dataset, **options)

    def card_info(self) -> CardInfo:
        m, sizes = self.config, "-".join(map(str, self.config.widths))
        cell = f"{m.cell} after {m.mogrifier_rounds} rounds of gating" if m.mogrifier_rounds else m.cell
        facts = [
            f"tokens: {len(self.tokenizer.items):,}, {self.net.embed.output_size} features each",
            f"network: {cell}, layers of {sizes} units, {'tied ' * m.tied}{m.softmax} softmax"
            + f", {m.mixtures} of them mixed" * (m.mixtures > 1),
            *([f"n-grams: {self._describe_ngrams()}"] if self.net.ngrams else []),
        ]
        return CardInfo("A language model", 'perplexity(["some text"])', facts)

    def _describe_ngrams(self) -> str:
        assert self.net.ngrams
        counted, share = self.net.ngrams.ngrams, format_number(float(self.net.ngrams.share), 2)
        return (
            f"{counted.count:,} of 1 to {counted.order} tokens, Kneser-Ney; the network has the share {share}"
        )


def _count_streams(data: LanguageModelDataset, most: int) -> int:
    """Each stream begins without a past, which must not weigh much."""
    return min(most, max(1, len(data) // 2000))


def _even(data: LanguageModelDataset, most: int) -> int:
    """The length of windows of at most so many steps, as like in length as can be: the last is filled up."""
    longest = -(-len(data) // data.rows)
    return -(-longest // -(-longest // most))
