"""One attention stage ten ways, in joules: as first drafted, charged, alike."""

import argparse

from oscsim.energy.components import Library
from oscsim.energy.example import worked_example
from oscsim.energy.variants import Stage

ACCOUNTS = {
    "as drafted: coupling function free": ("free", "as drafted"),
    "coupling function charged": ("softplus", "as drafted"),
    "charged, normalisation alike": ("softplus", "alike"),
}
RATIOS = (("D", "A"), ("D", "B2"), ("E", "A"), ("E", "B2"), ("H", "G"))


def show(title, node_nm, stages, n_draws):
    print(f"\n{node_nm} nm, {title}: nominal pJ per token")
    found = [
        worked_example(stage, node_nm, Library.load(), n_draws=n_draws)
        for stage in stages
    ]
    columns = "  ".join(f"{f'd_osc {stage.d_osc}':>24}" for stage in stages)
    print(f"{'':52}{columns}")
    for name, variant in found[0].items():
        cells = [f"{one[name].ledger.nominal_j() * 1e12:24,.0f}" for one in found]
        print(f"{name:3} {variant.description:48}" + "  ".join(cells))
    for top, bottom in RATIOS:
        cells = []
        for one in found:
            nominal = one[top].ledger.nominal_j() / one[bottom].ledger.nominal_j()
            r = one[top].ledger.ratio(one[bottom].ledger)
            cells.append(f"{nominal:8.3f} ({r.p10:5.3f}..{r.p90:5.3f})".rjust(24))
        print(f"{f'{top}/{bottom}':52}" + "  ".join(cells))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="fewer draws")
    parser.add_argument("--positions", type=int, default=128)
    arguments = parser.parse_args()
    for title, (coupling, normalisation) in ACCOUNTS.items():
        for node_nm in (45, 7):
            stages = [
                Stage(
                    arguments.positions,
                    d_osc=d_osc,
                    coupling=coupling,
                    normalisation=normalisation,
                )
                for d_osc in (2, 32)
            ]
            show(title, node_nm, stages, 256 if arguments.quick else 8192)
    print("\np10..p90 in brackets is an assumption range; C and F are another model.")


if __name__ == "__main__":
    main()
