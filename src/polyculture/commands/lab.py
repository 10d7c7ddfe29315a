"""`polyculture lab`: experiments that train models; `sharing` and `loop` run a plan, `init` writes one."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from cyclopts import Group, Parameter

from polyculture.commands.options import OTHER, OUTPUT, option

if TYPE_CHECKING:
    from collections.abc import Callable

    from rich.console import Console

RUN = Group("How it runs", sort_key=1)
Out = Annotated[str, option(OUTPUT, "Folder of the results; the same command goes on there where it stopped.")]
Jobs = Annotated[int, option(RUN, "Processes, -1 for as many as processors (1); the bytes are the same.")]
Backend = Annotated[str, option(RUN, "Where joblib runs them: loky, dask or ray (loky).")]
Quiet = Annotated[bool, option(OTHER, "Print nothing but errors.")]


def sharing(
    plan: Annotated[str, Parameter(help="TOML file of the plan; `polyculture lab init` writes one to start from.")],
    /,
    *,
    out: Out,
    set: Annotated[  # noqa: A002 (the word of the shell)
        tuple[str, ...],
        option(RUN, "KEY=VALUE: override the plan (model_seeds=2, learner=sklearn.svm.SVC). May be repeated."),
    ] = (),
    jobs: Jobs = 1,
    backend: Backend = "loky",
    export: Annotated[
        str | None, option(OUTPUT, "Write every outcome, a row each, as .csv, .jsonl or .parquet.")
    ] = None,
    quiet: Quiet = False,
) -> int:
    """Run a component-sharing experiment: who is failed by all when decision-makers share what they learn from."""
    from polyculture.labs import sharing as run
    from polyculture.report.lab_sharing import print_sharing

    given = {"set": set, "jobs": jobs, "backend": backend}
    return _run(run, print_sharing, plan, out, export, given, quiet=quiet)


def loop(
    plan: Annotated[
        str, Parameter(help="TOML file of the plan; `polyculture lab init --of loop` writes one to start from.")
    ],
    /,
    *,
    out: Out,
    set: Annotated[  # noqa: A002 (the word of the shell)
        tuple[str, ...],
        option(RUN, "KEY=VALUE: override the plan (generations=5, classifier=sklearn.svm.SVC). May be repeated."),
    ] = (),
    jobs: Jobs = 1,
    backend: Backend = "loky",
    device: Annotated[
        Literal["cpu", "cuda"] | None, option(RUN, "Where networks are trained (the plan's, else cpu).")
    ] = None,
    export: Annotated[
        str | None, option(OUTPUT, "Write every decision, a row each, as .csv, .jsonl or .parquet.")
    ] = None,
    quiet: Quiet = False,
) -> int:
    """Run a feedback loop: generations of models that train on each other's outputs, and what is done about it."""
    from polyculture.loops import loop as run
    from polyculture.report.lab_loop import print_loop

    given = {"set": set, "jobs": jobs, "backend": backend, "device": device}
    return _run(run, print_loop, plan, out, export, given, quiet=quiet)


def _run(  # noqa: PLR0917 (what both commands are made of)
    run: Callable[..., Any],
    show: Callable[[Any, Console], None],
    plan: str,
    out: str,
    export: str | None,
    given: dict[str, Any],
    *,
    quiet: bool,
) -> int:
    """Run a plan, write what was found, and print it with ``show``; ``given`` goes to ``run`` as it is."""
    from polyculture.commands import outputs
    from polyculture.commands.progress import stages
    from polyculture.lab.components import modules_of
    from polyculture.listing import check_ending

    outputs.check_apart({"--out": out}, [plan])
    if export is not None:
        outputs.check_apart({"--export": export}, [plan])
        check_ending(export)
    with modules_of(Path.cwd()), stages(quiet=quiet) as progress:
        found = run(plan, out=out, progress=progress, **given)
        if export is not None:
            progress("Writing the export")
            found.export(export)
    if not quiet:
        from rich.console import Console

        show(found.record, Console())
        outputs.say(f"Written: {', '.join(str(path) for path in (out, export) if path is not None)}")
    return 0


def init(
    file: Annotated[
        str, Parameter(help="Where to write it (plan.toml); - is standard output.", allow_leading_hyphen=True)
    ] = "plan.toml",
    /,
    *,
    of: Annotated[
        Literal["sharing", "loop"],
        option(OTHER, "What is to be run: sharing (decision-makers share components) or loop."),
    ] = "sharing",
) -> int:
    """Write a commented plan to start from."""
    from polyculture.commands import outputs
    from polyculture.errors import OutputError
    from polyculture.files import atomic_write
    from polyculture.lab.loops.starter import LOOP_STARTER
    from polyculture.lab.planfile import STARTER

    text = LOOP_STARTER if of == "loop" else STARTER
    if file == "-":
        outputs.write_standard_output(text)
        return 0
    if Path(file).exists():
        raise OutputError(f"{file!r} is there already.", hint="Give another name, or remove it first.")
    atomic_write(file, text.encode())
    outputs.say(f"Written: {file}. Run it with: polyculture lab {of} {file} --out results")
    return 0
