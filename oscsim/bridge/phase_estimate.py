"""An energy estimate of Kuramoto attention, and of a rotary transformer."""

from collections.abc import Sequence
from dataclasses import replace

from oscsim.bridge.checkpoint import Checkpoint
from oscsim.bridge.cost import require_prices
from oscsim.bridge.estimate import (
    N_DRAWS,
    ON_CHIPS,
    TILE,
    Estimate,
    Scenario,
    node_notes,
    prices_at,
    require_reuse,
    scenario,
)
from oscsim.bridge.language import LanguageRun, infer_text
from oscsim.bridge.phase_cost import parameters, phase_latency, transformer_twin
from oscsim.bridge.phase_decoding import ON_CHIP, phase_steps
from oscsim.bridge.phase_times import phase_times
from oscsim.bridge.scenario import Pricer
from oscsim.bridge.setting import Setting, update_of
from oscsim.bridge.text_data import ByteText
from oscsim.counts import Counts
from oscsim.energy.capacity import stored
from oscsim.energy.components import Library
from oscsim.energy.measured import NOT_MEASURED, Accuracies
from oscsim.energy.prices import Prices
from oscsim.energy.rivals import SAME, SOFTMAX, Rival, other_softmax, repriced
from oscsim.energy.window_shape import WindowShape
from oscsim.errors import SpecError
from oscsim.models.kuramoto_config import (
    KuramotoConfig,
    TransformerConfig,
    transformer_shapes,
)
from oscsim.models.phase_counting import count_body, digital_kuramoto, transformer
from oscsim.substrate.device import Device

NO_OSCILLATORS = "a softmax model has no oscillators: nothing is put on a device"
TRAINED_AS_MAP = (
    "trained as a map, which no oscillator does: priced is the trained step in the "
    "chip's field, at the time of the dwell that equals it to first order; run as that "
    "dwell (oscsim infer --update flow) kuramoto-260k does not work: 8.8 bits per byte "
    "on ideal oscillators, 2.0 digitally"
)
TRAINED_AS_FLOW = "trained as the dwell that is priced"
NO_LINEAR_TWIN = (
    "linear attention is the transformer's: a softmax of phase products has no finite "
    "features that would factor it, and this model was not trained with others"
)


def estimate_phases(
    checkpoint: Checkpoint,
    config: KuramotoConfig,
    device: Device | None,
    text: ByteText,
    *,
    notes: Sequence[str] = (),
    node_nm: int | None = None,
    reuse: float = 1.0,
    seed: int = 0,
) -> Estimate:
    """Price Kuramoto attention whose oscillators dwell on a device.

    One chip is run on the text, as `oscsim.bridge.infer.infer` does with one
    chip and one repeat: the counts are those of that run, with the memory of the
    digital part read once per ``reuse`` uses. The rivals are the same model
    done digitally and the transformer of most nearly as many parameters.

    Parameters
    ----------
    checkpoint : Checkpoint
        The model.
    config : KuramotoConfig
        Its sizes and switches.
    device : Device or None
        In seconds, with prices; None is refused.
    text : ByteText
        What it reads.
    notes : sequence of str
        What was assumed.
    node_nm, reuse
        As `oscsim.bridge.estimate.estimate`.
    seed : int
        Of the priors, and of the chip.

    Raises
    ------
    ComponentError
        If the device has no prices, or the node no table.
    DeviceError
        If the device has no phases to dwell.
    SpecError
        If there is no device, it is in model units, or the reuse is below 1.
    """
    if device is None:
        raise SpecError(f"{checkpoint.name} has oscillators: give a device, got None")
    require_reuse(reuse)
    prices, node = prices_at(device, node_nm)
    update = update_of(checkpoint, "device", None)
    setting = Setting(device, seed=seed, update=update)
    setting.require(checkpoint)
    require_prices(setting, None)
    if device.time_unit != "s":
        raise SpecError(
            f"device {device.name} is in model units: a dwell on it has no price"
        )
    run = infer_text(checkpoint, text, setting, chips=1, repeats=1)
    library, size = Library.load(), (len(text), text.context)
    twin = transformer_twin(config)

    def mine(at: float) -> Rival:
        return Rival("substrate", on_chip(run, config, at), prices, SAME, ON_CHIPS)

    def theirs(at: float) -> tuple[Rival, ...]:
        same = digital_kuramoto(config, *size, reuse=at)
        return (*_transformers(twin, *size, node, library, at), *_digitally(same, node))

    def priced(one: Rival, at: float) -> Scenario:
        return scenario(one, library, at, N_DRAWS, seed)

    other = TILE if reuse == 1 else 1.0
    shape = WindowShape(config, *size)
    how = TRAINED_AS_MAP if config.update == "map" else TRAINED_AS_FLOW
    return Estimate(
        title=checkpoint.name,
        shape=shape,
        node_nm=node,
        device=device,
        subjects=(priced(mine(reuse), reuse),),
        rivals=tuple(priced(one, reuse) for one in theirs(reuse)),
        others=(priced(mine(other), other), priced(theirs(other)[0], other)),
        notes=(
            *notes,
            *run.warnings,
            how,
            _dwells(run, config.n_osc),
            NO_LINEAR_TWIN,
            *stored(shape).notes,
            *node_notes(device, node),
        ),
        latency_s=phase_latency(run),
        library=library,
        n_draws=N_DRAWS,
        seed=seed,
        windows=phase_times(run),
        steps=phase_steps(
            run,
            config,
            twin,
            prices,
            Prices.digital(node),
            Pricer(library, N_DRAWS, seed),
        ),
    )


