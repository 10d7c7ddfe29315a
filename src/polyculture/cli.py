"""The command `polyculture`: which commands there are, and how trouble ends.

The commands themselves stand in `commands/`, one module each, imported only when called, so that
`polyculture --help` imports neither polars nor numpy.
"""

from __future__ import annotations

import errno
import io
import os
import sys
from _thread import interrupt_main
from collections.abc import Sequence
from threading import Timer
from typing import TYPE_CHECKING

from polyculture._version import __version__
from polyculture.errors import PolycultureError

if TYPE_CHECKING:
    from cyclopts import App

__all__ = ["main"]

FINE, WRONG_INPUT, INTERNAL, INTERRUPTED, BROKEN_PIPE = 0, 2, 70, 130, 141

_COMMANDS = {  # name -> what follows it, what it does
    "audit": ("SOURCE... [OPTIONS]", "Audit the outcomes of several models on the same individuals."),
    "compare": ("BEFORE AFTER [OPTIONS]", "Say what changed between snapshots, and whom improvements reached."),
    "tally": ("SOURCE... -o FILE [OPTIONS]", "Count outcomes once and save the small tables that an audit needs."),
    "panel": ("SOURCE... [OPTIONS]", "Say how many independent votes several models, or judges, are worth."),
    "portfolio": ("SOURCE... [OPTIONS]", "Choose among models: whom would they fail together, held out."),
    "check": (
        "FILE --limits LIMITS.toml [OPTIONS]",
        "Hold a result against limits; exit status 1 where one is broken.",
    ),
    "reproduce": ("NAME [OPTIONS]", "Do a published analysis again, claim by claim."),
    "lab": (
        "sharing | loop PLAN --out DIR | init [FILE]",
        "Experiments that train models: components, feedback loops.",
    ),
    "datasets": ("[--json]", "List the outcomes that come with polyculture."),
    "schema": ("NAME", "Print the JSON Schema of a result."),
}

_GROUPS = {  # name -> its commands, each with what follows it and what it does
    "lab": {
        "sharing": ("PLAN --out DIR [OPTIONS]", "Run a component-sharing experiment."),
        "loop": ("PLAN --out DIR [OPTIONS]", "Run generations of models that train on each other's outputs."),
        "init": ("[FILE] [--of sharing|loop]", "Write a commented plan to start from."),
    }
}


def _group(name: str, summary: str) -> App:
    from cyclopts import App

    group = App(name=name, help=summary, help_format="plaintext")
    for command, (words, line) in _GROUPS[name].items():
        usage = f"Usage: polyculture {name} {command} {words}"
        group.command(f"polyculture.commands.{name}:{command}", name=command, help=line, usage=usage)
    return group


def _app() -> App:
    from cyclopts import App

    app = App(
        name="polyculture",
        version=__version__,
        help="Who is failed by all the models that judge them, is that more than chance, and in which groups?",
        help_format="plaintext",
        suppress_keyboard_interrupt=False,
    )
    for name, (words, summary) in _COMMANDS.items():
        if name in _GROUPS:
            app.command(_group(name, summary), name=name)
            continue
        usage = f"Usage: polyculture {name} {words}"
        app.command(f"polyculture.commands.{name}:{name}", name=name, help=summary, usage=usage)
    return app


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command and return its exit status.

    Parameters
    ----------
    arguments : sequence of str, optional
        The words after ``polyculture``; default those of the process.

    Returns
    -------
    int
        0 fine; 1 a limit is broken (``check``); 2 the input or the call is wrong; 70 a fault of
        polyculture itself; 130 interrupted; 141 nobody reads the output any more.
    """
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # a terminal without Unicode shows ? rather than a crash
    hook, sys.unraisablehook = sys.unraisablehook, _interrupt_again
    try:
        status = _run(list(sys.argv[1:] if arguments is None else arguments))
        sys.stdout.flush()
    except KeyboardInterrupt as stop:
        kept = str(stop.args[0]) if stop.args else "no file was changed"
        print(f"polyculture: interrupted; {kept}.", file=sys.stderr)  # noqa: T201
        return INTERRUPTED
    except BrokenPipeError:
        _drop_output()
        return BROKEN_PIPE
    except OSError as error:
        _drop_output()
        return _fail(*_explain(error))
    except SystemExit as ending:
        # rich turns a broken pipe into exit status 1, which here means that a limit is broken.
        if isinstance(ending.__context__, BrokenPipeError):
            return BROKEN_PIPE
        raise
    finally:
        sys.unraisablehook = hook
    return status


def _drop_output() -> None:
    """Let standard output go nowhere: the interpreter flushes it once more at exit, and would fail again."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _interrupt_again(unraisable: sys.UnraisableHookArgs) -> None:
    """Repeat an interrupt that fell into a place where Python can raise nothing, such as the lock of an import."""
    if issubclass(unraisable.exc_type, KeyboardInterrupt):
        Timer(0.01, interrupt_main).start()
    else:
        sys.__unraisablehook__(unraisable)


