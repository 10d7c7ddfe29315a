"""The commented plan that `polyculture lab init --of loop` writes."""

from __future__ import annotations

__all__ = ["LOOP_STARTER"]

LOOP_STARTER = """\
# A feedback loop: run it with  polyculture lab loop THIS_FILE --out FOLDER
# In each generation a generator samples people, a classifier trains on them, and the next generation starts from that.

name = "german-credit loop"
label = "credit"         # the class of each individual: a column, or a condition
favourable = "1"         # the class that is good to get
generations = 5
seeds = 3                # chains of each arm; intervals are over seeds
test_share = 0.3         # of the real individuals are tested on, and never trained on
samples = 10000          # people sampled of each generator to measure it
ideal = "uniform"        # over class x group; or "original", or a table of [[ideal]]
seed = 0

[data]
source = "german_credit" # or a file (CSV, Parquet, JSON Lines, Arrow), or "module:function" of your own loader
groups = ["age>=25"]     # group columns, or conditions

# [[ideal]]              # every stratum that shall be there, with its share; they sum to 1
# target = "1"
# group = "true"
# share = 1.0

[generator]              # anything with fit and sample; transformers before it must have inverse_transform
steps = [{ estimator = "sklearn.decomposition.PCA", parameters = { n_components = 20 } },
         { estimator = "sklearn.mixture.GaussianMixture", parameters = { n_components = 3, reg_covar = 0.001 } }]

[[classifier]]           # anything with fit and predict_proba; decision-makers take turns through the list
estimator = "sklearn.linear_model.LogisticRegression"
parameters = { max_iter = 1000 }

[[arm]]                  # others are compared with the first
setting = "SeqClass"     # labels come from the classifier before; the generator stays

[[arm]]
setting = "SeqGenSeqClass"        # and each generator learns from the one before

[[arm]]
setting = "SeqGenSeqClass"
intervention = [{ kind = "STAR", of = ["classifier", "generator"], budget = 0.25 }]

# Other settings: SeqGenNonSeqClass (labels always by the annotator), Static.
# Further shifts of an arm: shift = [{ kind = "synthetic share", share = 0.5 }]; kinds: sequential labels, model
# collapse, synthetic share, data spill, disparity amplification, selective labels, runaway feedback,
# reacting population.
# Other interventions: reweighting, class balance, group balance, fresh data, drop detected, fairness constraint.
# Networks (extra [torch]): estimator = "polyculture.lab.loops.torch_actors.VAE" as the generator; MLP, CNN, ResNet or
# Network as classifiers; above also  device = "cuda"  and  batch = 256.
# Several decision-makers: decision_makers = 3 above, and in an arm pool = "shared", "separate" or a share.
"""
