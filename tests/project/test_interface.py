"""What users rely on: public names, documented parameters, a quick start."""

import ast
import inspect
import re
import subprocess
import sys
from pathlib import Path

import pytest

import oscsim

PACKAGE = Path(oscsim.__file__).parent

PUBLIC = [
    "ByteText",
    "Checkpoint",
    "Comparison",
    "Cost",
    "DesignRule",
    "Device",
    "DigitSet",
    "Ladder",
    "LanguageComparison",
    "LanguageRun",
    "Ledger",
    "Network",
    "OscsimError",
    "Perturbation",
    "Robustness",
    "Run",
    "TokenSet",
    "Trajectory",
    "account",
    "all_to_all",
    "compare",
    "effective_frequencies",
    "fit_rule",
    "generate",
    "infer",
    "interactions",
    "ladder",
    "lattice",
    "load_checkpoint",
    "local_order_parameter",
    "locked_clusters",
    "natural_frequencies",
    "open_store",
    "order_parameter",
    "pairwise_coherence",
    "pareto",
    "plot",
    "potential",
    "price",
    "random_regular",
    "read_bytes",
    "read_digits",
    "read_spec",
    "read_sva",
    "read_table",
    "ring",
    "robustness",
    "scale_free",
    "settling_times",
    "simulate",
    "small_world",
    "sweep",
]


def test_public_names_are_the_published_ones():
    assert oscsim.__all__ == PUBLIC
    for name in PUBLIC:
        assert getattr(oscsim, name).__doc__


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        _ = oscsim.nonsense


def public_functions():
    for path in sorted(PACKAGE.rglob("*.py")):
        if path.name == "cli.py" or "train" in path.parts:
            continue
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef) and not node.name.startswith("_"):
                docstring = ast.get_docstring(node) or ""
                if "Parameters\n---" in docstring:
                    where = f"{path.relative_to(PACKAGE)}:{node.name}"
                    yield pytest.param(node, docstring, id=where)


@pytest.mark.parametrize(("node", "docstring"), list(public_functions()))
def test_documented_parameters_are_the_real_ones(node, docstring):
    section = docstring.split("Parameters\n----------\n")[1]
    section = re.split(r"\n\w+( \w+)?\n-{3,}", section)[0]
    headings = re.findall(r"^\*{0,2}(\w[\w, ]*?)(?: : .*)?$", section, re.MULTILINE)
    documented = {name for names in headings for name in names.split(", ")}
    arguments = node.args
    real = arguments.posonlyargs + arguments.args + arguments.kwonlyargs
    real += [arguments.kwarg] if arguments.kwarg else []
    assert documented == {a.arg for a in real} - {"self", "cls"}


def test_help_starts_without_the_compiler_or_the_plots():
    code = (
        "import sys; from oscsim.cli import run; run(['--help']); "
        "print(sorted({'numba', 'scipy', 'matplotlib', 'torch'} & set(sys.modules)))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip().splitlines()[-1] == "[]"


def test_no_module_prints_or_imports_what_its_layer_forbids():
    for path in PACKAGE.rglob("*.py"):
        source = path.read_text(encoding="utf-8")
        if "train" not in path.parts and "bridge" not in path.parts:
            assert not re.search(r"^\s*(import|from) torch\b", source, re.MULTILINE)


def test_every_public_module_says_what_it_is_for():
    for path in PACKAGE.rglob("*.py"):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        assert ast.get_docstring(tree), path


def test_results_document_their_fields():
    for name in PUBLIC:
        thing = getattr(oscsim, name)
        if inspect.isclass(thing) and hasattr(thing, "__dataclass_fields__"):
            documented = re.findall(r"^\s*([\w, ]+?) : ", thing.__doc__, re.MULTILINE)
            names = {n for line in documented for n in line.strip().split(", ")}
            assert set(thing.__dataclass_fields__) <= names, name
