"""All verbs together, and what becomes of an error."""

from __future__ import annotations

import logging
import sys
import warnings
from errno import ENOSPC

import click
from click.shell_completion import get_completion_class

from elman import __version__
from elman.cli.lazy_verbs import LazyVerbs
from elman.cli.ordered_group import OrderedGroup
from elman.cli.standard_streams import release_stdout
from elman.cli.terminal import say
from elman.errors import ElmanError
from elman.interruption import exit_code
from elman.memory_errors import REMEDY, describe_shortage

VARIABLE = "_ELMAN_COMPLETE"  # click looks for it by this name


def print_completion(context: click.Context, parameter: click.Parameter, shell: str | None) -> None:
    """Print the script that a shell is to evaluate, and end."""
    kind = get_completion_class(shell) if shell and not context.resilient_parsing else None
    if kind is not None:
        click.echo(kind(context.command, {}, "elman", VARIABLE).source())
        context.exit()


@click.group(
    cls=OrderedGroup,
    invoke_without_command=True,
    subcommand_metavar="VERB ...",
    context_settings={"help_option_names": ["-h", "--help"]},
)
@click.version_option(__version__, prog_name="elman")
@click.option(
    "--completion",
    type=click.Choice(["bash", "zsh", "fish"]),
    expose_value=False,
    is_eager=True,
    callback=print_completion,
    help="Print the completion script of this shell.",
)
@click.pass_context
def elman(context: click.Context) -> None:
    """Recurrent neural networks on text.

    \b
    Examples:
      elman demo                                                  trains a model in less than two minutes
      elman train classifier --train mails.tsv --out models/mails
      elman predict models/mails new.txt
      elman VERB --help                                           each has examples
      eval "$(elman --completion bash)"                           Tab completes (a line for ~/.bashrc)
    """
    if context.invoked_subcommand is None:
        click.echo(context.get_help())


_FIRST = "demo train evaluate predict translate generate complete score tune inspect"
_LAST = "average compare new recipes data bench"
_HOMES = {"explain": "explain_page:explain_model", "new": "new_cell:new"}
elman.commands = LazyVerbs(
    {name: _HOMES.get(name, f"{name}:{name}") for name in (*_FIRST.split(), "explain", *_LAST.split())}
)


def call() -> int:
    """Do what was typed: the exit code. A warning is a line, without the place in the code."""
    _show_log()
    with warnings.catch_warnings():
        warnings.showwarning = lambda message, *place, **more: click.echo(message, err=True)
        try:
            code: int = elman(standalone_mode=False) or 0  # click returns what a verb exits with
            sys.stdout.flush()
            return code
        except click.exceptions.Abort:
            say("stopped")
            return exit_code()
        except click.ClickException as error:
            error.show()
            return error.exit_code
        except ElmanError as error:
            say(f"elman: {error}")
        except (MemoryError, RuntimeError) as error:
            shortage = describe_shortage(error)
            if shortage is None:
                raise
            say(f"elman: {shortage}; {REMEDY}")
        except BrokenPipeError:  # whoever read the results has seen enough
            release_stdout()
        except OSError as error:  # a folder that cannot be written, a disk that is full
            full = not release_stdout() or error.errno == ENOSPC  # files are named by who writes them
            where = error.filename or ("standard output" if full else "")
            say(f"elman: {where}{': ' * bool(where)}{error.strerror or error}")
        return 1


class _Say(logging.Handler):
    """What the library logs, a line on stderr each."""

    def emit(self, record: logging.LogRecord) -> None:
        say(record.getMessage())


def _show_log() -> None:
    log = logging.getLogger("elman")
    log.setLevel(logging.INFO)
    if not any(isinstance(handler, _Say) for handler in log.handlers):
        log.addHandler(_Say())
