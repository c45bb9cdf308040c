"""A line on the terminal while a call takes long."""

import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from functools import wraps
from time import monotonic
from typing import Any, TypeVar

F = TypeVar("F", bound=Callable[..., Any])

SECONDS = 10.0  # until the line appears
_one = threading.Lock()  # held by the call that shows it: what it calls shows none


def told(function: F, name: str) -> F:
    """Return the function; its calls show a line on stderr, if that is a terminal, from the tenth second on."""

    @wraps(function)
    def shown(*args: Any, **named: Any) -> Any:
        stream = sys.stderr
        if stream is None or not stream.isatty() or not _one.acquire(blocking=False):
            return function(*args, **named)
        done, start = threading.Event(), monotonic()

        def tell() -> None:
            text, wait = "", SECONDS
            with suppress(OSError, ValueError):  # the terminal may be gone
                while not done.wait(wait):
                    text, wait = f"{name}: running for {monotonic() - start:.0f} s (Ctrl-C stops it)", 1.0
                    print(text, end="\r", file=stream, flush=True)  # a warning is written over it
                print(" " * len(text), end="\r" if text else "", file=stream, flush=True)

        teller = threading.Thread(target=tell, daemon=True, name="rocmax-progress")
        try:
            with suppress(RuntimeError):  # no memory for a thread
                teller.start()
            return function(*args, **named)
        finally:
            done.set()
            if teller.ident is not None:
                teller.join()
            _one.release()

    return shown  # type: ignore[return-value]
