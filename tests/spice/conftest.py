import pytest

from oscsim.errors import SimulatorError
from oscsim.spice.ngspice import find_ngspice
from oscsim.spice.pyspice import library_path


@pytest.fixture(scope="session")
def ngspice():
    """The program; without it a test fails in one line and is not skipped."""
    try:
        return find_ngspice()
    except SimulatorError as error:
        told = str(error)
    pytest.fail(told, pytrace=False)


@pytest.fixture(scope="session")
def library():
    """The shared library, as optional as PySpice."""
    try:
        return library_path()
    except SimulatorError as error:
        pytest.skip(str(error))
