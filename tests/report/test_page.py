"""The page says every number of a run, escapes names and needs nothing else."""

import html
import math
import re
from dataclasses import replace
from html.parser import HTMLParser

import numpy as np
import pytest

from oscsim.bridge.compare import compare
from oscsim.bridge.cost import attention_j
from oscsim.bridge.counted import counted
from oscsim.bridge.infer import infer
from oscsim.bridge.manifest import Manifest
from oscsim.bridge.scope import modelled
from oscsim.bridge.setting import Setting
from oscsim.bridge.summary import warnings_of
from oscsim.energy.components import Library
from oscsim.errors import SpecError
from oscsim.report import device_section, energy_section, sections
from oscsim.report.numbers import difference_range, percent, quantity, quantity_range
from oscsim.report.page import page, write_page
from oscsim.substrate.device import Device
from oscsim.substrate.perturb import Perturbation
from oscsim.substrate.tally import histogram_quantile

VOID = {"meta", "link", "br", "hr", "img", "input"}


class Reader(HTMLParser):
    """Collects text outside drawings, and checks that every tag is closed."""

    def __init__(self):
        super().__init__()
        self.open, self.text, self.tags = [], [], []

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_startendtag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data):
        if not {"svg", "style"} & set(self.open):
            self.text.append(data)


def read(content):
    reader = Reader()
    reader.feed(content)
    assert not reader.open
    return " ".join(" ".join(reader.text).split()), reader.tags


def section(content, name):
    found = re.search(rf'<section id="{name}">(.*?)</section>', content, re.DOTALL)
    return read(found[1])[0]


@pytest.fixture(scope="module")
def content(report):
    return page(report)


def test_it_has_every_headline_number(content, report):
    c, text = report.comparison, section(content, "result")
    for value in (c.digital, c.substrate, c.digital_all, c.substrate_all, c.agreement):
        assert percent(value) in text
    for low, high in (c.ci95, c.ci95_all):
        assert f"{percent(low)} to {percent(high)}" in text
    assert f"{c.max_abs_error:.3g}" in text


def test_differences_carry_their_standard_error(content, report):
    c = report.comparison
    assert not math.isclose(c.difference, c.difference_all)
    text = section(content, "result")
    for rows, gained, error in (
        (f"hard sentences ({c.n_items})", c.difference, c.difference_error),
        ("all sentences (192)", c.difference_all, c.difference_all_error),
    ):
        row = text[text.index(rows) :][:120]
        assert f"{100 * gained:+.2f} ± {100 * error:.2f} points" in row
    chance = math.sqrt(c.digital * (1 - c.digital) / c.n_items)
    assert f"in the first row, is {100 * chance:.2f} points" in text


def test_counts_are_those_of_the_run_in_its_words(content, report):
    text, tally = section(content, "result"), report.comparison.tally
    rows = counted(report.run, tally)
    assert [row.what for row in rows if row.number is None] == ["read-outs clipped"]
    for what, number, total in rows:
        if number is None:
            assert f"{what} not checked" in text
        else:
            assert f"{what} {number:,} of {total:,} {percent(number / total)}" in text
    median, p90 = (histogram_quantile(tally.error_histogram, q) for q in (0.5, 0.9))
    assert f"when read: median, p90 (rad) {median:.2g}, {p90:.2g}" in text


def test_it_says_scope_and_warnings(content, report):
    scope = section(content, "scope")
    assert report.modelled
    assert report.not_modelled
    for said in (*report.modelled, *report.not_modelled):
        assert said in scope
    result = section(content, "result")
    assert "a remark that must be seen" in result
    for said in report.run.warnings:
        assert said in result


