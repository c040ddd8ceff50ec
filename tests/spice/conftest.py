import pytest

from oscsim.errors import SimulatorError
from oscsim.spice.ngspice import find_ngspice


@pytest.fixture(scope="session")
def ngspice():
    """The program; without it a test fails in one line and is not skipped."""
    try:
        return find_ngspice()
    except SimulatorError as error:
        told = str(error)
    pytest.fail(told, pytrace=False)
