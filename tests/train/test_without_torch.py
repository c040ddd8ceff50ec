"""Training without torch: one sentence that names the extra, exit 2."""

import subprocess
import sys


def test_missing_torch_is_one_sentence() -> None:
    code = (
        "import runpy, sys; sys.modules['torch'] = None; "
        "runpy.run_module('oscsim.train', run_name='__main__')"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, "sva"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 2
    assert done.stderr == "training needs torch: pip install 'oscsim[torch]'\n"
    assert done.stdout == ""


def test_the_grammar_needs_no_torch() -> None:
    code = "import sys; sys.modules['torch'] = None; import oscsim.train.sva"
    subprocess.run([sys.executable, "-c", code], check=True)
