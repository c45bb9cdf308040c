"""The ``rocmax`` command: one module a subcommand, public functions of rocmax underneath.

Results go to stdout (a table, or one JSON object with ``--json``), everything else to stderr.
"""

import os
import sys
import warnings
from collections.abc import Sequence
from importlib import import_module
from typing import Any

from rocmax._cli._failure import Failure
from rocmax._cli._parser import make_parser

_EXTRAS = {"polars": "cli", "rich": "cli", "skops": "cli", "matplotlib": "plot"}


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line.

    Parameters
    ----------
    argv : sequence of str, optional
        Arguments, by default those of the process.

    Returns
    -------
    code : int
        0, 1 for bad data, 2 for bad usage, 130 after Ctrl-C.
    """
    arguments = make_parser().parse_args(argv)
    try:
        with warnings.catch_warnings():
            warnings.showwarning = _warn
            import_module(f"rocmax._cli.{arguments.command}").run(arguments)
        sys.stdout.flush()
    except KeyboardInterrupt:
        print("rocmax: interrupted", file=sys.stderr)
        return 130
    except BrokenPipeError:
        # The reader (head, less) has gone: nothing is left to say, not even by the final flush.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except ModuleNotFoundError as error:
        package = (error.name or "").partition(".")[0]
        if package not in _EXTRAS:
            raise
        extra = _EXTRAS[package]
        print(f"rocmax: this needs {package}: pip install 'rocmax[{extra}]'", file=sys.stderr)
        return 1
    except (Failure, ValueError, OSError) as error:
        print(f"rocmax: {' '.join(str(error).split())}", file=sys.stderr)
        return error.code if isinstance(error, Failure) else 1
    return 0


def _warn(message: Warning | str, *_: Any, **__: Any) -> None:
    print(f"rocmax: warning: {' '.join(str(message).split())}", file=sys.stderr)
