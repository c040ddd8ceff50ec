"""Labelled inputs of a checkpoint, read from files and checked line by line."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from oscsim.bridge.digit_data import bundled_digits
from oscsim.bundled import data_folder
from oscsim.errors import DataError
from oscsim.models.config import FixedQueryConfig
from oscsim.typing import BoolArray, IntArray

PAD, BOS, EOS, UNK = "<PAD>", "<BOS>", "<EOS>", "<UNK>"

_WORDS = """
. above ant ants are bag bags ball balls bear bears bee bees beside bird birds bite
bites boat boats book books box boxes bus buses by car cars cat cats chair chairs child
children coin coins crab crabs cup cups deer dig digs dog dogs door doors drop drops
duck ducks eat eats fall falls fish flag flags flies fly fox foxes frog frogs goat goats
grow grows has hat hats have hop hops horse horses is jet jets key keys lamp lamps leaf
leaves live lives look looks map maps mice mouse move moves near on owl owls pen pens
plant plants play plays pull pulls rest rests ring rings rock rocks roll rolls run runs
seed seeds ship ships shoe shoes sit sits sleep sleeps spin spins stand stands star
stars stay stays stop stops swim swims table tables talk talks tank tanks the tree trees
under van vans wait waits walk walks wall walls was were with wolf wolves work works
"""

SVA_VOCABULARY: tuple[str, ...] = (PAD, BOS, EOS, UNK, *_WORDS.split())
"""Word of each id in the published subject-verb agreement models [1]_.

References
----------
.. [1] Pasqualetti & Guo (2026), "Attention by synchronization",
   arXiv:2606.12059, subject-verb agreement task.
