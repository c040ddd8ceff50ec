"""The memory that is left: of the machine, the process and its control groups."""

import subprocess
import sys

import pytest

from oscsim import memory
from oscsim.errors import SpecError

GB = 10**9


@pytest.fixture
def system(tmp_path, monkeypatch):
    """A machine with 8 GB available whose files the test may write."""
    monkeypatch.setattr(memory, "_PROC", tmp_path / "proc")
    monkeypatch.setattr(memory, "_CGROUPS", tmp_path / "groups")
    monkeypatch.setattr(memory, "_process_limits", lambda: iter(()))

    def write(name, text):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    write("proc/meminfo", "MemTotal: 16000000 kB\nMemAvailable:    8000000 kB\n")
    return write


def test_this_machine_has_some():
    assert 1e6 < memory.free_memory() < 1e15


def test_what_the_machine_has_available(system):
    assert memory.free_memory() == 8e6 * 1024


def test_without_the_file_the_pages_of_the_machine_count(tmp_path, monkeypatch):
    monkeypatch.setattr(memory, "_PROC", tmp_path)
    pages = {"SC_PHYS_PAGES": 1000, "SC_PAGE_SIZE": 4096}
    monkeypatch.setattr(memory.os, "sysconf", pages.__getitem__)
    assert memory.free_memory() == 4096e3

    def unknown(_):
        raise ValueError

    monkeypatch.setattr(memory.os, "sysconf", unknown)
    assert memory.free_memory() == float(sys.maxsize)


def test_a_control_group_and_its_parents_limit(system):
    system("proc/self/cgroup", "0::/a/b\n")
    system("groups/a/b/memory.max", "max\n")
    system("groups/a/b/memory.current", f"{GB}\n")
    assert memory.free_memory() == 8e6 * 1024
    system("groups/a/memory.max", f"{5 * GB}\n")
    system("groups/a/memory.current", f"{2 * GB}\n")
    assert memory.free_memory() == 3 * GB
    system("groups/a/memory.stat", f"anon 7\ninactive_file {GB}\n")
    assert memory.free_memory() == 4 * GB
    system("groups/memory.max", f"{GB}\n")
    system("groups/memory.current", f"{3 * GB}\n")
    assert memory.free_memory() == 0


def test_a_container_whose_own_path_is_not_visible(system):
    system("proc/self/cgroup", "0::/kubepods/pod1\n")
    system("groups/memory.max", f"{2 * GB}\n")
    system("groups/memory.current", f"{GB}\n")
    assert memory.free_memory() == GB


def test_control_groups_of_the_first_version(system):
    system("proc/self/cgroup", "9:cpu,memory:/job\n3:cpuset:/\nodd\n")
    system("groups/memory/job/memory.limit_in_bytes", f"{4 * GB}\n")
    system("groups/memory/job/memory.usage_in_bytes", f"{3 * GB}\n")
    system("groups/memory/job/memory.stat", f"total_inactive_file {GB}\n")
    assert memory.free_memory() == 2 * GB


@pytest.mark.parametrize("letter", ["v", "d"])
def test_limits_of_the_process_are_kept(letter):
    code = (
        "from oscsim.memory import free_memory; print(free_memory());"
        "import oscsim as osc; osc.ring(40_000_000)"
    )
    script = f"ulimit -{letter} 2000000; exec {sys.executable} -c '{code}'"
    done = subprocess.run(
        ["bash", "-c", script], capture_output=True, text=True, check=False
    )
    assert 0.5e9 < float(done.stdout) < 2.048e9
    last = done.stderr.strip().splitlines()[-1]
    assert "SpecError: a ring of 40000000 oscillators needs 3.28 GB" in last


def test_a_need_that_fits_passes_and_a_larger_one_says_both(monkeypatch):
    monkeypatch.setattr(memory, "free_memory", lambda: 2e9)
    memory.require_memory("it", 2e9)
    with pytest.raises(SpecError, match=r"^it needs 3 GB of memory and 2 GB are free$"):
        memory.require_memory("it", 3 * GB)
    with pytest.raises(SpecError, match=r"needs over 1e9 GB .* free: ask for less"):
        memory.require_memory("it", 10**400, "ask for less")
