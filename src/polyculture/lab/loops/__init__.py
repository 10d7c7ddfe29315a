"""Feedback loops: generations of models that train on each other's outputs, and what is done about it (2403.07857).

A run is a set of chains, one an arm and seed. Each generation of a chain goes the same way:

    generators sample  ->  shifts say who is there and who labels  ->  interventions say who of them is trained on
          ^                                                                                |
          |                                                                                v
    the next generation  <-  what is kept of this one  <-  measured on real people  <-  models are fitted

``plan``          what is run: data, ideal, actors, arms; ``plan_checks`` whether it fits together
``world``         the individuals as arrays: features, classes, groups, strata, the split into train and test
``rows``          some people with their labels and groups, and draws of them
``actors``        protocols of generators, classifiers and annotators, and the scikit-learn ones
``shifts``        what moves the data, each a small class with its formal statement; settings are sets of them
``interventions`` what is done about it: reparation (``star``) and the baselines beside it
``chain``         one arm and seed, generation after generation; ``generation`` one of them, to parquet and back
``store``, ``run``  the folder that survives being killed, and joblib
``measures``      one generation on the real test individuals, and of the generated people
``analysis``      bands over seeds, contrasts of arms, accounting, when the collapse set in -> ``records``

Nothing here draws a page or reads an argument; the public call stands in ``polyculture.loops``.
"""
