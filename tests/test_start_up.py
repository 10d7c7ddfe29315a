"""The command starts fast and the package imports light: checked by what is imported, never by a clock."""

from __future__ import annotations

import subprocess
import sys

import pytest

import polyculture as pc

HEAVY = ("polars", "numpy", "scipy", "narwhals", "altair", "jinja2", "duckdb", "pandas", "torch", "transformers")


def imported_after(code: str) -> set[str]:
    """Return which of the heavy libraries a fresh interpreter holds after running code."""
    script = f"import sys\n{code}\nprint('loaded:', *[name for name in {HEAVY!r} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    return set(done.stdout.rpartition("loaded:")[2].split())


@pytest.mark.parametrize(
    "words",
    [
        ["--help"],
        ["--version"],
        ["audit", "--help"],
        ["tally", "--help"],
        ["compare", "--help"],
        ["schema", "--help"],
        ["check", "--help"],
        ["reproduce", "--help"],
        ["lab", "--help"],
        ["lab", "sharing", "--help"],
    ],
)
def test_help_imports_nothing_heavy(words: list[str]) -> None:
    assert imported_after(f"from polyculture.cli import main; assert main({words!r}) == 0") == set()


def test_a_misspelt_option_imports_nothing_heavy() -> None:
    assert imported_after("from polyculture.cli import main; assert main(['audit', '--lable', 'x']) == 2") == set()


def test_import_polyculture_imports_nothing_heavy() -> None:
    assert imported_after("import polyculture; polyculture.errors.UsageError('x'); dir(polyculture)") == set()


def test_the_fast_path_never_imports_scipy_stats(tmp_path) -> None:
    code = (
        "from polyculture.cli import main; assert main(['audit', 'hapi:waimai', '--quiet']) == 0\n"
        "assert 'scipy.stats' not in sys.modules and 'pandas' not in sys.modules"
    )
    assert "polars" in imported_after(code)


@pytest.mark.parametrize(
    "first",
    ["import polyculture.audit.records", "from polyculture.audit import frames", "import polyculture.api", "pass"],
)
def test_audit_is_the_function_whatever_was_imported_before(first: str) -> None:
    code = f"{first}\nimport polyculture\nfrom polyculture.api import audit\nassert polyculture.audit is audit"
    imported_after(code)


def test_every_public_name_is_there() -> None:
    for name in pc.__all__:
        assert getattr(pc, name) is not None
    assert set(pc.__all__) <= set(dir(pc))


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'adit'"):
        pc.adit  # noqa: B018
