"""German Credit (Statlog): 1,000 applications for credit, as coded by its donor."""

from __future__ import annotations

import gzip
from importlib.resources import files
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import polars as pl

__all__ = ["GERMAN_CREDIT_COLUMNS", "german_credit"]

GERMAN_CREDIT_COLUMNS = {
    "status": "balance of the checking account: A11 below 0 DM, A12 0 to 200 DM, A13 200 DM and more, A14 no account",
    "month": "duration of the credit in months",
    "credit_history": "A30 to A34: from no credits taken to a critical account",
    "purpose": "what the credit is for: A40 to A410 (new car, used car, furniture, television, ...)",
    "credit_amount": "amount of the credit in DM",
    "savings": "savings account and bonds: A61 (below 100 DM) to A64 (1,000 DM and more), A65 unknown or none",
    "employment": "time with the present employer: A71 unemployed, A72 (below 1 year) to A75 (7 years and more)",
    "investment_as_income_percentage": "instalment as a share of the disposable income, in four classes, 1 to 4",
    "personal_status": "sex and marital status in one code: A91, A93 and A94 men, A92 women who are or were married",
    "other_debtors": "A101 none, A102 co-applicant, A103 guarantor",
    "residence_since": "time at the present address in four classes, 1 to 4",
    "property": "most valuable property: A121 real estate, A122 savings or insurance, A123 car or other, A124 none",
    "age": "age in years",
    "installment_plans": "other instalment plans: A141 at a bank, A142 at stores, A143 none",
    "housing": "A151 rented, A152 owned, A153 free of charge",
    "number_of_credits": "credits at this bank, this one included",
    "skill_level": "job: A171 (unskilled, not resident) to A174 (management, self-employed, highly qualified)",
    "people_liable_for": "people whom the applicant has to maintain",
    "telephone": "A191 none, A192 under the applicant's name",
    "foreign_worker": "A201 yes, A202 no",
    "credit": "what became of the credit: 1 good, 2 bad",
}
"""What each column of `german_credit` holds, by name, in the order of the columns."""


def german_credit() -> pl.DataFrame:
    """Return the German Credit data.

    Returns
    -------
    polars.DataFrame
        1,000 rows and the 21 columns of `GERMAN_CREDIT_COLUMNS`: codes as text, numbers as integers.

    Notes
    -----
    Hofmann (1994), UCI Machine Learning Repository, doi:10.24432/C5NC77, CC BY 4.0.

    Examples
    --------
    >>> german_credit().shape
    (1000, 21)
    """
    import polars as pl

    packed = files("polyculture.datasets").joinpath("german_credit.csv.gz").read_bytes()
    return pl.read_csv(gzip.decompress(packed), infer_schema_length=None)
