"""What a report of the lab says of pretrained models: what they are, how adapted, and one way against another."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from polyculture.report import words
from polyculture.report.charts import Chart
from polyculture.report.lab_charts import ratio_chart

if TYPE_CHECKING:
    from polyculture.lab.plan import Backbone, Data, Learner
    from polyculture.lab.records import LearnerRecord
    from polyculture.report.terminal import Screen

__all__ = ["backbone_words", "data_words", "learner_words", "learners_chart", "show_learners"]

_METHODS = {
    "scratch": "the same network with fresh weights",
    "probe": "a linear classifier on its features",
    "finetune": "all weights trained on",
    "bitfit": "only biases trained on, and the classifier",
    "lora": "matrices of low rank trained beside its weights, and the classifier",
}


def backbone_words(backbone: Backbone) -> str:
    """Return what a backbone is made of.

    >>> from polyculture.lab.plan import Backbone
    >>> backbone_words(Backbone(configuration={"model_type": "vit", "hidden_size": 64}))
    'configuration (model_type = vit, hidden_size = 64), random weights'
    """
    if backbone.configuration:
        found = f"configuration ({_settings(backbone.configuration)})"
    else:
        found = next(f"{kind} {value}" for kind in ("model", "module", "hub") if (value := getattr(backbone, kind)))
    if backbone.pretrain is not None:
        what = backbone.pretrain.label or "words left out"
        return f"{found}, trained before to tell {what} of {backbone.pretrain.data.source}"
    return f"{found}, random weights" if backbone.configuration else found


def learner_words(learner: Learner, pipeline: str) -> str:
    """Return what a learner is: its pipeline, or how it adapts a pretrained model with which settings."""
    if learner.adapt is None:
        return pipeline
    given = _settings(learner.parameters)
    return _METHODS[learner.adapt] + (f" ({given})" if given else "")


def data_words(data: Data) -> str:
    """Return what decision-makers take in.

    >>> from polyculture.lab.plan import Data
    >>> data_words(Data(source="x", image=(1, 8, 8)))
    'images of 1 × 8 × 8 pixels'
    """
    if data.text is not None:
        return f"texts of column {data.text}"
    if data.image is not None:
        return f"images of {' × '.join(map(str, data.image))} pixels"
    return f"text columns {data.codes}"


def _settings(table: Mapping[str, Any]) -> str:
    return ", ".join(f"{name} = {value}" for name, value in table.items())


def learners_chart(records: Sequence[LearnerRecord]) -> Chart | None:
    """Return H of each way to adapt over that of each other in the first arm, 1 marked; None where none is defined."""
    first = [record for record in records if record.arm == records[0].arm]
    return ratio_chart(
        [(f"{record.learner} / {record.against}", record.ratio, "learner") for record in first],
        title="H of the first / H of the second",
    )


def show_learners(records: Sequence[LearnerRecord], screen: Screen) -> None:
    """Print one way to adapt against another, arm by arm."""
    if not records:
        return
    table = screen.table("H of one way to adapt / H of another", "ways", "arm", "ratio", "interval", "accuracy")
    for record in records:
        screen.row(
            table,
            f"{record.learner} / {record.against}",
            record.arm,
            words.number(record.ratio, "ratio"),
            words.interval(record.ratio, "ratio"),
            words.number(record.accuracy, "points"),
        )
    screen.show(table)
