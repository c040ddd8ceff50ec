"""The package itself is the command line."""

import subprocess
import sys

import oscsim


def test_the_package_runs_as_a_program():
    done = subprocess.run(
        [sys.executable, "-m", "oscsim", "--version"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.strip() == f"oscsim {oscsim.__version__}"
