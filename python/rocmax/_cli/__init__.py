"""The ``rocmax`` command: one module a subcommand, public functions of rocmax underneath.

Results go to stdout (a table, or one JSON object with ``--json``), everything else to stderr.
"""

import io
import os
import sys
import warnings
from collections.abc import Sequence
from importlib import import_module

from rocmax._cli._output import Failure, log
from rocmax._cli._parser import make_parser, options_of
from rocmax._progress import told

_OPTIONAL = "polars", "skops", "lightgbm", "matplotlib", "bokeh", "shtab"


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line; return 0, 1 for bad data, 2 for bad usage, 130 after Ctrl-C."""
    # If stderr is closed, the first file that is opened takes its place.
    sys.stderr = sys.stderr or open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115 - until the process ends
    if sys.stdout is None:
        _say("nothing can be printed: stdout is closed")
        return 1
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")  # for encodings that lack a letter
    try:
        given = make_parser().parse_args(argv)
        command = given.command
        with warnings.catch_warnings():
            warnings.showwarning = lambda message, *_, **__: _say(f"warning: {message}")
            options = options_of(given)  # before the imports
            module = import_module(f"rocmax._cli.{'evaluate' if command == 'compare' else command}")
            told(module.run, f"rocmax {command}")(options)
        sys.stdout.flush()
    except KeyboardInterrupt:
        _say("interrupted")
        return 130
    except BrokenPipeError:
        _give_up_stdout()  # the reader (head, less) has gone: nothing is left to say
    except ImportError as error:
        package = (error.name or "").partition(".")[0]
        if package not in ("", *_OPTIONAL):
            raise
        _say(f"this needs {package}: pip install {package}" if package else str(error))
        return 1
    except MemoryError as error:
        _say(f"not enough memory: {error}" if str(error) else "not enough memory")
        return 1
    except (Failure, ValueError) as error:
        _say(str(error))
        return error.code if isinstance(error, Failure) else 1
    except OSError as error:  # of files whose names are known it is a Failure
        _say(str(error) if error.filename else f"stdout: cannot be written: {error.strerror or error}")
        _give_up_stdout()
        return 1
    return 0


def _give_up_stdout() -> None:
    """Keep the flush at the end of the process from failing again, if stdout is a closed pipe or a full disk."""
    try:
        sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _say(message: str) -> None:
    """Print one line to stderr, whatever lines the message has."""
    log(f"rocmax: {' '.join(message.split())}")
