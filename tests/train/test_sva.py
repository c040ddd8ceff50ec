"""The grammar: its words, its probabilities, and what a reader of it can score."""

import json
import math
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from oscsim.bridge.datasets import SVA_VOCABULARY, parse_sva
from oscsim.errors import SpecError
from oscsim.models.config import FixedQueryConfig
from oscsim.train.sva import (
    NOUNS,
    PREPOSITIONS,
    VERBS,
    WORDS,
    ceiling,
    generate,
    ideal_reader,
    is_hard,
    to_json_lines,
    write_json_lines,
)

DATA = Path(__file__).parents[2] / "data" / "datasets" / "sva"
TRAINING = generate(40_000, 0)
VALIDATION = generate(4_000, 1)


def z_score(successes: int, n: int, p: float) -> float:
    return (successes - n * p) / math.sqrt(n * p * (1 - p))


def test_the_grammar_produces_exactly_the_published_vocabulary() -> None:
    assert len(NOUNS) == 50
    assert len(VERBS) == 30
    assert len(SVA_VOCABULARY) == 169
    assert ("<PAD>", "<BOS>", "<EOS>", "<UNK>", *WORDS) == SVA_VOCABULARY


def test_every_word_occurs_in_the_training_set() -> None:
    assert {word for s in TRAINING for word in s.tokens} == set(WORDS)


def test_a_shorter_list_is_the_start_of_a_longer_one() -> None:
    assert generate(20, 3) == generate(50, 3)[:20]


def test_seeds_give_different_sentences() -> None:
    assert generate(20, 0) != generate(20, 1)


def events(sentences) -> dict[str, tuple[int, int, float]]:
    """Count each event: how often, out of how many, exact probability."""
    n = len(sentences)
    two = [s for s in sentences if s.has_distractor]
    prepositions = Counter(s.tokens[2] for s in two)
    subjects = Counter(s.tokens[1] for s in sentences)
    return {
        "agrees": (sum(s.label for s in sentences), n, 0.5),
        "has a distractor": (len(two), n, 0.6),
        "distractor agrees": (
            sum(bool(s.distractor_agrees) for s in two),
            len(two),
            0.5,
        ),
        "hard": (sum(map(is_hard, sentences)), n, 0.3),
        "hard and agrees": (sum(is_hard(s) and s.label for s in sentences), n, 0.15),
        "subject is 'dog'": (subjects["dog"], n, 0.01),
        "subject is 'fish'": (subjects["fish"], n, 0.02),
        "verb is 'flies'": (
            sum(s.tokens[s.verb_idx] == "flies" for s in sentences),
            n,
            1 / 60,
        ),
        "preposition is 'with'": (prepositions["with"], len(two), 1 / 7),
    }


@pytest.mark.parametrize("event", events(TRAINING[:10]))
def test_marginal_probabilities_are_exact(event: str) -> None:
    """n = 40,000: 4 standard errors are 1 % of the commonest, 20 % of the rarest."""
    successes, n, p = events(TRAINING)[event]
    assert abs(z_score(successes, n, p)) < 4
    assert abs(z_score(successes, n, p / 2)) > 10


def test_the_second_noun_never_repeats_a_bias_of_the_first() -> None:
    """Number of the second noun given the label is a fair coin in both classes."""
    for label in (0, 1):
        two = [s for s in TRAINING if s.has_distractor and s.label == label]
        assert abs(z_score(sum(map(is_hard, two)), len(two), 0.5)) < 4


def rule_based(sentence) -> bool:
    """Say whether the verb agrees, from lists of forms; fish and deer: yes."""
    singular = {noun for noun, _ in NOUNS}
    plural = {noun for _, noun in NOUNS}
    subject = sentence.tokens[1]
    verb = sentence.tokens[-2]
    if subject in singular and subject in plural:
        return True
    return (subject in singular) == (verb in {s for s, _ in VERBS})


def test_ceiling_of_a_rule_based_reader_on_the_validation_set() -> None:
    hard = list(filter(is_hard, VALIDATION))
    assert len(hard) == 1224
    assert ceiling(VALIDATION) == pytest.approx(0.978625, abs=1e-12)
    assert ceiling(hard) == pytest.approx(0.976716, abs=1e-6)
    for sentences in (VALIDATION, hard):
        right = sum(rule_based(s) == bool(s.label) for s in sentences)
        open_ = sum(ideal_reader(s) == 0.5 for s in sentences)
        deviation = right - ceiling(sentences) * len(sentences)
        assert abs(deviation) < 4 * math.sqrt(open_ / 4)
        assert right < len(sentences)


def test_the_rule_is_never_wrong_where_the_subject_shows_its_number() -> None:
    assert all(
        rule_based(s) == bool(s.label) for s in TRAINING if ideal_reader(s) == 1.0
    )


@given(st.integers(min_value=0, max_value=2**32))
def test_every_sentence_is_what_its_fields_say(seed: int) -> None:
    (s,) = generate(1, seed)
    n = len(s.tokens)
    assert n == (7 if s.has_distractor else 4)
    assert s.tokens[0] == "the"
    assert s.tokens[-1] == "."
    assert s.verb_idx == n - 2
    assert s.tokens[s.subject_idx] in {form for noun in NOUNS for form in noun}
    assert s.tokens[s.verb_idx] in {form for verb in VERBS for form in verb}
    assert (s.distractor_idx is not None) == s.has_distractor
    assert (s.distractor_agrees is not None) == s.has_distractor
    if s.distractor_idx is not None:
        assert s.tokens[s.distractor_idx - 2] in PREPOSITIONS


def test_json_lines_have_the_published_fields_in_order() -> None:
    record = json.loads(to_json_lines(generate(1, 0)))
    assert list(record) == [
        "tokens",
        "label",
        "subject_idx",
        "verb_idx",
        "distractor_idx",
        "has_distractor",
        "distractor_agrees",
    ]


def test_bundled_files_are_what_the_generator_gives(tmp_path: Path) -> None:
    write_json_lines(tmp_path / "v.jsonl", VALIDATION)
    bundled = (DATA / "validation.jsonl").read_bytes()
    assert (tmp_path / "v.jsonl").read_bytes() == bundled
    assert (DATA / "calibration.jsonl").read_text() == to_json_lines(TRAINING[:256])
    assert len(bundled) < 700_000


def test_generated_sentences_are_read_back() -> None:
    config = FixedQueryConfig(
        attention="softmax",
        vocab_size=169,
        d_model=4,
        n_heads=1,
        n_layers=1,
        d_ff=4,
        max_len=50,
        n_outputs=1,
        vocabulary=SVA_VOCABULARY,
    )
    sentences = generate(200, 7)
    data = parse_sva(to_json_lines(sentences).encode(), config, source="memory")
    assert data.words == tuple(s.tokens for s in sentences)
    assert data.labels.tolist() == [s.label for s in sentences]
    assert data.hard.tolist() == [is_hard(s) for s in sentences]


def test_no_sentences_are_refused() -> None:
    with pytest.raises(SpecError, match="n must be at least 1, got 0"):
        generate(0, 0)
    with pytest.raises(SpecError, match="ceiling of an empty list"):
        ceiling([])
