"""Subject-verb agreement sentences from a small grammar, for any seed."""

import json
import random
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from itertools import chain
from pathlib import Path
from typing import TypeVar

from oscsim.errors import SpecError
from oscsim.files import write_whole

T = TypeVar("T")

SEEDS = {"train": 0, "validation": 1, "test": 2}
SIZES = {"train": 40_000, "validation": 4_000, "test": 4_000}
P_DISTRACTOR = 0.6
P_AGREES = 0.5

_NOUNS = """
dog bear frog cat pen cup star flag hat ship shoe coin owl ball key plant crab tank
table tree ring boat rock bird seed wall book bag bee goat map horse chair van lamp
car duck ant door jet
"""
_IRREGULAR_NOUNS = (
    ("wolf", "wolves"),
    ("child", "children"),
    ("leaf", "leaves"),
    ("mouse", "mice"),
    ("box", "boxes"),
    ("fox", "foxes"),
    ("bus", "buses"),
    ("fly", "flies"),
    ("fish", "fish"),
    ("deer", "deer"),
)
_VERBS = """
stop play eat grow pull look drop rest sleep hop bite work run sit fall walk talk
stand roll live stay swim dig move spin wait
"""
_IRREGULAR_VERBS = (("is", "are"), ("was", "were"), ("has", "have"), ("flies", "fly"))

NOUNS: tuple[tuple[str, str], ...] = (
    *((noun, f"{noun}s") for noun in _NOUNS.split()),
    *_IRREGULAR_NOUNS,
)
"""Singular and plural of every noun; two have one form for both."""

VERBS: tuple[tuple[str, str], ...] = (
    *((f"{verb}s", verb) for verb in _VERBS.split()),
    *_IRREGULAR_VERBS,
)
"""Third person singular and plural of every verb."""

PREPOSITIONS = ("above", "near", "with", "by", "on", "beside", "under")

WORDS = tuple(
    sorted({"the", ".", *PREPOSITIONS, *chain(*NOUNS), *chain(*VERBS)}),
)
"""Every word the grammar can produce, sorted."""

_ONE_FORM = frozenset(noun for noun, plural in NOUNS if noun == plural)


@dataclass(frozen=True)
class Sentence:
    """One labelled sentence; the fields are those of the published files.

    Attributes
    ----------
    tokens : tuple of str
        Words and the full stop.
    label : {0, 1}
        1 if the verb agrees with the subject in number.
    subject_idx, verb_idx : int
        Positions in ``tokens``.
    distractor_idx : int or None
        Position of the second noun.
    has_distractor : bool
        Whether there is a second noun.
    distractor_agrees : bool or None
        Whether its number is the subject's; False makes the sentence *hard*.
    """

    tokens: tuple[str, ...]
    label: int
    subject_idx: int
    verb_idx: int
    distractor_idx: int | None
    has_distractor: bool
    distractor_agrees: bool | None


def generate(n: int, seed: int) -> list[Sentence]:
    """Draw labelled sentences from the grammar.

    ``the NOUN VERB .`` with probability 0.4, else
    ``the NOUN PREP the NOUN VERB .``. Nouns, verbs and prepositions are
    uniform, number and label are fair coins, and the second noun agrees in
    number with the first with probability 0.5.

    Parameters
    ----------
    n : int
        Number of sentences, at least 1.
    seed : int
        0 is the training set, 1 the validation set, 2 the test set.

    Returns
    -------
    list of Sentence
        Sentences of 4 or 7 tokens. The first ``k`` of a longer list are the
        list of length ``k``.

    Raises
    ------
    SpecError
        If ``n < 1``.

    Notes
    -----
    Only ``random.Random(seed).random()`` is drawn from: Python guarantees that
    sequence across its versions, which numpy does not for its generators.

    References
    ----------
    .. [1] Pasqualetti & Guo (2026), "Attention by synchronization",
       arXiv:2606.12059, subject-verb agreement task.
    """
    if n < 1:
        raise SpecError(f"n must be at least 1, got {n}")
    rng = random.Random(seed)
    return [_sentence(rng) for _ in range(n)]


def _sentence(rng: random.Random) -> Sentence:
    plural = rng.random() < 0.5
    agrees = rng.random() < 0.5
    has_distractor = rng.random() < P_DISTRACTOR
    words = ["the", _pick(rng, NOUNS)[plural]]
    distractor_agrees = None
    if has_distractor:
        distractor_agrees = rng.random() < P_AGREES
        number = plural if distractor_agrees else not plural
        words += [_pick(rng, PREPOSITIONS), "the", _pick(rng, NOUNS)[number]]
    verb = _pick(rng, VERBS)[plural if agrees else not plural]
    return Sentence(
        tokens=(*words, verb, "."),
        label=int(agrees),
        subject_idx=1,
        verb_idx=len(words),
        distractor_idx=4 if has_distractor else None,
        has_distractor=has_distractor,
        distractor_agrees=distractor_agrees,
    )


def _pick(rng: random.Random, items: Sequence[T]) -> T:
    return items[int(rng.random() * len(items))]


def ceiling(sentences: Sequence[Sentence]) -> float:
    """Return the expected accuracy of a reader who knows the grammar.

    Such a reader is right wherever the subject shows its number and is right
    half the time where it does not (fish, deer): label, number and distractor
    are independent, so nothing else in the sentence helps.

    Parameters
    ----------
    sentences : sequence of Sentence
        At least one.

    Returns
    -------
    float
        Fraction; its expectation over seeds is 1 - 0.5 * 2/50 = 0.98.

    Raises
    ------
    SpecError
        If there are no sentences.
    """
    if not sentences:
        raise SpecError("the ceiling of an empty list of sentences is not defined")
    return sum(ideal_reader(s) for s in sentences) / len(sentences)


def ideal_reader(sentence: Sentence) -> float:
    """Return the probability that a reader who knows the grammar is right."""
    return 0.5 if sentence.tokens[sentence.subject_idx] in _ONE_FORM else 1.0


def is_hard(sentence: Sentence) -> bool:
    """Return whether a second noun of the other number stands in between."""
    return sentence.distractor_agrees is False


def to_json_lines(sentences: Sequence[Sentence]) -> str:
    """Return sentences in the published format, one JSON object a line."""
    return "".join(json.dumps(asdict(s)) + "\n" for s in sentences)


def write_json_lines(path: Path, sentences: Sequence[Sentence]) -> None:
    """Write sentences in the published format to ``path``."""
    write_whole(path, to_json_lines(sentences).encode())
