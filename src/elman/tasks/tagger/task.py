"""Labelling: a tag for each word of a sentence."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, cast

import numpy as np
import torch

from elman.errors import ConfigError, DataError, ModelError, quote
from elman.layers.word_layer import WordBatch
from elman.shapes import Tensor
from elman.state import eval_mode
from elman.tasks.adversarial import adversarial_loss
from elman.tasks.base import Progress, Task, TaskDefaults
from elman.tasks.baseline_result import BaselineResult
from elman.tasks.building_limit import limit_to_memory
from elman.tasks.config import TokenizerConfig
from elman.tasks.data_facts import DataFacts, count_classes
from elman.tasks.encoder_pretraining import EncoderPretraining, PretrainingConfig
from elman.tasks.judgement import Judgement
from elman.tasks.results import CardInfo, Confidences, Report
from elman.tasks.tagger import SPEC
from elman.tasks.tagger.analysis import Tagging, analyse_sentences, best_tags
from elman.tasks.tagger.data import TaggerDataConfig, TaggerDataset, TaggerExample, read_examples
from elman.tasks.tagger.explain import trace
from elman.tasks.tagger.heads import Head
from elman.tasks.tagger.judged_tags import judge_tags
from elman.tasks.tagger.network import TaggerConfig, TaggerNetwork, output_of
from elman.tasks.tagger.output import tag_file
from elman.tasks.tagger.raw_text import TextSpan
from elman.tasks.tagger.scoring import Tags, add_quality, report_tags, score_tags
from elman.tasks.tagger.sequence import TaggerSequenceModel
from elman.tasks.tagger.tag_baseline import judge_tag_baselines
from elman.tasks.tagger.tag_calibration import (
    calibrate_heads,
    judge_columns,
    judge_sentences,
    load_calibrations,
    save_calibrations,
)
from elman.tasks.tagger.tagger_blueprint import list_tagger_parts
from elman.tasks.tagger.tagger_growth import add_tagger_words, grow_tagger, require_columns
from elman.tasks.tagger.tagset import UNKNOWN, Tagset
from elman.tasks.tagger.text_output import find_spans, name_cells, tag_texts
from elman.tasks.temperature import Calibration, mean_temperature
from elman.tasks.word_batch import WordForms, WordRow, collate
from elman.tasks.word_features import InputColumn, WordFeaturizer
from elman.text.arguments import check_sentences
from elman.text.batching import length_sorted_chunks, pad
from elman.text.json_io import read_json, write_json
from elman.text.length_limit import check_lengths, locate_long_texts
from elman.text.pre_tokenizer import PreTokenizer
from elman.text.vocab import Vocab
from elman.text.vocab_tokenizer import VocabTokenizer

__all__ = [
    "Tagger",
    "TaggerConfig",
    "TaggerDataConfig",
    "TaggerDataset",
    "TaggerExample",
    "TaggerNetwork",
    "Tagging",
    "TextSpan",
    "read_examples",
]


class Tagger(Task[tuple[Sequence[str], Sequence[str]] | Mapping[str, Any]]):
    """Sentences to tags. Make one with ``from_examples``, or load one from a model folder."""

    spec = SPEC
    defaults = TaskDefaults(
        TaggerDataConfig(),
        TokenizerConfig(lower=True, digits=True),
        TaggerConfig(),
        {"lr": 6e-3, "epochs": 12, "patience": 4, "ema_decay": 0.95},
        PretrainingConfig(),
    )
    unit = noun = "sentences"
    batches_per_epoch = 400
    predict_options = frozenset({"n_best", "format"})
    read = staticmethod(read_examples)
    predict_file = tag_file
    predict_rows = tag_texts
    answer_columns = name_cells
    spans = find_spans
    grow = grow_tagger
    add_words = add_tagger_words
    trace = trace
    blueprint = list_tagger_parts

    config: TaggerConfig
    net: TaggerNetwork

    def __init__(self, config: TaggerConfig, featurizer: WordFeaturizer, tagsets: Sequence[Tagset]) -> None:
        self.config, self.featurizer, self.tagsets = config, featurizer, tuple(tagsets)
        with limit_to_memory():
            self.net = TaggerNetwork(config, featurizer, tagsets)

    @property
    def metric(self) -> str:
        """F1 where tags mark spans, else accuracy; of several columns the mean of theirs."""
        return self.tagsets[0].metric if len(self.tagsets) == 1 else "mean"

    @classmethod
    def check_tokens(cls, config: TaggerConfig, tokens: TokenizerConfig) -> None:
        if tokens.kind not in ("words", "whitespace"):
            raise ConfigError(f"tokens.kind is {tokens.kind!r}; words are tagged: words or whitespace")

    @classmethod
    def check_objective(cls, config: TaggerConfig, objective: str) -> None:
        if config.adversarial and objective != "likelihood":
            raise ConfigError(
                f"model.adversarial is for tags that are given, which those of {objective!r} are not: set it "
                "to 0, or objective.kind to 'likelihood'"
            )

    @classmethod
    def from_examples(
        cls, config: TaggerConfig, tokens: TokenizerConfig, examples: Sequence[TaggerExample]
    ) -> Tagger:
        cls.check_tokens(config, tokens)
        words = [word for e in examples for word in e.words]
        pre_tokenizer = PreTokenizer(tokens.kind, tokens.lower, tokens.digits)
        normalized = map(pre_tokenizer.normalize, words)
        vocab = Vocab.build(normalized, min_count=tokens.min_count, size=tokens.size or None)
        featurizer = WordFeaturizer.learn(config, VocabTokenizer(pre_tokenizer, vocab), words)
        featurizer.inputs = tuple(
            InputColumn(name, Vocab.build(value for e in examples for value in e.inputs[name]))
            for name in examples[0].inputs
        )
        tagsets = [
            Tagset.learn(column, [e.tags[i] for e in examples], config.scheme)
            for i, column in enumerate(examples[0].columns)
        ]
        return cls(config, featurizer, tagsets)

    @classmethod
    def from_folder(cls, config: TaggerConfig, folder: Path, weights: Mapping[str, Tensor]) -> Tagger:
        task = cls(config, WordFeaturizer.load(config, folder, weights), _tagsets(folder))
        load_calibrations(task.heads, folder)
        return task

    def add_readers(self, sources: Mapping[bool, Any]) -> Tagger:
        return type(self)(self.config, self.featurizer.add_readers(sources), self.tagsets)

    def pretraining(self, texts: Iterable[str]) -> EncoderPretraining:
        return EncoderPretraining(self.featurizer, self.net, texts)

    def reuse_vocab(self, folder: Path) -> None:
        """Take the vocabulary that was stored, if it and the tags are of the same data."""
        if _tagsets(folder) != self.tagsets:
            raise ModelError(f"{folder} was trained on other data: its tags differ")
        self.featurizer.reuse_vocab(folder)

    def save_vocab(self, folder: Path) -> None:
        self.featurizer.save(folder)
        write_json(folder / "labels.json", [tagset.to_json() for tagset in self.tagsets])
        save_calibrations(self.heads, folder)

    @classmethod
    def content(cls, example: TaggerExample) -> str:
        return " ".join(example.words)

    @classmethod
    def measure(cls, examples: Sequence[TaggerExample], tokens: TokenizerConfig) -> DataFacts:
        """Its classes are the tags of the first column."""
        return replace(super().measure(examples, tokens), classes=count_classes(examples, lambda e: e.tags[0]))

    def encode(self, examples: Iterable[TaggerExample]) -> TaggerDataset:
        sentences = list(examples)
        inputs = [[*e.inputs.values()] for e in sentences] if self.featurizer.inputs else None
        with locate_long_texts([e.where for e in sentences]):
            rows, forms = self.featurizer.sentences((e.words for e in sentences), inputs)
            check_lengths(map(len, rows))
        tags = []
        for e in sentences:
            require_columns(e, len(self.tagsets))
            each = zip(self.tagsets, e.tags, strict=True)
            tags.append(np.stack([tagset.encode(column, e.where) for tagset, column in each]))
        return TaggerDataset(rows, forms, tags, sentences)

    def fit_statistics(self, data: TaggerDataset) -> None:
        """Refuse what cannot be learnt: a tag that is not among those of the model."""
        for tags, example in zip(data.tags, data.examples, strict=True):
            if (tags == UNKNOWN).any():
                column, place = np.argwhere(tags == UNKNOWN)[0]
                tag, word = example.tags[column][place], example.words[place]
                raise DataError(
                    f"{example.where}: the tag {quote(tag)} of word {place + 1}, {quote(word)}, is "
                    "none of those that the model was trained with"
                )

    def loss(self, batch: TaggerDataset, progress: float) -> Tensor:
        """Mean over sentences of -log p(tags | words), or of that a word.

        While training, ``adversarial`` asks for the same at words that are moved for the worst, too.
        """
        words = collate(batch.rows, batch.forms).to(self.device)
        xs, lengths = self.net.words(words), words.mask.sum(1).clamp(min=1)
        columns = zip(*batch.tags, strict=True)
        gold = [pad([tags.tolist() for tags in column]).ids.to(xs.device) for column in columns]

        def loss_at(xs: Tensor) -> Tensor:
            ys = self.net.read(xs, words.mask)
            each = zip(self.heads, gold, strict=True)
            total = torch.stack([head.loss(ys, tags, words.mask) for head, tags in each]).sum(0)
            return (total / lengths if self.config.loss == "mean" else total).mean()

        if self.config.adversarial and self.net.training:
            return adversarial_loss(self.net, xs, words.mask, self.config.adversarial, loss_at)
        return loss_at(xs)

    def validate(self, data: TaggerDataset) -> dict[str, float]:
        """Accuracy in percent, of unseen words too; precision, recall and F1 where tags mark spans."""
        return score_tags(self.featurizer, self.tagsets, data, self.predictions(data))

    def evaluate_dataset(self, data: TaggerDataset) -> dict[str, float]:
        """The same, and how good the probabilities of the tags are: NLL in nats a word, ECE in percent."""
        return dict(self.report(data, lambda *_: None).scores)

    def calibrate(self, dataset: TaggerDataset) -> dict[str, float]:
        """Choose the temperature of each column; the scores that the sentences have with it."""
        for head in self.heads:
            head.calibration = Calibration()
        if not len(dataset):
            return {}
        if self.config.calibrate:
            calibrate_heads(self, dataset)
        return self.evaluate_dataset(dataset)

    def baseline(self, training: TaggerDataset, valid: TaggerDataset, seconds: float) -> BaselineResult:
        return judge_tag_baselines(self, training, valid, seconds)

    def average_decision(self, others: Sequence[Any]) -> None:
        for i, head in enumerate(self.heads):
            head.calibration = mean_temperature([task.heads[i].calibration for task in (self, *others)])

    def confidences(self, dataset: TaggerDataset) -> Confidences:
        """How sure each tag of the first column is, and which are right."""
        return judge_columns(dataset, self._answer(dataset.rows, dataset.forms, judge_sentences))[0].confidences

    def predictions(self, data: TaggerDataset) -> Tags:
        """For each column and each sentence, the likeliest tags."""
        guesses = self._answer(data.rows, data.forms, best_tags)
        return [[tags[i] for tags in guesses] for i in range(len(self.tagsets))]

    def tag(self, sentences: Iterable[Sequence[str] | str]) -> list[list[str]]:
        """A tag for each word, of the first column; a text is cut into words."""
        words = map(self.split_words, check_sentences(sentences, "tag"))
        return [tags[0] for tags in self.tag_columns(words)]

    def split_words(self, sentence: Sequence[str] | str) -> Sequence[str]:
        """The words of a sentence."""
        return self.featurizer.tokenizer.split(sentence) if isinstance(sentence, str) else sentence

    def tag_columns(
        self, sentences: Iterable[Sequence[str] | str], inputs: Iterable[Sequence[Sequence[str]]] | None = None
    ) -> list[list[list[str]]]:
        """For each sentence and each column, a tag for each word; ``inputs`` is what else is read."""
        words = map(self.split_words, check_sentences(sentences, "tag_columns"))
        return self._answer(*self.featurizer.sentences(words, inputs), best_tags)

    def analyse(self, sentences: Sequence[Sequence[str] | str], *, n_best: int = 1) -> list[list[Tagging]]:
        """For each sentence and each column: tags and spans, how sure they are, and the next best."""
        words = map(self.split_words, check_sentences(sentences, "analyse"))
        return self.analyse_rows(*self.featurizer.sentences(words), n_best=n_best)

    def analyse_rows(
        self, rows: Sequence[WordRow], forms: WordForms, *, n_best: int = 1
    ) -> list[list[Tagging]]:
        """The same for sentences that are numbers already."""
        return self._answer(rows, forms, partial(analyse_sentences, n=n_best))

    @torch.no_grad()
    def _answer(
        self, rows: Sequence[WordRow], forms: WordForms, answer: Callable[..., Iterable[Any]]
    ) -> list[list[Any]]:
        """For each sentence and each column an answer; sentences of like length run together."""
        check_lengths(map(len, rows))
        result: list[list[Any]] = [[] for _ in rows]
        with eval_mode(self.net):
            for some in length_sorted_chunks([*map(len, rows)], max_rows=128, max_tokens=2**15):
                words, ys = self.read_words([rows[i] for i in some], forms)
                for tagset, head in zip(self.tagsets, self.heads, strict=True):
                    for i, found in zip(some, answer(tagset, head, ys, words.mask), strict=True):
                        result[i].append(found)
        return result

    @property
    def heads(self) -> list[Head]:
        """The output layer of each column."""
        return [cast(Head, head) for head in self.net.heads]

    def read_words(self, rows: Sequence[WordRow], forms: WordForms) -> tuple[WordBatch, Tensor]:
        """Sentences where the network is, and y_{1:n} of each."""
        words = collate(rows, forms).to(self.device)
        return words, self.net(words)

    def report(self, dataset: TaggerDataset, progress: Progress, **options: Any) -> Report:
        return self._report(dataset)[0]

    def judge(self, dataset: TaggerDataset, progress: Progress, **options: Any) -> Judgement:
        return judge_tags(self, dataset, *self._report(dataset))

    def _report(self, dataset: TaggerDataset) -> tuple[Report, Tags]:
        """The scores, and the tags that were guessed."""
        found = self._answer(dataset.rows, dataset.forms, judge_sentences)
        guesses = [[one[i].tags for one in found] for i in range(len(self.tagsets))]
        report = report_tags(self.featurizer, self.tagsets, dataset, guesses)
        judged = zip(self.tagsets, judge_columns(dataset, found), strict=True)
        return replace(report, scores=add_quality(report.scores, judged)), guesses

    def sequence_model(self) -> TaggerSequenceModel:
        return TaggerSequenceModel(self)

    def card_info(self) -> CardInfo:
        m = self.config
        facts = [
            f"column {t.column}: {len(t.labels)} tags, "
            + (f"spans in {t.written}, trained as {t.trained}, " if t.written else "")
            + f"output {output_of(m, t)}"
            for t in self.tagsets
        ]
        for tagset, head in zip(self.tagsets, self.heads, strict=True):
            facts += head.calibration.facts(f" of {tagset.column}")
        facts.append(f"network: {m.layers} × {m.cell}, {m.hidden} units")
        if self.featurizer.coverage:
            facts.append(f"pretrained vectors cover {self.featurizer.coverage}")
        return CardInfo("A tagger", 'tag([["some", "words"]])', facts)


def _tagsets(folder: Path) -> tuple[Tagset, ...]:
    path = folder / "labels.json"
    stored = read_json(path)
    if not isinstance(stored, list) or not stored:
        raise ModelError(f"{path}: the file is damaged, expected a list of columns")
    return tuple(Tagset.from_json(one, path) for one in stored)
