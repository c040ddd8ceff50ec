"""The torch modules: against a loop over single numbers, masks, golden outputs."""

import math
from pathlib import Path

import numpy as np
import pytest

from oscsim.models.config import FixedQueryConfig, tensor_shapes

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.torch

from oscsim.train.fixed_query import FixedQueryModel, OscillatorAttention  # noqa: E402
from oscsim.train.golden import (  # noqa: E402
    CASES,
    golden_arrays,
    random_model,
    write_golden,
)

GOLDEN = Path(__file__).parents[2] / "data" / "golden" / "fixed_query.npz"
OSC = CASES["osc-d2"]


def changed(config: FixedQueryConfig, **changes: object) -> FixedQueryConfig:
    return config.model_copy(update=changes)


@pytest.mark.parametrize("case", CASES)
def test_state_dict_has_the_published_names_and_shapes(case: str) -> None:
    state = random_model(CASES[case], 0).state_dict()
    shapes = {name: tuple(tensor.shape) for name, tensor in state.items()}
    assert shapes == tensor_shapes(CASES[case])


@pytest.fixture(scope="module")
def live() -> dict[str, np.ndarray]:
    return golden_arrays()


def test_golden_file_is_what_the_modules_give(live) -> None:
    tolerance = {"float32": 1e-6, "float64": 1e-12}
    with np.load(GOLDEN) as stored:
        assert set(stored.files) == set(live)
        for name, expected in live.items():
            kind = name.rpartition("/")[2]
            if kind in tolerance:
                scale = max(1.0, float(np.abs(expected).max()))
                error = np.abs(stored[name] - expected).max()
                assert error < tolerance[kind] * scale, name
            else:
                np.testing.assert_array_equal(stored[name], expected)


@pytest.mark.parametrize("case", ["osc-d2", "osc-frames"])
def test_golden_models_use_every_tensor(live, case: str) -> None:
    """A tensor whose change is not seen in an output would not be pinned."""
    model = random_model(CASES[case], 0)
    ids = torch.from_numpy(live[f"{case}/ids/full"])
    ids = ids if ids.is_floating_point() else ids.long()
    with torch.no_grad():
        before = model(ids)
        for name, tensor in model.state_dict().items():
            kept = tensor.clone()
            tensor += 0.1 * torch.randn_like(tensor)
            assert (model(ids) - before).abs().max() > 1e-4, name
            tensor.copy_(kept)


def test_write_golden(tmp_path: Path) -> None:
    path = write_golden(tmp_path / "g")
    assert path == tmp_path / "g" / "fixed_query.npz"
    assert [p.name for p in path.parent.iterdir()] == [path.name]


def coupling(score: float, name: str) -> float:
    if name == "softplus":
        return math.log1p(math.exp(score))
    if name == "relu":
        return max(score, 0.0) + 1e-3
    return (score if score > 0 else math.expm1(score)) + 1.0


def attend(attn: OscillatorAttention, x: np.ndarray, pad: np.ndarray) -> np.ndarray:
    """Evaluate the published formulas for one sentence, number by number."""
    c = attn.config
    w = {k: v.detach().numpy() for k, v in attn.state_dict().items()}
    n, heads = len(x), []
    for head in range(c.n_heads):
        rows = slice(head * c.d_head, (head + 1) * c.d_head)
        q, k, v = (x @ w[f"W_{i}.weight"][rows].T for i in "qkv")
        r = w["anchors"][head]
        out = np.zeros((n, c.d_head))
        for i in range(n):
            last = i if c.causal else n - 1
            h = sum(
                coupling(float(q[i] @ k[j]) / math.sqrt(c.d_head), c.coupling) * r[j]
                for j in range(last + 1)
                if not pad[j]
            )
            z = h / math.sqrt(float(h @ h))
            a = [
                0.0
                if j > last or (pad[j] and c.mask_readout)
                else max(0.0, 1 + float(z @ r[j])) ** c.p
                for j in range(n)
            ]
            out[i] = sum(a[j] * v[j] for j in range(n)) / sum(a)
        heads.append(out)
    return np.concatenate(heads, axis=1) @ w["W_o.weight"].T + w["W_o.bias"]