"""


@dataclass(frozen=True, eq=False)
class TokenSet:
    """Sentences as token ids, with what is asked of each.

    Attributes
    ----------
    ids : IntArray, shape (n, T), int32
        ``<BOS>``, the sentence, ``<EOS>``, then padding; T is the longest,
        or the trained length if padded positions enter the read-out.
    lengths : IntArray, shape (n,)
        Ids of each row that are not padding.
    positions : IntArray, shape (n,)
        Column where the model is read: the verb, ``<BOS>`` counted.
    labels : IntArray, shape (n,)
        1 if the verb agrees with the subject.
    hard : BoolArray, shape (n,)
        Whether a second noun disagrees with the subject in number.
    words : tuple of tuple of str
        The sentences as they stand in the file.
    sha256 : str
        Digest of the file's bytes.
    path : str
        Where the sentences come from.
    """

    ids: IntArray
    lengths: IntArray
    positions: IntArray
    labels: IntArray
    hard: BoolArray
    words: tuple[tuple[str, ...], ...]
    sha256: str
    path: str

    def __len__(self) -> int:
        return len(self.labels)

    @property
    def inputs(self) -> IntArray:
        """What the model takes: the ids."""
        return self.ids

    @property
    def noun(self) -> str:
        """What one item is called."""
        return "sentence"


def bundled_data(config: FixedQueryConfig) -> Path:
    """Return the bundled evaluation set of a checkpoint's task.

    Raises
    ------
    DataError
        If there is none.
    """
    if config.task == "digits":
        return bundled_digits()
    path = data_folder("datasets") / "sva" / "validation.jsonl"
    if config.task != "sva" or not path.is_file():
        raise DataError(
            f"no data is bundled for a checkpoint of task {config.task!r}: give the "
            "data (--data), or say that it is a subject-verb agreement model "
            "(--config task=sva, config=dict(task='sva'))"
        )
    return path


@dataclass(frozen=True)
class _Row:
    words: tuple[str, ...]
    ids: list[int]
    position: int
    label: int
    hard: bool


def read_sva(path: str | Path, config: FixedQueryConfig) -> TokenSet:
    """Read a subject-verb agreement file and encode it for a checkpoint.

    Parameters
    ----------
    path : str or Path
        JSON lines, UTF-8, in the published format [1]_: ``tokens`` (list of
        str), ``label`` (0 or 1), ``verb_idx`` (position in ``tokens``) and,
        to tell hard sentences, ``distractor_agrees`` (true, false, or null as
        if absent). Blank lines are skipped,
        further fields ignored.
    config : FixedQueryConfig
        Gives the vocabulary, the padding id and the longest input.

    Returns
    -------
    TokenSet
        One row a sentence, in the order of the file.

    Raises
    ------
    DataError
        If the file is missing, a folder, empty or not UTF-8; if a line is not
        a JSON object, lacks a field or holds a value outside its range; if a
        token is not in the vocabulary (``<UNK>`` counts as known only where
        the file itself says ``<UNK>``); if a sentence with its two marks is
        longer than ``config.max_len``; or if the checkpoint has no vocabulary.

    References
    ----------
    .. [1] Pasqualetti & Guo (2026), arXiv:2606.12059, subject-verb agreement.
    """
    source = Path(path)
    if source.is_dir():
        raise DataError(f"{source} is a folder: give a JSON-lines file")
    if source.exists() and not source.is_file():
        raise DataError(f"{source} is not a regular file: give a JSON-lines file")
    try:
        data = source.read_bytes()
    except FileNotFoundError:
        raise DataError(f"there is no data file {source}") from None
    except (OSError, ValueError) as error:
        raise DataError(f"{source} cannot be read: {error}") from None
    return parse_sva(data, config, source=str(source))


def parse_sva(data: bytes, config: FixedQueryConfig, *, source: str) -> TokenSet:
    """Encode JSON lines already in memory; see `read_sva`.

    Parameters
    ----------
    data : bytes
        Content of the file.
    config : FixedQueryConfig
        Gives the vocabulary, the padding id and the longest input.
    source : str
        Name used in messages and in ``TokenSet.path``.

    Raises
    ------
    DataError
        As `read_sva`.
    """
    vocabulary = _vocabulary(config)
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise DataError(f"{source}, line {line}: not UTF-8 text") from None
    rows = [
        _row(line, vocabulary, config.max_len, f"{source}, line {number}")
        for number, line in enumerate(text.split("\n"), start=1)
        if line.strip()
    ]
    if not rows:
        raise DataError(f"{source} holds no sentences")
    padded = [n for n, row in enumerate(rows, 1) if config.padding_idx in row.ids]
    if padded:
        raise DataError(
            f"sentence {padded[0]} of {source} holds the padding id "
            f"{config.padding_idx}: padding_idx must be of <PAD>, not of a word"
        )
    lengths = np.array([len(row.ids) for row in rows], dtype=np.int64)
    return TokenSet(
        ids=_pad([row.ids for row in rows], lengths, config, source),
        lengths=lengths,
        positions=np.array([row.position for row in rows], dtype=np.int64),
        labels=np.array([row.label for row in rows], dtype=np.int64),
        hard=np.array([row.hard for row in rows], dtype=np.bool_),
        words=tuple(row.words for row in rows),
        sha256=hashlib.sha256(data).hexdigest(),
        path=source,
    )


def _vocabulary(config: FixedQueryConfig) -> dict[str, int]:
    if config.vocabulary is None:
        raise DataError(
            "the checkpoint has no vocabulary, so words cannot be turned into ids: "
            "give config=dict(task='sva') if it was trained on the published one"
        )
    vocabulary = {word: i for i, word in enumerate(config.vocabulary)}
    for mark in (BOS, EOS):
        if mark not in vocabulary:
            raise DataError(f"the checkpoint's vocabulary has no {mark}")
    return vocabulary


def _row(line: str, vocabulary: dict[str, int], max_len: int, where: str) -> _Row:
    record = _record(line, where)
    missing = [name for name in ("tokens", "label", "verb_idx") if name not in record]
    if missing:
        raise DataError(f"{where}: missing {', '.join(missing)}")
    words = _words(record["tokens"], vocabulary, where)
    if len(words) + 2 > max_len:
        raise DataError(
            f"{where}: {len(words)} tokens and two marks do not fit the "
            f"checkpoint's longest input, {max_len}"
        )
    label = record["label"]
    if type(label) is not int or label not in (0, 1):
        raise DataError(f"{where}: label must be 0 or 1, got {label!r:.60}")
    verb = record["verb_idx"]
    if type(verb) is not int or not 0 <= verb < len(words):
        raise DataError(
            f"{where}: verb_idx must be 0..{len(words) - 1} "
            f"for {len(words)} tokens, got {verb!r:.60}"
        )
    agrees = record.get("distractor_agrees")
    if agrees is not None and type(agrees) is not bool:
        raise DataError(
            f"{where}: distractor_agrees must be true, false or null, "
            f"got {agrees!r:.60}"
        )
    ids = [vocabulary[BOS], *(vocabulary[word] for word in words), vocabulary[EOS]]
    return _Row(words, ids, verb + 1, label, agrees is False)


def _record(line: str, where: str) -> Mapping[str, Any]:
    try:
        record = json.loads(line)
    except (ValueError, RecursionError):
        raise DataError(f"{where}: not JSON: {line.strip()!r:.60}") from None
    if not isinstance(record, dict):
        raise DataError(f"{where}: a JSON object is needed, got {line.strip()!r:.60}")
    return record


def _words(tokens: Any, vocabulary: dict[str, int], where: str) -> tuple[str, ...]:
    if not isinstance(tokens, list) or not tokens:
        raise DataError(f"{where}: tokens must be a non-empty list, got {tokens!r:.60}")
    for token in tokens:
        if not isinstance(token, str) or token not in vocabulary:
            raise DataError(
                f"{where}: the token {token!r:.60} is not in the checkpoint's "
                f"vocabulary of {len(vocabulary)} words"
            )
        if token in (PAD, BOS, EOS):
            raise DataError(f"{where}: {token} is added on reading, not in the file")
    return tuple(tokens)


def _pad(
    rows: list[list[int]], lengths: IntArray, config: FixedQueryConfig, source: str
) -> IntArray:
    """Pad to the longest; to the trained length where padding is read out."""
    padding = config.padding_idx
    if padding is None and lengths.min() != lengths.max():
        raise DataError(
            f"{source} has sentences of {lengths.min()} to {lengths.max()} ids, but "
            "the checkpoint has no padding_idx: give sentences of one length"
        )
    n_time = int(lengths.max())
    if padding is not None and not config.mask_readout:
        n_time = max(n_time, config.trained_length or 0)
    ids = np.full((len(rows), n_time), padding or 0, dtype=np.int32)
    for row, out in zip(rows, ids, strict=True):
        out[: len(row)] = row
    return ids
