"""The command line. One file a verb; torch is imported inside the verbs that need it."""

from __future__ import annotations

import os
import sys

import click

from elman import __version__
from elman.cli.average import average
from elman.cli.bench import bench
from elman.cli.compare import compare
from elman.cli.complete import complete
from elman.cli.demo import demo
from elman.cli.evaluate import evaluate
from elman.cli.generate import generate
from elman.cli.inspect import inspect
from elman.cli.predict import predict
from elman.cli.score import score
from elman.cli.train import train
from elman.cli.translate import translate
from elman.errors import ElmanError


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="elman")
def elman() -> None:
    """Recurrent neural networks on text.

    \b
    Examples:
      elman demo                                                  see it learn in a minute and a half
      elman train classifier --train mails.tsv --out models/mails
      elman predict models/mails new.txt
      elman VERB --help                                           each has examples
    """


for verb in (
    demo,
    train,
    evaluate,
    predict,
    translate,
    generate,
    complete,
    score,
    inspect,
    average,
    compare,
    bench,
):
    elman.add_command(verb)


def main() -> None:
    """Errors a user can mend are one line on stderr and exit code 1; a wrong call is exit code 2."""
    # Read by torch when it is imported: large tensors get large pages, whose first use costs a
    # five-hundredth. A training step allocates them anew each time.
    os.environ.setdefault("THP_MEM_ALLOC_ENABLE", "1")
    try:
        code = elman(standalone_mode=False)  # click returns what a verb exits with
    except click.exceptions.Abort:
        click.echo("stopped", err=True)
        sys.exit(1)
    except click.ClickException as error:
        error.show()
        sys.exit(error.exit_code)
    except ElmanError as error:
        click.echo(f"elman: {error}", err=True)
        sys.exit(1)
    if code:
        sys.exit(code)
