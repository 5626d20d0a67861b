"""Answers to the lines of a file, as text or JSON, with where the model looked."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from elman.cli.decoding_options import DecodingOptions
from elman.cli.model_args import chunks
from elman.cli.output_file import TABLES, AnswerOptions, open_output
from elman.cli.table_output import TableOptions, answer_table
from elman.cli.terminal import say
from elman.cli.tree_output import write_tree
from elman.errors import ConfigError

if TYPE_CHECKING:
    from elman.tasks.base import PredictOptions, Task
    from elman.tasks.results import Alignment, Answer

T = TypeVar("T")

CHUNK = 512  # lines that are answered together


def print_answers(
    model: Task, file: str, decoding: DecodingOptions, output: AnswerOptions, *, name: str, **options: Any
) -> None:
    """Write an answer to each line of a file or row of a table; options are those of ``predict_options``."""
    asked = predict_options(file, decoding, **options)
    table = find_table(model, file, options["format"], output)
    if table is None and output.text:
        raise ConfigError("--text names a column, but lines have none: say by --format which table FILE is")
    if table is None:
        print_lines(model, file, asked, decoding, output.out, name=name)
        return
    if asked.align or asked.trees:
        raise ConfigError(
            "--attention, --show-attention and --beam-tree are for lines of text, not for a table"
        )
    answer_table(model, file, asked, TableOptions(table, output.out, output.text))


def find_table(model: Task, file: str, format: str | None, output: AnswerOptions) -> str | None:
    """As which table a file is read: as ``format`` or its ending says; None: line by line.

    Lines that are to become a table are one of a single column.
    """
    from elman.text.tables import table_format

    if format in TABLES:
        return format
    if format is None and file != "-" and (found := table_format(file)):
        return found
    texts = format == "raw" or "format" not in model.predict_options  # lines of a tagger are words
    if texts and output.out and table_format(str(output.out)):
        return "lines" if len(model.text_columns) == 1 else "tsv"
    return None


def print_lines(
    model: Task, file: str, asked: PredictOptions, decoding: DecodingOptions, out: Path | None, *, name: str
) -> None:
    """Write an answer to each line of a file; ``name`` is the model's in the headings of pictures."""
    some = asked.chunks
    asked = asked._replace(chunks=lambda lines: some(note_header(model, file, lines)))
    with open_output(out, file) as stream:
        for number, answer in enumerate(model.predict_file(file, asked), 1):
            _draw(answer, decoding.given, number, name)
            shown = answer.alignment if "show_attention" in decoding.given else None
            stream.write(_format(answer, shown, as_json=asked.as_json))
            if out is None:  # who waits at a pipe gets it now
                stream.flush()


def predict_options(
    file: str, decoding: DecodingOptions, *, device: str, line_buffered: bool, **options: Any
) -> PredictOptions:
    """What a task is asked for: some lines of the file at a time."""
    from elman.tasks.base import PredictOptions

    some = partial(chunks, file=file, most=CHUNK, line_buffered=line_buffered)
    return PredictOptions(
        some,
        n_best=decoding.given.get("n_best", 1),
        decoding=decoding.overrides,
        others=decoding.others(device),
        trees="beam_tree" in decoding.given,
        align=bool({"attention", "show_attention"} & decoding.given.keys()),
        **options,
    )


def note_header(model: Task, file: str, lines: Iterable[T]) -> Iterator[T]:
    """The lines; says so where the first one looks like the header of a table."""
    from elman.tasks.table_answers import wanted_columns
    from elman.text.tables.column_names import names_columns
    from elman.text.tables.sniffing import DELIMITERS

    for number, line in enumerate(lines):
        if number == 0 and isinstance(line, str) and "\n" not in line:
            header = (line.split(d) for d in DELIMITERS if d in line)
            if any(names_columns(cells, wanted_columns(model)) for cells in header):
                name = "standard input" if file == "-" else file
                say(
                    f"{name} is read as lines of text, but begins like a table: --format csv (or tsv) reads one"
                )
        yield line


def _format(answer: Answer, shown: Alignment | None, *, as_json: bool) -> bytes:
    """The bytes of an answer, a line of text or JSON, with where the model looked."""
    from elman.inspect.alignment import show_alignment

    if as_json:
        looked = {"attention": shown._asdict() | {"weights": shown.weights.tolist()}} if shown else {}
        return f"{json.dumps({**answer.record, **looked}, ensure_ascii=False)}\n".encode()
    if isinstance(answer.line, bytes):
        return answer.line
    drawn = f"{show_alignment(shown.weights.numpy(), shown.source, shown.target)}\n\n" if shown else ""
    line = answer.line.replace("\r", "\\r").replace("\n", "\\n")  # a line in, a line out
    return f"{line}\n{drawn}".encode()


def _draw(answer: Answer, given: Mapping[str, Any], number: int, model: str) -> None:
    """The pictures of one answer that were asked for."""
    from elman.inspect.alignment import plot_alignment
    from elman.inspect.plots import describe_subject

    about = describe_subject(model, answer.record.get("text", ""))
    if answer.tree:
        write_tree(answer.tree, given["beam_tree"], about=about, number=number)
    if not (alignment := answer.alignment) or "attention" not in given:
        return
    path = given["attention"]
    if number > 1:
        path = path.with_stem(f"{path.stem}-{number}")
    try:
        plot_alignment(alignment.weights.numpy(), alignment.source, alignment.target, path, about=about)
    except OSError as error:
        raise ConfigError(f"--attention: {path} cannot be written ({error.strerror})") from None
    say(f"attention of line {number}: {path}")
