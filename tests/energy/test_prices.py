import pytest

from oscsim.energy.components import Library
from oscsim.energy.prices import DIGITAL_ACTIONS, Prices, digital_nodes
from oscsim.errors import ComponentError
from oscsim.substrate.device import Device
from tests.energy.toy import entry, library


def test_flat_list_is_a_product_and_nested_lists_are_a_sum():
    prices = Prices.of({"exp": ["a", "b"], "gelu": [["a", "b"], ["c"]]})
    assert prices.terms == {"exp": (("a", "b"),), "gelu": (("a", "b"), ("c",))}


@pytest.mark.parametrize(
    "ids", [[], [[]], ["a", ["b"]], [["a"], []], "ab", [3], [["a", 3]], 3, None]
)
def test_shapes_that_are_neither(ids):
    with pytest.raises(ComponentError, match=r"price of 'exp': a list of component"):
        Prices.of({"exp": ids})


@pytest.mark.parametrize("prices", [None, 3, [("exp", ["a"])]])
def test_prices_are_a_mapping(prices):
    with pytest.raises(ComponentError, match=r"prices must be a mapping of actions"):
        Prices.of(prices)


def test_unknown_action():
    with pytest.raises(ComponentError, match=r"unknown action 'reads': one of add, "):
        Prices.of({"reads": ["read"]})


@pytest.mark.parametrize(
    ("action", "product", "message"),
    [
        ("mac", ("twice", "third"), r"exactly one .* got twice \(ratio\)"),
        ("mac", ("read", "write"), r"exactly one .* got read \(pJ\), write \(pJ\)"),
        ("mac", ("read", "percent"), r"exactly one .* percent \(%\)"),
        ("mac", ("nothing",), r"unknown component 'nothing'"),
        ("mac", ("bias",), r"counts events, but bias is a power"),
        ("mac", ("ring",), r"counts events, but ring is a power or an energy per cyc"),
        ("oscillator_s", ("read",), r"counts seconds, but read is an energy per event"),
        ("oscillator_s", ("ring",), r"ring is per cycle, so frequency_hz"),
    ],
)
def test_unit_mismatches(action, product, message):
    prices = Prices.of({action: product})
    with pytest.raises(ComponentError, match=message):
        prices.base(action, product, library(entry("percent", 1.0, "%")))


def test_every_node_prices_every_digital_action():
    assert digital_nodes() == (7, 45)
    bundled = Library.load()
    for node in digital_nodes():
        prices = Prices.digital(node)
        assert set(prices.terms) == set(DIGITAL_ACTIONS)
        for action, products in prices.terms.items():
            for product in products:
                base = prices.base(action, product, bundled)
                assert base.node_nm in (0, node), "a component of another node"


@pytest.mark.parametrize("node", [14, 28, 65])
def test_no_node_is_extrapolated(node):
    with pytest.raises(ComponentError, match=rf"for {node} nm.*must be one of 7, 45"):
        Prices.digital(node)


def device(**energy):
    return Device.parse(
        {
            "name": "d",
            "oscillator": "ring",
            "frequency_hz": 1e9,
            "coupling_max": 1e8,
            "energy": {
                "oscillator_node_nm": 45,
                "digital_node_nm": 45,
                "prices": {"oscillator_s": ["osc.ring_cycle_45", "knob.periphery"]},
            }
            | energy,
        }
    )


def test_a_device_adds_its_substrate_to_the_digital_table():
    prices = Prices.of_device(device())
    assert set(prices.terms) == {*DIGITAL_ACTIONS, "oscillator_s"}
    assert prices.frequency_hz == 1e9
    assert set(prices.overheads) == {"leakage", "clock", "calibration"}
    assert (prices.oscillator_node_nm, prices.digital_node_nm) == (45, 45)


def test_a_device_cannot_price_the_digital_logic():
    with pytest.raises(ComponentError, match=r"device d prices 'mac', which the digi"):
        Prices.of_device(device(prices={"mac": ["dig45.int8_mac"]}))


def test_a_device_without_prices():
    bare = Device(name="bare", oscillator="ideal", time_unit="model")
    with pytest.raises(ComponentError, match=r"device bare has no energy section"):
        Prices.of_device(bare)


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ("[node.45]\nmac = []", r"digital.toml: node.45.mac"),
        ("[node.x]\nmac = ['a']", r"digital.toml: node.x"),
        ("[nodes.45]\nmac = ['a']", r"digital.toml: "),
    ],
)
def test_a_malformed_digital_table(tmp_path, monkeypatch, table, message):
    (tmp_path / "digital.toml").write_text(
        "schema_version = 1\noverhead = {}\n" + table
    )
    monkeypatch.setattr("oscsim.energy.prices.data_folder", lambda kind: tmp_path)
    with pytest.raises(ComponentError, match=message):
        digital_nodes()


def test_the_nominal_price_of_a_sum_in_joules_or_watts():
    prices = Prices.of(
        {
            "exp": [["read", "twice"], ["write"]],
            "oscillator_s": [["ring"], ["bias", "twice"]],
        },
        frequency_hz=2e9,
    )
    assert prices.nominal("exp", library()) == pytest.approx(3.2e-12)
    assert prices.nominal("oscillator_s", library()) == pytest.approx(1e-4 + 6e-6)
    with pytest.raises(ComponentError, match=r"action 'mac' has no price"):
        prices.nominal("mac", library())
