"""What a loop found, as frozen records whose fields are the fields of loop.json."""

from __future__ import annotations

from polyculture.audit.statistic import Record, Statistic
from polyculture.lab.loops.plan import LoopPlan

__all__ = [
    "SCHEMA",
    "AccountingRecord",
    "CollapseRecord",
    "CurveRecord",
    "EndpointRecord",
    "LoopFaultRecord",
    "LoopRecord",
    "SampledRecord",
    "StratumRecord",
]

SCHEMA = "polyculture/lab-loop/1"


class StratumRecord(Record, frozen=True, kw_only=True):
    """One stratum: its class and group, its ideal share, and its mean share of the original individuals."""

    target: str
    group: str
    ideal: float | None
    original: float


class CurveRecord(Record, frozen=True, kw_only=True):
    """One measure of one arm over the generations: means over seeds with a band.

    ``of`` is the group, class or stratum that it is of; None for all. ``value``, ``low`` and ``high`` have one entry a
    generation, None where undefined; the band holds in all generations at once. ``seeds`` counts those with a value.
    """

    arm: str
    measure: str
    of: str | None
    value: tuple[float | None, ...]
    low: tuple[float | None, ...]
    high: tuple[float | None, ...]
    seeds: tuple[int, ...]
    method: str
    reason: str = ""


class EndpointRecord(Record, frozen=True, kw_only=True):
    """One measure of one arm as one number, and how far it is from another arm, paired by seed.

    ``of`` is the group, class or stratum that it is of; None for all. ``against`` is the first arm, or the one that the
    plan names; a ratio of sums (homogenization) differs by its ratio.

    ``endpoint`` is "last generation", "mean over generations" (the area under the curve over their number) or "change
    since generation 0". ``primary`` says whether the plan names the measure among its endpoints.
    """

    arm: str
    against: str
    measure: str
    of: str | None
    endpoint: str
    primary: bool
    value: Statistic
    difference: Statistic


class CollapseRecord(Record, frozen=True, kw_only=True):
    """When accuracy fell for good, and where a small gap is that of a constant predictor.

    ``collapsed`` counts seeds whose accuracy falls further below that of generation 0 than the plan's ``collapse`` and
    stays there to the end; ``first``, ``median`` and ``last`` are the generations from which on. ``constant`` counts
    seeds whose classifiers give nearly everyone the same class in the last generation, ``constant_from`` is the first
    generation from which on most seeds do. ``stopped`` counts chains that ended before their time.
    """

    arm: str
    seeds: int
    collapsed: int
    first: int | None
    median: float | None
    last: int | None
    constant: int
    constant_from: int | None
    largest_class: Statistic
    stopped: int


class AccountingRecord(Record, frozen=True, kw_only=True):
    """The books of one stratum in one generation: means over seeds and decision-makers.

    ``target`` or ``group`` is None where people are selected by the other alone. ``pool`` counts the first draws,
    ``quota`` those wanted, ``taken`` those taken by quota, ``filled`` those who came to fill the shortfall; ``added``
    is taken + filled less what as many unselected draws would have held. ``shortfall`` is of all strata together.
    """

    arm: str
    generation: int
    purpose: str
    target: str | None
    group: str | None
    pool: float
    quota: float
    taken: float
    filled: float
    added: float
    shortfall: float


class LoopFaultRecord(Record, frozen=True, kw_only=True):
    """How often something went wrong in an arm, first in which generation, and what was said of it then."""

    arm: str
    reason: str
    count: int
    first: int
    said: str


class SampledRecord(Record, frozen=True, kw_only=True):
    """Images that the generator of an arm's first decision-maker gave in one generation at seed 0, side by side.

    ``images`` counts them. ``png`` is the picture, PNG in base64.
    """

    arm: str
    generation: int
    images: int
    png: str


class LoopRecord(Record, frozen=True, kw_only=True):
    """A feedback-loop experiment, as written to loop.json.

    ``data`` holds the SHA-256 of the data by name, ``versions`` the libraries. ``units`` says of each measure whether
    it is a share, points, a ratio or a number. ``accuracy_sentence`` is empty where the headline says it. ``image``
    holds channels, height and width where people are images, and ``sampled`` pictures of those that the plan keeps.
    """

    schema: str = SCHEMA
    plan: LoopPlan
    headline: str
    accuracy_sentence: str
    individuals: int
    tested: int
    samples: int
    favourable: str
    classes: tuple[str, ...]
    groups: tuple[str, ...]
    strata: tuple[StratumRecord, ...]
    decision_makers: tuple[str, ...]
    arms: tuple[str, ...]
    data: dict[str, str]
    versions: dict[str, str]
    units: dict[str, str]
    curves: tuple[CurveRecord, ...]
    endpoints: tuple[EndpointRecord, ...]
    collapse: tuple[CollapseRecord, ...]
    accounting: tuple[AccountingRecord, ...]
    faults: tuple[LoopFaultRecord, ...]
    notes: tuple[str, ...]
    image: tuple[int, int, int] | None = None
    sampled: tuple[SampledRecord, ...] = ()
