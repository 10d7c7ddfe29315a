"""`polyculture check`: a result and limits in; exit status 1 where one is broken."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from cyclopts import Group, Parameter

from polyculture.commands.options import OTHER, OUTPUT, option

if TYPE_CHECKING:
    from polyculture.gate.limits import Limit
    from polyculture.gate.records import Rule

LIMITS = Group("Limits", sort_key=1)
BROKEN = 1


def check(
    file: Annotated[str, Parameter(help="The result to check: an audit.json that --json wrote.")],
    /,
    *,
    limits: Annotated[str | None, option(LIMITS, "TOML file with the limits.")] = None,
    at_most: Annotated[tuple[str, ...], option(LIMITS, "FIELD=BOUND: at most so much. May be repeated.")] = (),
    at_least: Annotated[tuple[str, ...], option(LIMITS, "FIELD=BOUND: at least so much. May be repeated.")] = (),
    at_most_increase: Annotated[
        tuple[str, ...], option(LIMITS, "FIELD=BOUND: at most so much more than in --against. May be repeated.")
    ] = (),
    at_most_decrease: Annotated[
        tuple[str, ...], option(LIMITS, "FIELD=BOUND: at most so much less than in --against. May be repeated.")
    ] = (),
    at_most_change: Annotated[
        tuple[str, ...], option(LIMITS, "FIELD=BOUND: at most so much away from --against. May be repeated.")
    ] = (),
    against: Annotated[str | None, option(LIMITS, "The stored result that changes are measured from.")] = None,
    json: Annotated[
        str | None, option(OUTPUT, "Write the verdicts as JSON; - is standard output.", allow_leading_hyphen=True)
    ] = None,
    junit: Annotated[str | None, option(OUTPUT, "Write JUnit XML.")] = None,
    markdown: Annotated[str | None, option(OUTPUT, "Write a Markdown summary.")] = None,
    github: Annotated[bool, option(OUTPUT, "Print annotations that GitHub Actions reads from the log.")] = False,
    quiet: Annotated[bool, option(OTHER, "Print nothing but errors (and annotations, where asked for).")] = False,
) -> int:
    """Hold a result against limits: exit status 1 where one is broken or its number undefined."""
    from polyculture.checks import hold
    from polyculture.commands import outputs
    from polyculture.errors import UsageError

    if github and json == "-":
        raise UsageError("--json - and --github would mix on standard output.", hint="Write --json to a file.")
    given: dict[Rule, tuple[str, ...]] = {
        "at_most": at_most,
        "at_least": at_least,
        "at_most_increase": at_most_increase,
        "at_most_decrease": at_most_decrease,
        "at_most_change": at_most_change,
    }
    wanted = _limits(limits, given, against)
    targets = {"--json": json, "--junit": junit, "--markdown": markdown}
    if json == "-":
        del targets["--json"]
    read = [one for one in (file, limits, against, *(limit.against for limit in wanted)) if one is not None]
    outputs.check_apart({name: path for name, path in targets.items() if path is not None}, read)
    found = hold(file, wanted)
    if junit is not None:
        found.junit(junit)
    if markdown is not None:
        found.markdown(markdown)
    if json == "-":
        outputs.write_standard_output(found.json())
    elif json is not None:
        found.json(json)
    if not quiet and json != "-":
        from rich.console import Console

        from polyculture.report.check import print_check

        print_check(found.record, Console())
    if github:
        outputs.write_standard_output(found.github())
    return BROKEN if found.broken else 0


def _limits(path: str | None, given: dict[Rule, tuple[str, ...]], against: str | None) -> list[Limit]:
    """Return the limits of the file and of the options, in this order.

    Raises
    ------
    UsageError
        If there is none.
    """
    from polyculture.errors import UsageError
    from polyculture.gate.limits import from_options, read_limits

    wanted = [] if path is None else read_limits(path, against)
    wanted += from_options(given, against, first=len(wanted) + 1)
    if not wanted:
        raise UsageError("There are no limits.", hint="Give --limits limits.toml, or --at-most FIELD=BOUND.")
    return wanted