def test_the_system_total_comes_first_and_rivals_stand_beside_it(content, report):
    cost, text = report.cost, section(content, "energy")
    system = cost.substrate.range_j()
    first = re.search(r"[\d.]+ [a-zµ]?J", text)
    assert first[0] == quantity(system.p50, "J")
    assert f"assumption range {quantity_range(system, 'J')} (p10..p90)" in text
    for total in ("core", "converters"):
        found = cost.substrate.range_j(total)
        assert quantity(found.p50, "J") in text
        assert quantity_range(found, "J") in text
    places = [text.index(s) for s in ("core + converters", "core (oscillators")]
    table = text.index("p10..p90, assumption range nominal")
    assert [table, *places] == sorted([table, *places])
    assert text.index("system total", table) < places[0]
    for name, ratio in cost.ratios().items():
        row = text[text.index(name) :][:220]
        assert quantity(cost.rivals[name].range_j().p50, "J") in row
        assert f"{ratio.p50:.4g}" in row
        assert f"{ratio.p10:.4g}..{ratio.p90:.4g}" in row
    assert "no oscillator-attention chip has published joules per token" in text
    assert cost.pairing in text
    assert f"{quantity(cost.latency_s, 's')} per token" in text
    for name, ledger in {"substrate": cost.substrate, **cost.rivals}.items():
        row = text[text.index(f" {name} {quantity(ledger.range_j().p50, 'J')}") :]
        assert quantity(attention_j(ledger), "J") in row[:220], name
    for name, found in cost.differences().items():
        assert difference_range(found, "J") in text[text.index(name) :][:220]
    assert "Nominal: every component" in text
    assert f"Rival left out: {cost.left_out}." in text


def test_nothing_is_said_twice(report):
    """Remarks hold all that the terminal prints; the page says each thing once."""
    cost = report.cost
    all_of_them = tuple(warnings_of(report.run, cost))
    assert cost.substrate.notes
    assert cost.left_out
    text, _ = read(page(replace(report, remarks=all_of_them)))
    for said in (*cost.substrate.notes, cost.left_out):
        assert said in " ".join(all_of_them)
        assert text.count(said) == 1, said


def test_it_lists_every_component_it_was_priced_with(content, report):
    text, cost = section(content, "energy"), report.cost
    carriers = {
        entry.component
        for ledger in (cost.substrate, *cost.rivals.values())
        for entry in ledger.entries
    }
    names = {part.id for part in cost.components}
    assert carriers <= names
    assert {"dig.overhead", "knob.periphery", "sys.leakage_share"} <= names
    assert "dig7.int8_mac" not in names
    library = Library.load()
    for name in names:
        part = library[name]
        row = text[text.index(f" {name} {part.value:g} {part.low:g}..{part.high:g}") :]
        for said in (part.source, part.confidence, part.unit):
            assert " ".join(said.split()) in row[:600], name


def test_differences_are_paired(report):
    cost = report.cost
    for name, rival in cost.rivals.items():
        gap = cost.substrate.draws["system"] - rival.draws["system"]
        assert cost.differences()[name] == pytest.approx(
            (np.quantile(gap, 0.1), np.median(gap), np.quantile(gap, 0.9))
        )
        unpaired = cost.substrate.range_j().p90 - rival.range_j().p10
        assert cost.differences()[name].p90 < 0.1 * unpaired


def test_the_banner_is_shown_when_the_ledger_has_one(content, report):
    ledger = report.cost.substrate
    total = ledger.nominal_j()
    guessed = replace(ledger, untrusted={"a <guess>": 0.8 * total})
    assert guessed.has_banner
    with_banner = energy_section.energy(replace(report.cost, substrate=guessed))
    assert guessed.banner in read(with_banner)[0]
    assert not ledger.has_banner
    assert "rests on numbers" not in section(content, "energy")


def test_it_has_every_field_of_the_device(content, report):
    device, text = report.run.setting.device, section(content, "device")
    for name in Device.model_fields:
        if name in ("name", "description", "provenance", "energy", "changes"):
            continue
        assert f" {name} " in text, name
    assert device.provenance
    for name, origin in device.provenance.items():
        assert f"{origin.source}" in text, name
        assert origin.confidence in text
    assert device.description in text
    for action, ids in device.energy.prices.items():
        assert f"{action} {' × '.join(ids)}" in text