def _run(arguments: list[str]) -> int:
    from cyclopts import CycloptsError

    from polyculture.commands import ARGUMENTS

    ARGUMENTS.set(tuple(arguments))
    if empty := _empty(arguments):
        return _fail(f"{empty} needs a name or a value, not ''.", _help_hint(arguments))
    try:
        result = _app()(arguments, exit_on_error=False, print_error=False, result_action="return_value")
    except PolycultureError as error:
        return _fail(error.message, error.hint)
    except CycloptsError as error:
        return _fail(str(error).strip(), _help_hint(arguments))
    except (KeyboardInterrupt, BrokenPipeError, SystemExit):
        raise
    except OSError as error:
        try:
            sys.stdout.flush()
        except OSError:  # it was standard output that could not be written
            _drop_output()
        return _fail(*_explain(error))
    except MemoryError:
        return _fail(
            "There is not enough memory for this.",
            "Make Tallies of parts of the data (polyculture tally) and audit them together.",
        )
    except BaseException as error:  # a panic inside polars is no Exception
        return _report_fault(error)
    return result if isinstance(result, int) else FINE


def _empty(arguments: Sequence[str]) -> str:
    """Return the option, or the argument, that is given as empty text; mostly a variable of the shell that is not set.

    As a path it would mean the current folder, and as a name nothing. Only what data may hold can be empty.
    """
    for place, word in enumerate(arguments):
        option, sign, value = word.partition("=")
        before = arguments[place - 1] if place else ""
        if word.startswith("--") and sign and not value.strip() and option not in _MAY_BE_EMPTY:
            return option
        if not word.strip() and before not in _MAY_BE_EMPTY:
            return before if before.startswith("-") and "=" not in before and before != "-" else f"Argument {place + 1}"
    return ""


_MAY_BE_EMPTY = {"--pending", "--positive"}


def _fail(message: str, hint: str = "") -> int:
    print(f"polyculture: error: {message}", file=sys.stderr)  # noqa: T201
    if hint:
        print(f"  {hint}", file=sys.stderr)  # noqa: T201
    return WRONG_INPUT


def _help_hint(arguments: list[str]) -> str:
    known = [word for word in arguments[:1] if word in _COMMANDS]
    return f"See: {' '.join(['polyculture', *known, '--help'])}"


def _explain(error: OSError) -> tuple[str, str]:
    place = f" {str(error.filename)!r}" if error.filename else ""
    if error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
        return f"No space is left to write{place}.", "Free some space, or write to another disk."
    return f"{error.strerror or error}:{place}" if place else f"{error.strerror or error}.", ""


def _report_fault(error: BaseException) -> int:
    if os.environ.get("POLYCULTURE_DEBUG"):
        raise error
    print(  # noqa: T201
        f"polyculture: a fault of polyculture itself: {type(error).__name__}: {str(error)[:500]}\n"
        "  Please report it, with the command and, if you may share it, a few rows of the data.\n"
        "  POLYCULTURE_DEBUG=1 before the command shows where it happened.",
        file=sys.stderr,
    )
    return INTERNAL


if __name__ == "__main__":
    sys.exit(main())
