"""What an earlier call found out about the models of a sweep, read from its store."""

from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from oscsim.design.spec import SweepSpec
from oscsim.design.store_file import open_store
from oscsim.design.subject import Known, Subject
from oscsim.errors import SpecError, StoreError
from oscsim.libraries import library_versions


def recalled(
    path: Path | None, spec: SweepSpec, subjects: Mapping[str, Subject]
) -> dict[str, Known]:
    """Return the digital results that a store has of models, by name.

    Only those of the same checkpoint, the same items and the same versions, whose
    bits a digital pass would give again. A store that is not there, damaged or of
    something else gives none, so that whoever opens it to write says what is wrong.

    Parameters
    ----------
    path : Path or None
        The store.
    spec : SweepSpec
        What was asked.
    subjects : mapping of str to Subject
        The models.
    """
    if path is None or not path.is_file():
        return {}
    with suppress(SpecError, StoreError, ValueError), open_store(path) as store:
        if store.about("versions") != library_versions():
            return {}
        context = store.about("spec").get("context")
        return {
            name: known
            for name, (content, known) in store.subjects().items()
            if context == spec.context
            and name in subjects
            and _is_same(content, subjects[name])
        }
    return {}


def _is_same(content: Mapping[str, object], subject: Subject) -> bool:
    data = subject.data
    return (
        content.get("sha256") == subject.checkpoint.sha256
        and content.get("data_sha256") == data.sha256
        and content.get("items") == len(data)
        and content.get("metric") == subject.metric
    )
