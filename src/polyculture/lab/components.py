"""What decision-makers learn with: estimators built from import paths and parameters, never unpickled."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib import import_module
from inspect import signature
from pathlib import Path
from typing import TYPE_CHECKING, Any

from polyculture.errors import PolycultureError, UsageError, nearest

if TYPE_CHECKING:
    from polyculture.lab.plan import Plan, Step

__all__ = ["build", "check_learners", "import_path", "modules_of", "need_lab", "parameters_of", "set_parameters"]


def need_lab() -> None:
    """Refuse to go on without the extra [lab].

    Raises
    ------
    UsageError
        The message says how to install it.
    """
    for module in ("sklearn", "joblib"):
        try:
            import_module(module)
        except ImportError:
            raise UsageError(
                f"The lab needs {'scikit-learn' if module == 'sklearn' else module}, which is not installed.",
                hint="Install it: pip install 'polyculture[lab]'",
            ) from None


@contextmanager
def modules_of(folder: Path) -> Iterator[None]:
    """Let import paths name modules of a folder while a block runs; those that are installed come first."""
    place = str(folder.resolve())
    if place in sys.path:
        yield
        return
    sys.path.append(place)
    try:
        yield
    finally:
        sys.path.remove(place)


def import_path(path: str, what: str = "estimator") -> Any:
    """Return what an import path names: ``package.module.Name`` or ``package.module:name``.

    Raises
    ------
    UsageError
        If there is no such module or name; the message names the nearest.

    Examples
    --------
    >>> import_path("fractions.Fraction").__name__
    'Fraction'
    """
    module_name, _, name = path.partition(":") if ":" in path else path.rpartition(".")
    if not module_name or not name:
        raise UsageError(f"The {what} {path!r} is no import path.", hint="Write it as sklearn.svm.SVC.")
    try:
        module = import_module(module_name)
    except ImportError as error:
        raise UsageError(
            f"The {what} {path!r} cannot be imported: {error}.", hint="Correct the path, or install its package."
        ) from None
    except (Exception, SystemExit) as error:  # whatever a module of the user's does when it is imported
        raise UsageError(
            f"The {what} {path!r} cannot be imported: {type(error).__name__}: {error}.",
            hint=f"Mend {module_name}, or name another.",
        ) from None
    if not hasattr(module, name):
        hint = nearest(name, dir(module)) or f"Look what {module_name} holds."
        raise UsageError(f"There is no {name!r} in {module_name}, named as {what}.", hint=hint)
    return getattr(module, name)


def build(steps: Sequence[Step], random_state: int | None = None, offered: Mapping[str, Any] | None = None) -> Any:
    """Return the pipeline of some steps.

    Parameters
    ----------
    steps : sequence of Step
        The estimators in order.
    random_state : int, optional
        For every step that takes one and was not given one.
    offered : mapping, optional
        Other parameters, for every step that takes one of the name and was not given one; "image" for the first only,
        since the others see what that makes of the images.

    Raises
    ------
    UsageError
        If an estimator cannot be imported or does not take a parameter.
    """
    from sklearn.pipeline import make_pipeline

    more = {} if random_state is None else {"random_state": random_state}
    more.update(offered or {})
    later = {name: value for name, value in more.items() if name != "image"}
    return make_pipeline(
        *(_estimator(step.estimator, step.parameters, later if place else more) for place, step in enumerate(steps))
    )


def _estimator(path: str, parameters: Mapping[str, Any], offered: Mapping[str, Any]) -> Any:
    kind = import_path(path)
    given = {name: _parameter(value, offered) for name, value in parameters.items()}
    try:
        made = kind(**given)
        known = parameters_of(made)
    except (TypeError, AttributeError) as error:
        accepted = _names(kind)
        wrong = next((name for name in given if accepted and name not in accepted), "")
        hint = nearest(wrong, accepted) if wrong else "Name a class with the interface of scikit-learn."
        raise UsageError(f"{path} cannot be made with these parameters: {error}.", hint=hint) from None
    except PolycultureError:
        raise
    except (Exception, SystemExit) as error:  # whatever a class of the user's raises when it is made
        raise UsageError(
            f"{path} cannot be made with these parameters: {type(error).__name__}: {error}.",
            hint="Give it parameters that it takes.",
        ) from None
    taken = {name: one for name, one in offered.items() if name in known and name not in given}
    if taken:
        set_parameters(made, taken)
    return made


def parameters_of(estimator: Any) -> Mapping[str, Any]:
    """Return the parameters of an estimator; of a plain class the arguments of its constructor that it keeps.

    >>> class Plain:
    ...     def __init__(self, width=2, kept=None):
    ...         self.width = width
    >>> dict(parameters_of(Plain()))
    {'width': 2}
    """
    if hasattr(estimator, "get_params"):
        found: Mapping[str, Any] = estimator.get_params(deep=False)
        return found
    arguments = getattr(type(estimator), "__init__", object.__init__)
    names = signature(arguments).parameters if arguments is not object.__init__ else ()
    return {name: getattr(estimator, name) for name in names if name != "self" and hasattr(estimator, name)}


def set_parameters(estimator: Any, given: Mapping[str, Any]) -> None:
    """Set parameters of an estimator, of a plain class its attributes."""
    if hasattr(estimator, "set_params"):
        estimator.set_params(**given)
        return
    for name, value in given.items():
        setattr(estimator, name, value)


def _parameter(value: Any, offered: Mapping[str, Any]) -> Any:
    """Return a parameter; a table with an estimator in it is that estimator, a list is looked through."""
    if isinstance(value, Mapping) and "estimator" in value and isinstance(value["estimator"], str):
        unknown = sorted(set(value) - {"estimator", "parameters"})
        if unknown:
            raise UsageError(
                f"There is no key {unknown[0]!r} beside an estimator.", hint="Write estimator and parameters."
            )
        return _estimator(value["estimator"], value.get("parameters", {}), offered)
    if isinstance(value, list | tuple):
        return [_parameter(one, offered) for one in value]
    return value


def _names(kind: Any) -> list[str]:
    names = getattr(kind, "_get_param_names", None)
    return list(names()) if callable(names) else []


def check_learners(plan: Plan) -> None:
    """Build every learner and preprocessing once, so that a wrong name is refused before anything runs.

    Raises
    ------
    UsageError
        If one cannot be built, or the last step of a learner predicts nothing.
    """
    for preprocessing in plan.preprocessing:
        for step in preprocessing.steps:
            if not hasattr(_piped(step), "transform"):
                raise UsageError(
                    f"{step.estimator} of preprocessing {preprocessing.name!r} transforms nothing.",
                    hint="Name a transformer, such as sklearn.preprocessing.StandardScaler.",
                )
    for learner in plan.learners:
        if learner.adapt is not None:
            continue
        last = learner.pipeline()[-1]
        build(learner.pipeline()[:-1], 0) if len(learner.pipeline()) > 1 else None
        if not hasattr(_piped(last), "predict"):
            raise UsageError(f"{last.estimator} predicts nothing.", hint="Name a classifier, such as sklearn.svm.SVC.")


def _piped(step: Step) -> Any:
    """Return what stands in a pipeline of scikit-learn, which takes its own kind only."""
    made = _estimator(step.estimator, step.parameters, {"random_state": 0})
    if not hasattr(made, "get_params"):
        raise UsageError(
            f"{step.estimator} cannot be made part of a pipeline: it has no get_params.",
            hint="Name a class with the interface of scikit-learn.",
        )
    return made