def test_what_a_rung_leaves_out_is_marked(report):
    run = infer(
        report.run.checkpoint,
        report.run.data,
        device=report.run.setting.device,
        rung="noisy",
        chips=1,
        repeats=1,
    )
    text, _ = read(device_section.device(run.setting))
    assert re.search(r"weight_bits 5 bit .*? no secondary", text)
    assert re.search(r"diffusion 3900 rad\^2/s .*? yes derived", text)


@pytest.mark.parametrize(
    ("rung", "name", "said"),
    [
        ("device", "frequency_hz", "yes"),
        ("device", "coupling_max", "yes"),
        ("device", "weak_coupling", "yes"),
        ("device", "write_time", "yes"),
        ("device", "read_time", "yes"),
        ("device", "query_slots", "yes"),
        ("device", "range_limit", "yes"),
        ("device", "start", "yes"),
        ("device", "stuck_on", ""),
        ("noisy", "range_limit", "no"),
        ("noisy", "write_time", "yes"),
        ("ideal", "write_time", "no"),
        ("ideal", "start", "no"),
        ("ideal", "coupling_max", "yes"),
    ],
)
def test_what_sets_a_result_acts(rung, name, said):
    shown = device_section.device(Setting(Device.load("ring-65nm"), rung))
    row = re.search(rf"<td[^>]*>{name}</td>(.*?)</tr>", shown, re.DOTALL)[1]
    cells = re.findall(r"<td[^>]*>(.*?)</td>", row)
    assert cells[3] == said


def test_a_changed_value_and_title_say_what_was_changed(report):
    device = report.run.setting.device.changed(weight_bits=3, query_slots=1)
    run = replace(report.run, setting=replace(report.run.setting, device=device))
    content = page(replace(report, run=run))
    text = section(content, "device")
    assert "weight_bits 3 bit changed: 5 -> 3 yes" in text
    assert "query_slots 1 changed: all -> 1 yes" in text
    label = "ring-65nm (weight_bits 5 -> 3, query_slots all -> 1)"
    for tag in ("title", "h1"):
        shown = html.unescape(re.search(rf"<{tag}>(.*?)</{tag}>", content)[1])
        assert shown == f"sva-osc-d2-s0 on {label}"


def test_discrete_oscillators_have_no_node(report):
    shown = device_section.device(Setting(Device.load("lc-board")))
    assert "Oscillators of no node, digital logic at 45 nm" in shown
    assert "None nm" not in shown


def test_it_says_how_to_repeat(content, report):
    text, record = section(content, "repeat"), report.manifest
    assert "oscsim rerun run.toml" in text
    for said in (
        record.checkpoint_sha256,
        record.data_sha256,
        record.logits_sha256,
        f"seed {record.seed}",
        *(f"{name} {version}" for name, version in record.versions.items()),
    ):
        assert said in text


def test_it_needs_nothing_else(content):
    _, tags = read(content)
    names = {tag for tag, _ in tags}
    assert not names & {"script", "link", "iframe", "object", "embed"}
    assert "svg" in names
    for _, attributes in tags:
        for name in ("src", "href", "xlink:href", "srcset"):
            value = attributes.get(name) or "#"
            assert value.startswith(("#", "data:image/png")), value
    assert not re.search(r"https?://", content)
    assert "@import" not in content
    assert not re.search(r"url\((?!#)", content)


def test_ids_are_unique(content):
    ids = re.findall(r'\bid="([^"]+)"', content)
    assert len(ids) == len(set(ids))


def test_six_drawings_each_with_a_caption(content):
    assert content.count("<figure") == content.count("<figcaption>") == 6
    assert content.count("<svg") == 6


def test_captions_say_what_lies_beside_an_axis(content, report):
    text = section(content, "oscillators")
    number = report.comparison.tally.oscillators
    assert f"Drive of {number:,} oscillators." in text
    assert "settled oscillators" not in text
    assert "start within 0.01 rad already" in text


