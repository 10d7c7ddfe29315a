"""`polyculture schema`: the JSON Schema of a result."""

from __future__ import annotations

import json
from typing import Annotated

from cyclopts import Parameter

from polyculture.errors import UsageError, nearest


def schema(
    name: Annotated[
        str, Parameter(help="Which result: audit, compare, portfolio, check, reproduction, lab-sharing or lab-loop.")
    ],
    /,
) -> int:
    """Print the JSON Schema of a result."""
    from polyculture.commands.outputs import write_standard_output
    from polyculture.report.json import SCHEMA_NAMES, json_schema

    if name not in SCHEMA_NAMES:
        hint = nearest(name, SCHEMA_NAMES) or f"The schemas are: {', '.join(SCHEMA_NAMES)}."
        raise UsageError(f"There is no schema {name!r}.", hint=hint)
    write_standard_output(json.dumps(json_schema(name), indent=2, ensure_ascii=False) + "\n")
    return 0
