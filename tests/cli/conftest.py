"""Fixtures of the command-line tests in Python. Run them with

    GPUAES_PROGRAMS=build python3 -m pytest tests/cli/TOPIC

Each test runs in a new, empty directory. Helpers are in support/programs.py."""

import contextlib
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).parent / "support"))
sys.dont_write_bytecode = True

pytest.register_assert_rewrite(*(file.stem for file in (pathlib.Path(__file__).parent / "support").glob("*.py")))

import programs  # noqa: E402
from control_group import control_group  # noqa: E402

SKIPPED = os.environ.pop("GPUAES_SKIPPED", "")  # a file with the names of tests that another user skipped
TIME_LIMIT = 10 * programs.PATIENCE  # seconds for a test, whatever it waits for


def pytest_configure(config):
    config.addinivalue_line("markers", "root: needs root, for several users, mounts or namespaces")
    config.addinivalue_line("filterwarnings", "error::pytest.PytestUnhandledThreadExceptionWarning")
    os.environ["LC_ALL"] = "C"
    programs.limit_files()
    signal.signal(signal.SIGALRM, lambda *_: pytest.fail(f"the test did not finish within {TIME_LIMIT} s"))
    # Programs that inherited an ignored signal, for example from nohup, would go on ignoring it.
    programs.ignore_here(*(number for number in signal.valid_signals() if signal.getsignal(number) == signal.SIG_IGN))
    # The exit status of a sanitizer report must not be one that the programs use.
    status = f"exitcode={programs.SANITIZER}"
    for name, options in (("ASAN", status), ("UBSAN", f"halt_on_error=1:{status}"), ("TSAN", status)):
        os.environ[f"{name}_OPTIONS"] = f"{os.environ.get(f'{name}_OPTIONS', '')}:{options}".lstrip(":")


def pytest_runtest_setup(item):
    if item.get_closest_marker("root") and os.geteuid() != 0:
        pytest.skip("not root")


def pytest_collection_modifyitems(items):
    """Root runs only what another user skipped; see tests/support/run-topic."""
    if SKIPPED and os.geteuid() == 0:
        skipped = set(pathlib.Path(SKIPPED).read_text().splitlines())
        items[:] = [item for item in items if skipped.intersection((item.nodeid, item.nodeid.split("::")[0]))]
        assert items, f"none of these tests was found: {skipped}"


def pytest_sessionfinish(session, exitstatus):
    """For CTest, a topic did not pass if all of its tests were skipped."""
    stats = session.config.pluginmanager.get_plugin("terminalreporter").stats
    skipped = [report.nodeid for report in stats.get("skipped", [])]
    if SKIPPED and os.geteuid() != 0:
        pathlib.Path(SKIPPED).write_text("".join(f"{name}\n" for name in skipped))
    if exitstatus in (pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED) and skipped and not stats.get("passed"):
        session.exitstatus = 77


@pytest.fixture(autouse=True)
def work(monkeypatch):
    """The current directory, which other users can enter. Its parent has room for files that tests must not see."""
    folder = pathlib.Path(tempfile.mkdtemp(prefix="gpuaes-test-"))
    folder.chmod(0o755)
    (folder / "here").mkdir()
    monkeypatch.chdir(folder / "here")
    umask = os.umask(0o022)
    signal.setitimer(signal.ITIMER_REAL, TIME_LIMIT, programs.PATIENCE)  # again if what follows a failure waits, too
    yield folder / "here"
    signal.setitimer(signal.ITIMER_REAL, 0)
    while programs.started:
        # Leaving the context of a child closes its pipes and waits for its end.
        with contextlib.suppress(BrokenPipeError), programs.started.pop() as child:
            child.kill()
    os.umask(umask)
    shutil.rmtree(folder)


@pytest.fixture
def key(work):
    """The name of a key file."""
    return programs.secret_file(work.parent / "key", programs.KEY)


@pytest.fixture
def group():
    """A control group, to limit the memory of programs."""
    with control_group() as made:
        yield made


@pytest.fixture(scope="session")
def batch():
    """Runs many command lines, slowly without the driver that is built with the tests."""
    if not programs.BATCH_DRIVER.exists():
        yield programs
        return
    driver = programs.Batch()
    yield driver
    driver.close()


@pytest.fixture(scope="session")
def ml_kem():
    """The command to put before a program, with `wrap`, so that it can use post-quantum recipients."""
    algorithms = subprocess.run([programs.WITH_ML_KEM, "openssl", "list", "-kem-algorithms"], capture_output=True)
    if b"ML-KEM-768" not in algorithms.stdout:
        pytest.skip("no OpenSSL with ML-KEM; scripts/setup unpacks one on Debian 12")
    own = programs.keygen("--post-quantum", status=None).status == 0
    return () if own else (programs.WITH_ML_KEM,)


@pytest.fixture(scope="session")
def users():
    """Two users, 3001 and 3002, who share the group 3003."""
    if not shutil.which("setpriv"):
        pytest.skip("setpriv is not installed")
    folder = programs.copy_programs()
    pair = [programs.User(uid, 3003, folder) for uid in (3001, 3002)]
    for user in pair:
        version = subprocess.run([*user.prefix, folder / "gpuaes-stream", "--version"], capture_output=True)
        if version.returncode != 0:
            shutil.rmtree(folder)
            pytest.skip("another user cannot run the programs")
    yield pair
    shutil.rmtree(folder)