def test_names_are_escaped(report):
    evil = '<script>alert("1")</script>&$title'
    run = report.run
    device = run.setting.device.changed(name=evil, description=evil)
    setting = replace(run.setting, device=device)
    changed = replace(
        report,
        run=replace(
            run,
            checkpoint=replace(run.checkpoint, name=evil),
            setting=setting,
            data=replace(run.data, path=evil),
            warnings=(evil,),
        ),
        maps=replace(report.maps, words=(evil, *report.maps.words[1:])),
        modelled=[evil],
        not_modelled=[evil],
        remarks=(evil + "2",),
        manifest=report.manifest.model_copy(
            update={"checkpoint": evil, "config": {evil: evil}, "perturb": evil}
        ),
    )
    content = page(changed)
    assert "<script" not in content
    assert html.escape(evil) in content
    text, _ = read(content)
    assert text.count(evil) >= 9


def bare(report, run):
    on, off = modelled(run.setting)
    return replace(
        report,
        run=run,
        comparison=compare(run),
        cost=None,
        maps=None,
        modelled=on,
        not_modelled=off,
        remarks=(),
        manifest=Manifest.of(run),
    )


def test_a_published_perturbation_has_redraws_and_no_chips(report):
    run = infer(
        report.run.checkpoint,
        report.run.data,
        device=Device.load("ideal"),
        chips=2,
        repeats=1,
        perturbation=Perturbation("state", 0.2),
    )
    content = page(bare(report, run))
    text, _ = read(content)
    assert "under the published perturbation state=0.2" in text
    assert "Ideal substrate, 2 redraws with 1 repeat, 192 sentences" in text
    assert "95 % interval over redraws" in text
    assert "not hardware: no energy or latency" in section(content, "result")
    assert re.findall(r'<section id="(\w+)">', content) == ["result", "scope", "repeat"]
    assert "Counted" not in text
    assert "0 of 0" not in text
    assert not re.search(r"\bchips?\b", content, re.IGNORECASE)
    assert content.count("<svg") == 1


def test_the_digital_rung_has_digital_numbers_only(report):
    run = infer(report.run.checkpoint, report.run.data, rung="digital")
    content = page(bare(report, run))
    text, _ = read(content)
    c = compare(run)
    assert f"accuracy, hard sentences ({c.n_items}) {percent(c.digital)}" in text
    assert f"accuracy, all sentences (192) {percent(c.digital_all)}" in text
    assert "sva-osc-d2-s0 as a digital model" in text
    assert "nothing settles at rung digital" in section(content, "result")
    assert "nothing but the digital model" in section(content, "scope")
    assert re.findall(r'<section id="(\w+)">', content) == ["result", "scope", "repeat"]
    assert "0 of 0" not in text
    assert not re.search(r"\bchips?\b", text, re.IGNORECASE)
    assert "<svg" not in content


def test_one_chip_and_an_interrupted_run_say_so(report):
    run = replace(report.run, logits=report.run.logits[:1])
    one = replace(report, run=run, comparison=compare(run), cost=None, maps=None)
    text = section(page(one), "result")
    assert text.count("one chip: none") == 2
    said = "interrupted after 1 of 3 chips"
    assert said in text
    assert sections.warnings(run, (said,), set()).count("interrupted") == 1


def test_the_file_is_written_whole_and_the_same_twice(report, tmp_path):
    one, two = tmp_path / "new" / "one.html", tmp_path / "two.html"
    write_page(one, report)
    write_page(two, report)
    assert one.read_bytes() == two.read_bytes()
    assert one.read_bytes().decode().rstrip().endswith("</html>")


def test_a_folder_that_cannot_be_made_is_named(report, tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(SpecError, match=r"cannot write .*page.html"):
        write_page(tmp_path / "file" / "page.html", report)
