"""How topics are run, and what is reported of tests that did not run. The topic here uses the fixtures for its own tests."""

import os
import pathlib
import shutil
import subprocess
import sys

import pytest

CLI = pathlib.Path(__file__).parents[1]
RUN_TOPIC = CLI.parent / "support/run-topic"
SUMMARY = CLI.parents[1] / "scripts/test.d/summary"
RUNS, SKIPPED, NEEDS_ROOT = (f"def test_{name}(): {body}\n" for name, body in (
    ("runs", "pass"), ("skipped", "pytest.skip('no device')"), ("needs_root", "os.geteuid() == 0 or pytest.skip('not root')")))


@pytest.fixture
def run_topic(work):
    """Runs these tests. Returns the exit status and the report."""
    shutil.copy(CLI / "conftest.py", ".")
    os.symlink(CLI / "support", "support")
    os.mkdir("topic")

    def run(*tests, **environment):
        pathlib.Path("topic/test_it.py").write_text("import os, pytest, signal, subprocess, time\n" + "".join(tests))
        done = subprocess.run([RUN_TOPIC, sys.executable, "topic"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                              env={**os.environ, "GPUAES_TEST_USER": "", **environment})
        return done.returncode, done.stdout

    return run


def summary(*tests):
    """Of a run of ctest in which each test, a name and its output, was successful."""
    os.makedirs("Testing/Temporary")
    with open("Testing/Temporary/LastTest.log", "w") as log:
        for name, output in tests:
            log.write(f'1/1 Testing: {name}\n1/1 Test: {name}\nCommand: "x"\nOutput:\n{"-" * 58}\n{output}'
                      f"<end of output>\nTest time =   0.26 sec\n{'-' * 58}\nTest Passed.\n")
    return subprocess.run([SUMMARY, "."], stdout=subprocess.PIPE, check=True, text=True).stdout


def test_a_topic_is_skipped_if_none_of_its_tests_ran(run_topic):
    assert run_topic(RUNS)[0] == 0
    assert run_topic(SKIPPED)[0] == 77
    assert run_topic("pytest.importorskip('no_such_module')\n", RUNS)[0] == 77
    assert run_topic(RUNS, SKIPPED)[0] == 0
    assert run_topic(RUNS, SKIPPED, "def test_fails(): assert 0\n")[0] == 1


def test_a_test_that_waits_forever_fails(run_topic):
    """Even if what runs at its end waits, too."""
    status, report = run_topic(
        "def test_waits():\n"
        "    signal.setitimer(signal.ITIMER_REAL, 0.2, 2)  # instead of the usual time\n"
        "    with subprocess.Popen(['sleep', '30']): subprocess.run(['sleep', '30'])\n", RUNS)
    assert status == 1 and "the test did not finish within" in report and "1 failed, 1 passed" in report


def test_a_program_cannot_write_without_limit(run_topic):
    assert run_topic("def test_limit(): assert subprocess.check_output(['bash', '-c', 'ulimit -f']) == b'1048576\\n'\n")[0] == 0


@pytest.mark.root
def test_root_runs_what_another_user_skips(run_topic):
    as_nobody = {"GPUAES_TEST_USER": "nobody"}
    status, report = run_topic(RUNS, SKIPPED, NEEDS_ROOT, "def test_user(): assert os.geteuid() != 0\n", **as_nobody)
    assert status == 0 and summary(("cli/topic", report)) == "3 tests ran, 1 did not:\n     1  no device (cli/topic)\n"
    assert run_topic(NEEDS_ROOT, SKIPPED, **as_nobody)[0] == 0
    assert run_topic(SKIPPED, **as_nobody)[0] == 77
    assert run_topic(RUNS, "def test_fails(): os.geteuid() and pytest.skip('not root'); assert 0\n", **as_nobody)[0] == 1


def test_the_summary_counts_each_test():
    assert summary(
        ("io", "===\nAll tests passed (2 assertions in 1 test case)\n\n"),
        ("keys", "skipped: no ML-KEM\nskipped: no ML-KEM\n===\nAll tests passed (9 assertions in 12 test cases)\n\n"),
        ("script", "done\n"),
        ("audit", "skipped: no disassembler\n"),
        ("cli/age", "..\n140 passed in 44.06s\n"),
        ("cli/keys", "SKIPPED [2] a/b.py:7: not root\nSKIPPED [1] a/c.py: no ML-KEM: missing\n5 passed, 3 skipped in 1s\n"),
        ("cli/output", "SKIPPED [7] a.py:9: not root\n7 skipped in 0.1s\n"),
    ) == """157 tests ran, 13 did not:
     9  not root (cli/keys, cli/output)
     2  no ML-KEM (keys)
     1  no disassembler (audit)
     1  no ML-KEM: missing (cli/keys)
"""
    assert subprocess.run([SUMMARY, "another"], stdout=subprocess.PIPE, check=True).stdout == b""
