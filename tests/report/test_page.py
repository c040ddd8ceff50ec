"""The page says every number of a run, escapes names and needs nothing else."""

import html
import re
from dataclasses import replace
from html.parser import HTMLParser

import pytest

from oscsim.bridge.compare import compare
from oscsim.bridge.infer import infer
from oscsim.bridge.manifest import Manifest
from oscsim.errors import SpecError
from oscsim.report.numbers import percent, quantity, quantity_range
from oscsim.report.page import page, write_page
from oscsim.substrate.device import Device
from oscsim.substrate.perturb import Perturbation

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
    assert f"{percent(c.ci95[0])} to {percent(c.ci95[1])}" in text
    t = c.tally
    for part, whole in (
        (t.unsettled, t.oscillators),
        (t.unlocked, t.oscillators),
        (t.strongly_driven, t.oscillators),
        (t.clipped, t.couplings),
        (t.zeroed, t.couplings),
        (t.adc_clipped, t.reads),
    ):
        assert f"{part:,} of {whole:,} {percent(part / whole)}" in text
    assert f"{c.max_abs_error:.3g}" in text


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
        row = text[text.index(name) :][:200]
        assert quantity(cost.rivals[name].range_j().p50, "J") in row
        assert f"{ratio.p50:.4g}" in row
        assert f"{ratio.p10:.4g}..{ratio.p90:.4g}" in row
    assert "no oscillator-attention chip has published joules per token" in text
    assert cost.pairing in text
    assert f"{quantity(cost.latency_s, 's')} per token" in text
    for note in cost.substrate.notes:
        assert note in text


def test_the_banner_is_shown_when_the_ledger_has_one(report):
    ledger = report.cost.substrate
    total = ledger.nominal_j()
    guessed = replace(ledger, untrusted={"a <guess>": 0.8 * total})
    assert guessed.has_banner
    with_banner = page(replace(report, cost=replace(report.cost, substrate=guessed)))
    assert guessed.banner in section(with_banner, "energy")
    assert not ledger.has_banner
    assert "rests on numbers" not in section(page(report), "energy")


def test_it_has_every_field_of_the_device(content, report):
    device, text = report.run.setting.device, section(content, "device")
    for name in Device.model_fields:
        if name in ("name", "description", "provenance", "energy"):
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
    text = section(page(replace(report, run=run, comparison=compare(run))), "device")
    assert re.search(r"weight_bits 5 bit .*? no secondary", text)
    assert re.search(r"diffusion 3900 rad\^2/s .*? yes derived", text)


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


def test_five_drawings_each_with_a_caption(content):
    assert content.count("<figure") == content.count("<figcaption>") == 5
    assert content.count("<svg") == 5


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


def test_a_run_without_price_maps_or_oscillators(report):
    """The digital rung, and a published perturbation."""
    run = infer(
        report.run.checkpoint,
        report.run.data,
        device=Device.load("ideal"),
        rung="ideal",
        chips=2,
        repeats=1,
        perturbation=Perturbation("state", 0.2),
    )
    bare = replace(
        report,
        run=run,
        comparison=compare(run),
        cost=None,
        maps=None,
        manifest=Manifest.of(run),
    )
    content = page(bare)
    assert "This run has no price" in section(content, "energy")
    assert "No attention maps" in section(content, "attention")
    assert "No oscillator was settled" in section(content, "oscillators")
    assert "under the published perturbation state=0.2" in content
    assert content.count("<svg") == 1


def test_one_chip_and_an_interrupted_run_say_so(report):
    run = replace(report.run, logits=report.run.logits[:1])
    text = section(page(replace(report, run=run, comparison=compare(run))), "result")
    assert "one chip: none" in text
    assert "interrupted after 1 of 3 chips" in text
    again = replace(
        report,
        run=run,
        comparison=compare(run),
        remarks=("interrupted after 1 of 3 chips",),
    )
    assert section(page(again), "result").count("interrupted") == 1


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