@pytest.mark.parametrize("case", [name for name in CASES if name.startswith("osc")])
def test_attention_equals_a_loop_over_single_numbers(case: str) -> None:
    model = random_model(CASES[case], 5).double()
    attn = model.layers[0].attn
    rng = np.random.default_rng(0)
    x = rng.normal(size=(2, 6, CASES[case].d_model))
    pad = np.zeros((2, 6), bool)
    pad[1, 4:] = CASES[case].padding_idx is not None
    with torch.no_grad():
        out = attn(torch.from_numpy(x), torch.from_numpy(pad)).numpy()
    for row in range(2):
        expected = attend(attn, x[row], pad[row])
        np.testing.assert_allclose(out[row], expected, rtol=0, atol=1e-12)
        blind = attend(attn, x[row], np.zeros(6, bool))
        assert (np.abs(out[row] - blind).max() > 1e-3) == pad[row].any()


def last_difference(config: FixedQueryConfig, ids, other) -> float:
    """Return the largest change of the outputs at the first four positions."""
    model = random_model(config, 1).double()
    with torch.no_grad():
        return float((model(ids)[:, :4] - model(other)[:, :4]).abs().max())


@pytest.mark.parametrize("kind", ["osc-d2", "osc-p4-d8", "softmax"])
def test_clean_models_do_not_see_how_far_they_are_padded(kind: str) -> None:
    ids = torch.tensor([[3, 4, 5, 6, 0, 0, 0]])
    assert last_difference(CASES[kind], ids, ids[:, :4]) < 1e-12


def test_published_masks_do_see_it() -> None:
    """Negative control: padded anchors are read out."""
    ids = torch.tensor([[3, 4, 5, 6, 0, 0, 0]])
    assert last_difference(CASES["osc-published-mask"], ids, ids[:, :4]) > 1e-2


@pytest.mark.parametrize("kind", ["osc-causal", "softmax-causal"])
def test_causal_models_do_not_see_the_future(kind: str) -> None:
    ids, other = torch.tensor([[3, 4, 5, 6, 7, 8]]), torch.tensor([[3, 4, 5, 6, 9, 2]])
    config = changed(CASES[kind], padding_idx=None)
    assert last_difference(config, ids, other) < 1e-12
    assert last_difference(changed(config, causal=False), ids, other) > 1e-2


def test_new_anchors_lie_on_the_sphere_and_padding_embeds_to_zero() -> None:
    state = FixedQueryModel(CASES["osc-d8"]).state_dict()
    norms = state["layers.0.attn.anchors"].norm(dim=-1)
    torch.testing.assert_close(norms, torch.ones_like(norms))
    assert state["embedding.weight"][0].abs().max() == 0


def test_positions_are_sines_and_cosines_of_base_10000() -> None:
    pe = FixedQueryModel(CASES["osc-odd-width"]).state_dict()["pos_enc.pe"][0]
    for t, column, value in [
        (0, 1, 1.0),
        (3, 0, math.sin(3)),
        (3, 1, math.cos(3)),
        (6, 4, math.sin(6 / 10000 ** (4 / 9))),
        (6, 5, math.cos(6 / 10000 ** (4 / 9))),
        (6, 8, math.sin(6 / 10000 ** (8 / 9))),
    ]:
        assert float(pe[t, column]) == pytest.approx(value, abs=1e-6)


def test_dropout_acts_in_training_only() -> None:
    model = FixedQueryModel(OSC, dropout=0.5)
    ids = torch.tensor([[3, 4, 5]])
    assert not torch.equal(model(ids), model(ids))
    model.eval()
    assert torch.equal(model(ids), model(ids))
