"""Sequence to sequence: a text is read, another is written."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import fields, replace
from pathlib import Path
from typing import Any, Literal

import torch

from elman.argument_checks import check_arguments, check_models
from elman.errors import ConfigError, DataError
from elman.layers.embedding import Pretrained, PretrainedEmbedding
from elman.layers.weight_transfer import copy_weights
from elman.ranges import BeamWidth, PositiveInt
from elman.shapes import Tensor
from elman.tasks.base import PredictOptions, Progress, Task, TaskDefaults
from elman.tasks.baseline_result import BaselineResult
from elman.tasks.building_limit import limit_to_memory
from elman.tasks.data_facts import DataFacts
from elman.tasks.growth import Growth
from elman.tasks.judgement import Judgement
from elman.tasks.results import Alignment, Answer, CardInfo, Report, rank_columns
from elman.tasks.seq2seq import SPEC
from elman.tasks.seq2seq.config import ATTENDING, Seq2SeqConfig
from elman.tasks.seq2seq.data import (
    EncodedPair,
    Seq2SeqDataConfig,
    Seq2SeqDataset,
    Seq2SeqExample,
    TokenizerPairConfig,
    join_features,
    read_examples,
    unseen,
)
from elman.tasks.seq2seq.evaluation import score_answers, write_answers
from elman.tasks.seq2seq.explain import align, trace
from elman.tasks.seq2seq.judged_answers import judge_answers
from elman.tasks.seq2seq.loss import loss
from elman.tasks.seq2seq.network import Seq2SeqNetwork
from elman.tasks.seq2seq.search import DecodingConfig, Seq2SeqBatch
from elman.tasks.seq2seq.search_tree import search_tree
from elman.tasks.seq2seq.seq2seq_baseline import judge_lookups
from elman.tasks.seq2seq.seq2seq_blueprint import list_seq2seq_parts
from elman.tasks.seq2seq.sequence import Seq2SeqSequenceModel
from elman.tasks.seq2seq.target_facts import measure_targets
from elman.tasks.seq2seq.tokenizer_pair import TokenizerPair
from elman.tasks.seq2seq.translation import Translation, attention_weights, translate_rows
from elman.text.arguments import check_text, check_texts
from elman.text.batching import pad
from elman.text.subword_tokenizer import SUBWORD_KINDS
from elman.text.vectors import read_vectors

__all__ = [
    "Alignment",
    "DecodingConfig",
    "Seq2Seq",
    "Seq2SeqConfig",
    "Seq2SeqDataConfig",
    "Seq2SeqDataset",
    "Seq2SeqExample",
    "Seq2SeqNetwork",
    "TokenizerPairConfig",
    "Translation",
    "read_examples",
]


SEARCH_OPTIONS = frozenset(f.name for f in fields(DecodingConfig)) - {"narrow", "n_best"} | {"others"}


class Seq2Seq(Task[tuple[str, str] | Mapping[str, Any]]):
    """Texts to texts. Make one with ``from_examples``, or load one from a model folder."""

    spec = SPEC
    defaults = TaskDefaults(
        Seq2SeqDataConfig(),
        TokenizerPairConfig(),
        Seq2SeqConfig(),
        {"lr": 3e-3, "epochs": 20, "patience": 5, "ema_decay": 0.99},
    )
    unit = "tokens"
    noun = "pairs"
    text_columns = ("source",)
    batches_per_epoch = 200
    predict_options = SEARCH_OPTIONS | {"n_best", "attention", "show_attention", "beam_tree"}
    evaluate_options = SEARCH_OPTIONS
    read = staticmethod(read_examples)
    trace = trace
    blueprint = list_seq2seq_parts

    config: Seq2SeqConfig
    net: Seq2SeqNetwork

    def __init__(
        self, config: Seq2SeqConfig, tokenizers: TokenizerPair, vectors: Pretrained | None = None
    ) -> None:
        self.config, self.tokenizers = config, tokenizers
        sizes = len(tokenizers.source.items), len(tokenizers.target.items)
        with limit_to_memory():
            self.net = Seq2SeqNetwork(config, sizes, vectors)

    @property
    def table_columns(self) -> tuple[str, ...]:
        return ("source", "features") if self.record and self.record.data.features else self.text_columns

    @property
    def metric(self) -> str:
        return self.config.metric

    @property
    def best(self) -> Literal["max", "min"]:
        return "min" if self.metric in ("edit_rate", "nats_per_token") else "max"

    @classmethod
    def divide(
        cls, examples: list[Seq2SeqExample], data: Seq2SeqDataConfig
    ) -> tuple[list[Seq2SeqExample], list[Seq2SeqExample]]:
        """Of grouped pairs, only sources that are not trained on are validated on."""
        training, held = super().divide(examples, data)
        return training, unseen(held, training) if data.multi_reference else held

    @classmethod
    def split_fold(
        cls, data: Seq2SeqDataConfig
    ) -> tuple[list[Seq2SeqExample], list[Seq2SeqExample], list[Seq2SeqExample]]:
        training, held, fold = super().split_fold(data)
        return training, held, unseen(fold, training) if data.multi_reference else fold

    @classmethod
    def content(cls, example: Seq2SeqExample) -> str:
        """The source: what has two answers is asked on one side only."""
        return example.source

    @classmethod
    def measure(cls, examples: Sequence[Seq2SeqExample], tokens: TokenizerPairConfig) -> DataFacts:
        """The words are those of the sources."""
        read = super().measure(examples, tokens.source)
        return replace(read, **measure_targets(examples), target_kind=tokens.target.kind)

    @classmethod
    def check_tokens(cls, config: Seq2SeqConfig, tokens: TokenizerPairConfig) -> None:
        if config.shared and not tokens.joint:
            raise ConfigError("shared is one embedding for both sides: set tokens.joint to true")
        pieces = {tokens.source.kind, tokens.target.kind} & {*SUBWORD_KINDS}
        if (config.copying or config.replace_unk) and pieces:
            raise ConfigError(
                "copying and replace_unk are for words and characters, not for subwords: set the kind of both "
                "sides' tokens to words or chars"
            )

    @classmethod
    def check_objective(cls, config: Seq2SeqConfig, objective: str) -> None:
        if config.coverage and objective == "scheduled":
            raise ConfigError(
                "model.coverage is for tokens that are read at once, which 'scheduled' ones are not: "
                "set it to 0, or objective.kind to 'likelihood'"
            )
        if config.members > 1 and objective != "likelihood":
            raise ConfigError(f"objective {objective!r} is for one network: set model.members to 1")

    @classmethod
    def from_examples(
        cls, config: Seq2SeqConfig, tokens: TokenizerPairConfig, examples: Sequence[Seq2SeqExample]
    ) -> Seq2Seq:
        cls.check_tokens(config, tokens)
        tokenizers = TokenizerPair.learn(tokens, examples)
        if not config.vectors:
            return cls(config, tokenizers)
        found = read_vectors(config.vectors, tokenizers.source.items)
        matrix, known = torch.from_numpy(found.matrix), torch.from_numpy(found.found)
        return cls(config, tokenizers, Pretrained(matrix, known, torch.ones_like(known)))

    @classmethod
    def from_folder(cls, config: Seq2SeqConfig, folder: Path, weights: Mapping[str, Tensor]) -> Seq2Seq:
        if not config.vectors:
            return cls(config, TokenizerPair.load(folder))
        own, given, trained = (weights[f"source.{n}"] for n in ("own", "given", "trained"))
        return cls(config, TokenizerPair.load(folder), Pretrained.like(own, given, trained))

    def grow(self, tokens: TokenizerPairConfig, examples: Sequence[Seq2SeqExample]) -> tuple[Seq2Seq, Growth]:
        tokenizers, growth = self.tokenizers.grow(tokens, examples)
        if not any(growth.tokens.values()):
            return self, growth
        reads, vectors, known = self.net.reads, None, len(self.tokenizers.source.items)
        if isinstance(reads, PretrainedEmbedding):
            vectors = reads.shape().extend(len(tokenizers.source.items) - known, at=known)
        large = Seq2Seq(self.config, tokenizers, vectors)
        copy_weights(self.net, large.net)
        return large, growth

    def reuse_vocab(self, folder: Path) -> None:
        self.tokenizers = self.tokenizers.reuse(folder)

    def save_vocab(self, folder: Path) -> None:
        self.tokenizers.save(folder)

    def encode(self, examples: Iterable[Seq2SeqExample]) -> Seq2SeqDataset:
        pairs = list(examples)
        return Seq2SeqDataset([self.encode_pair(e.source, e.targets[0]) for e in pairs], pairs)

    def encode_valid(self, data: Seq2SeqDataConfig, examples: Sequence[Seq2SeqExample]) -> Seq2SeqDataset:
        """At most ``eval_examples`` of them, spread over all: to write takes time."""
        count = data.eval_examples
        if 0 < count < len(examples):
            examples = [examples[i * len(examples) // count] for i in range(count)]
        return self.encode(examples)

    def build_batches(self, dataset: Seq2SeqDataset, data: Seq2SeqDataConfig, seed: int) -> Any:
        """Pairs that are not too long."""
        kept = dataset.within(data.max_tokens)
        if not kept:
            raise DataError(
                f"{data.train}: every pair has more than {data.max_tokens} tokens on a side; "
                "raise data.max_tokens"
            )
        return super().build_batches(kept, data, seed)

    @classmethod
    def largest_batch(cls, batches: Any) -> tuple[int, int]:
        """Each matrix reads one side of the pairs."""
        tokens, longest = batches.largest
        return tokens // 2, longest

    def encode_pair(self, source: str, target: str = "") -> EncodedPair:
        """A pair as numbers, with what can be copied where the model copies."""
        both = self.tokenizers
        return (both.encode_copying if self.config.copying else both.encode)(source, target)

    def collate(self, rows: Sequence[EncodedPair]) -> Seq2SeqBatch:
        """Rows side by side where the network is."""
        device, sides = self.device, zip(*((row.source, row.target, row.copies) for row in rows), strict=True)
        padded = ([part.to(device, non_blocking=True) for part in pad(side)] for side in sides)
        (source, mask), (target, target_mask), (copies, _) = padded
        unknown = max(len(row.unknown) for row in rows)
        return Seq2SeqBatch(source, mask, target, target_mask, copies, unknown)

    def loss(self, batch: Seq2SeqDataset, progress: float) -> Tensor:
        return loss(self.net, self.config, self.collate(batch.rows))

    def weight(self, batch: Seq2SeqDataset) -> float:
        return float(sum(len(row.target) for row in batch.rows))

    @property
    def decoding_config(self) -> DecodingConfig:
        """How the model writes by default; ``dataclasses.replace`` changes some of it."""
        m = self.config
        return DecodingConfig(beam=m.beam, length_penalty=m.length_penalty, max_tokens=m.max_tokens)

    def validate(self, data: Seq2SeqDataset) -> dict[str, float]:
        """The scores of greedy answers: quick, to choose weights by."""
        return self.evaluate_dataset(data, replace(self.decoding_config, beam=1))

    def evaluate_dataset(
        self, data: Seq2SeqDataset, config: DecodingConfig | None = None, others: Sequence[Seq2Seq] = ()
    ) -> dict[str, float]:
        """BLEU, chrF, exact answers and edits in percent, and what a token of a right answer costs."""
        found = translate_rows((self, *others), data.rows, config or self.decoding_config)
        return score_answers(self, data, [best[0].text for best in found])

    def baseline(self, training: Seq2SeqDataset, valid: Seq2SeqDataset, seconds: float) -> BaselineResult:
        return judge_lookups(self, training, valid, seconds)

    @check_arguments
    def translate(
        self,
        texts: Iterable[str],
        *,
        beam: BeamWidth | None = None,
        max_tokens: PositiveInt | None = None,
        config: DecodingConfig | None = None,
    ) -> list[str]:
        """An answer to each text; ``beam`` and ``max_tokens`` are those of the config, by name."""
        checked = check_texts(texts, "translate")
        found = self.translations(checked, beam=beam, max_tokens=max_tokens, config=config)
        return [best[0].text for best in found]

    @check_arguments
    def translations(
        self,
        texts: Iterable[str],
        *,
        beam: BeamWidth | None = None,
        n_best: BeamWidth | None = None,
        max_tokens: PositiveInt | None = None,
        config: DecodingConfig | None = None,
        others: Sequence[Seq2Seq] = (),
    ) -> list[list[Translation]]:
        """The ``n_best`` answers to each text, best first; with ``others``, models of the same tokens,
        the mean of all their probabilities decides. An empty text has an empty answer."""
        asked = {"beam": beam, "n_best": n_best, "max_tokens": max_tokens}
        changes: dict[str, Any] = {name: value for name, value in asked.items() if value is not None}
        config = replace(config or self.decoding_config, **changes)
        rows = [*map(self.encode_pair, check_texts(texts, "translations"))]
        return translate_rows((self, *check_models(others, Seq2Seq)), rows, config)

    def align(self, source: str, target: str) -> Alignment:
        """Where the decoder looks when it writes this answer to this text."""
        if self.config.decoder not in ATTENDING:
            raise ConfigError(f"this model has no attention to show: its decoder is {self.config.decoder!r}")
        source, target = check_text(source, "align"), check_text(target, "align")
        row, both = self.encode_pair(source, target), self.tokenizers
        tokens = [*both.target.tokens(target), "</s>"]
        return Alignment(both.source.tokens(source), tokens, attention_weights(self, row, row.target))

    def report(self, dataset: Seq2SeqDataset, progress: Progress, **options: Any) -> Report:
        return self.judge(dataset, progress, **options).report

    def judge(
        self, dataset: Seq2SeqDataset, progress: Progress, *, others: Sequence[Seq2Seq] = (), **decoding: Any
    ) -> Judgement:
        config = replace(self.decoding_config, **decoding)
        return judge_answers(self, dataset, write_answers(self, dataset, progress, config, others), others)

    def predict_rows(self, rows: Sequence[tuple[str, ...]], options: PredictOptions) -> Iterator[Answer]:
        """The answer to each text, or the best few with their scores; to a blank text a blank one."""
        texts = [*map(_join_row, rows)]
        common = {"beam": max(self.config.beam, options.n_best), "n_best": options.n_best}
        config = replace(self.decoding_config, **{**common, **options.decoding})
        asked = [text if text.strip() else "" for text in texts]  # blanks can be tokens, too
        found = self.translations(asked, config=config, others=options.others)
        for text, answers in zip(texts, found, strict=True):
            best, looked = answers[0], None
            scored = options.n_best > 1 and best.log_probs
            line = "\t".join(f"{one.text} {one.score:.4f}" for one in answers) if scored else best.text
            if options.align and best.log_probs:
                looked = align((self, *options.others), text, best.tokens)
            record = {"text": text, "answers": [a._asdict() for a in answers]}
            cells = [cell for a in answers for cell in (a.text, round(a.score, 4))]
            traced = options.trees and best.log_probs
            tree = search_tree((self, *options.others), text, config) if traced else None
            yield Answer(line, record, looked, cells, tree)

    def answer_columns(self, options: PredictOptions) -> dict[str, type]:
        return rank_columns({"prediction": str, "score": float}, options.n_best)

    def sequence_model(self) -> Seq2SeqSequenceModel:
        if self.config.members > 1:
            raise ConfigError("objectives and exposure are for one network: set model.members to 1")
        return Seq2SeqSequenceModel(self)

    def card_info(self) -> CardInfo:
        m = self.config
        sizes = [f"{len(side.items):,}" for side in (self.tokenizers.source, self.tokenizers.target)]
        seen = f"attention ({m.decoder}, {m.score})" if m.decoder in ATTENDING else m.decoder
        facts = [
            f"tokens: {sizes[0]} to read, {sizes[1]} to write{', joint' * self.tokenizers.joint}",
            f"network: {m.encoder} encoder of {m.reading} layers, {m.cell} decoder of {m.layers}, "
            f"{m.hidden} units; decoder: {seen}",
        ]
        return CardInfo("A sequence-to-sequence model", 'translate(["some text"])', facts)


def _join_row(row: tuple[str, ...]) -> str:
    """The text of a row, with the features of a second cell."""
    text, *features = row
    return join_features(text, *features) if features else text
