"""Where generated people are compared with real ones: each embedding is what it says, and is said."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from polyculture.errors import UsageError
from polyculture.lab.loops.chain import Chain
from polyculture.lab.loops.embedding import in_words
from polyculture.lab.loops.measures import coverage, frechet
from polyculture.lab.loops.plan import LoopPlan
from polyculture.lab.loops.run import check_actors
from polyculture.lab.loops.sentences import notes
from polyculture.lab.loops.world import everyone

Plan = Callable[..., LoopPlan]
PCA = {"estimator": "sklearn.decomposition.PCA", "parameters": {"n_components": 2}}


@pytest.mark.parametrize("embedding", ["components", "features", PCA])
def test_distances_are_taken_in_the_embedding(plan: Plan, embedding: object) -> None:
    own = plan(embedding=embedding, keep=300)
    check_actors(own)
    one = Chain(own, everyone(own), 0)
    made = one.step(0)[0].made[0]
    real = one.world.features
    if embedding == "features":
        rows = (real, made.kept)
    else:
        mean = real.mean(axis=0)
        _, _, components = np.linalg.svd(real - mean, full_matrices=False)
        many = 2 if embedding == PCA else min(10, real.shape[1])
        rows = ((real - mean) @ components[:many].T, (made.kept - mean) @ components[:many].T)
    assert made.distances["frechet"] == pytest.approx(frechet(*rows))
    wanted = coverage(np.ascontiguousarray(rows[0]), np.ascontiguousarray(rows[1]))
    assert [made.distances[name] for name in ("mmd", "precision", "recall")] == pytest.approx(wanted, abs=1e-6)


def test_a_network_that_annotates_embeds(plan: Plan) -> None:
    pytest.importorskip("skorch", reason="needs the extra [torch]")
    parameters = {"hidden": [8, 4], "epochs": 2}
    net = {"estimator": "polyculture.lab.loops.torch_actors.MLP", "parameters": parameters}
    own = plan(embedding="annotator", label_annotator=net, keep=300)
    check_actors(own)
    one = Chain(own, everyone(own), 0)
    made = one.step(0)[0].made[0]
    real, kept = (one.annotator.estimator.transform(rows) for rows in (one.world.features, made.kept))
    assert real.shape[1] == 4
    assert made.distances["frechet"] == pytest.approx(frechet(real, kept))
    assert "last layer of the label annotator" in in_words(own)


def test_what_embeds_nothing_is_refused(plan: Plan) -> None:
    with pytest.raises(UsageError, match="LogisticRegression of the label annotator embeds nothing"):
        check_actors(plan(embedding="annotator"))
    with pytest.raises(UsageError, match="GaussianNB of embedding embeds nothing"):
        check_actors(plan(embedding={"estimator": "sklearn.naive_bayes.GaussianNB"}))
    with pytest.raises(UsageError, match="no key 'parameter'") as caught:
        plan(embedding={"estimator": "sklearn.decomposition.PCA", "parameter": {}})
    assert "parameters" in caught.value.hint
    with pytest.raises(UsageError, match="embedding"):
        plan(embedding="component")


def test_the_embedding_is_said(plan: Plan) -> None:
    assert in_words(plan(embedding=PCA)).startswith("in what sklearn.decomposition.PCA makes")
    assert in_words(plan(embedding="features")) == "in the features themselves"
    assert "first principal components (at most 10)" in in_words(plan())


def test_it_is_said_of_how_many_people_distances_are(plan: Plan) -> None:
    (said,) = [note for note in notes(plan(), [], [], ("a", "b")) if "Frechet" in note]
    assert said.endswith("the first all of them, the other three 1,000 of either at most.")