def estimate_transformer(
    name: str,
    config: TransformerConfig,
    text: ByteText,
    *,
    notes: Sequence[str] = (),
    node_nm: int | None = None,
    reuse: float = 1.0,
    seed: int = 0,
    accuracies: Accuracies = NOT_MEASURED,
) -> Estimate:
    """Price a rotary transformer beside itself done in other ways.

    Parameters
    ----------
    name : str
        What is priced.
    config : TransformerConfig
        Its sizes.
    text : ByteText
        What it reads; only its lengths count.
    notes, node_nm, reuse, seed
        As `estimate_phases`.
    accuracies : Accuracies
        What was measured of it.

    Raises
    ------
    ComponentError
        If the node has no table.
    SpecError
        If the reuse is below 1.
    """
    require_reuse(reuse)
    library, size = Library.load(), (len(text), text.context)
    _, node = prices_at(None, node_nm)
    shape = WindowShape(config, *size)

    def priced(one: Rival, at: float) -> Scenario:
        return scenario(one, library, at, N_DRAWS, seed)

    def mine(at: float) -> Rival:
        counts = transformer(config, *size, reuse=at)
        said = accuracies.of_twin("int8")
        return Rival("digital softmax", counts, Prices.digital(node), SOFTMAX, said)

    subject, other = mine(reuse), TILE if reuse == 1 else 1.0
    theirs = other_softmax(
        shape, subject.counts, node, library, reuse=reuse, accuracies=accuracies
    )
    return Estimate(
        title=name,
        shape=shape,
        node_nm=node,
        device=None,
        subjects=(priced(subject, reuse),),
        rivals=tuple(priced(one, reuse) for one in theirs),
        others=(priced(mine(other), other),),
        notes=(*notes, NO_OSCILLATORS, *stored(shape).notes),
        latency_s=None,
        library=library,
        n_draws=N_DRAWS,
        seed=seed,
    )


def on_chip(run: LanguageRun, config: KuramotoConfig, reuse: float) -> Counts:
    """Return the counts of a run with the digital part's memory used again.

    Parameters
    ----------
    run : LanguageRun
        Of Kuramoto attention, one chip and one repeat.
    config : KuramotoConfig
        The model.
    reuse : float
        Uses of one byte read from on-chip memory; 1 gives the run's own counts.
    """
    counts = Counts()
    count_body(counts, config, len(run.data), run.data.context, reuse=reuse)
    for (phase, action), number in run.counts.actions.items():
        if phase in ON_CHIP:
            counts.add(phase, action, number)
    return counts


def _transformers(
    twin: TransformerConfig,
    windows: int,
    time: int,
    node: int,
    library: Library,
    reuse: float,
) -> tuple[Rival, ...]:
    """Return the transformer of equal size, then it done in other ways."""
    counts = transformer(twin, windows, time, reuse=reuse)
    layers = "layer" if twin.n_layers == 1 else "layers"
    said = (
        f"another model of {parameters(transformer_shapes(twin)):,} parameters "
        f"({twin.n_layers} {layers}, width {twin.d_model}, feed-forward {twin.d_ff}, "
        f"{twin.n_heads} heads), 8-bit data path"
    )
    shape = WindowShape(twin, windows, time)
    others = other_softmax(shape, counts, node, library, reuse=reuse)
    return (
        Rival("transformer, digital", counts, Prices.digital(node), said),
        *(
            replace(
                one,
                name=one.name.replace("digital softmax", "transformer"),
                remark=one.remark.replace("softmax twin", "the transformer"),
            )
            for one in others
        ),
    )


def _digitally(counts: Counts, node: int) -> tuple[Rival, ...]:
    """Return the same model done digitally, then with cheaper arithmetic."""
    name = "same model, digital"
    cheaper = (
        ("table exponential", "same model, exponential of 8 bits"),
        ("4 bits, table exponential", "same model at 4 bits"),
    )
    return (
        Rival(name, counts, Prices.digital(node), SAME),
        *(
            Rival(f"{name}, {how}", counts, one.prices, what)
            for (how, what), one in zip(cheaper, repriced(counts, node), strict=True)
        ),
    )


def _dwells(run: LanguageRun, n_osc: int) -> str:
    """Say from what the dwell times come, and how long they are."""
    (tally,) = run.tallies
    tokens = tally.oscillators / n_osc
    mean, longest = tally.dwell / tally.oscillators, tally.longest / tokens
    return (
        f"dwells of one chip (seed {run.setting.seed}) on these windows, as oscsim "
        f"infer --chips 1 --repeats 1 runs it: mean {mean:.3g} s, the longest of a "
        f"token's oscillators {longest:.3g} s on the average; {tally.cut:,} of "
        f"{tally.oscillators:,} cut short by the settling time of "
        f"{run.setting.device.settle_time:.3g} s"
    )
