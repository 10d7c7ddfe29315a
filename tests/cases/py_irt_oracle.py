"""Values of PyPI py-irt for Rasch, by variational inference, written to py_irt_oracle.json.

Run in an environment of its own, once (half a minute):

    python -m venv py-irt-env && py-irt-env/bin/pip install py-irt==0.7.1
    py-irt-env/bin/python tests/cases/py_irt_oracle.py

The data are those of girth_oracle.py. py-irt gives a mean-field posterior under priors, by stochastic steps, and no
maximum of the likelihood: between runs the difficulty of the model that seldom fails moved between 1.95 and 2.35. It
tells whether difficulties lie in like order and distance, not their digits; those are girth's to tell.
"""

from __future__ import annotations

import json
from importlib.metadata import version
from pathlib import Path
from tempfile import TemporaryDirectory

from girth_oracle import MODELS, SEED, simulate


def main() -> None:
    """Fit with py-irt and write the estimates."""
    from py_irt.config import IrtConfig
    from py_irt.training import IrtModelTrainer

    found = {"py-irt": version("py-irt"), "seed": SEED, "models": MODELS}
    with TemporaryDirectory() as folder:
        data = Path(folder) / "answers.jsonlines"
        with data.open("w", encoding="utf-8") as file:
            for number, row in enumerate(simulate().astype(int)):
                answers = {f"m{j}": int(failed) for j, failed in enumerate(row)}
                file.write(json.dumps({"subject_id": f"i{number}", "responses": answers}) + "\n")
        for name, model in (("rasch", "1pl"), ("2pl", "2pl")):
            config = IrtConfig(model_type=model, epochs=8000, lr=0.05, lr_decay=0.9995, seed=3, deterministic=True)
            trainer = IrtModelTrainer(config=config, data_path=data, verbose=False)
            trainer.train(device="cpu")
            place = {item: number for number, item in trainer.last_params["item_ids"].items()}
            order = [int(place[f"m{j}"]) for j in range(MODELS)]
            found[name] = {
                key: [float(trainer.last_params[short][number]) for number in order]
                for key, short in (("difficulty", "diff"), ("discrimination", "disc"))
                if short in trainer.last_params
            }
    path = Path(__file__).with_name("py_irt_oracle.json")
    path.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    print(f"wrote {path.name}")  # noqa: T201


if __name__ == "__main__":
    main()
