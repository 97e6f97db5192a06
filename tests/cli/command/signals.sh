#!/usr/bin/env bash
# When the program stops, so does the command after --: it gets the signal, or SIGTERM, and is killed if it does not end.
# shellcheck source=../support/lib.sh
. "$(dirname "$0")/../support/lib.sh"
need python3

python <<'PYTHON'
from harness import *


def wait_for(condition, what):
    deadline = time.monotonic() + PATIENCE
    while not condition():
        if time.monotonic() > deadline:
            fail(f"expected {what}")
        time.sleep(0.02)


def kill_command(pid):
    """If the shell still runs: the test has failed."""
    try:
        with open(f"/proc/{pid}/cmdline") as f:
            if "pid.new" in f.read():
                os.kill(pid, signal.SIGKILL)
    except OSError:  # it has ended
        pass


def run(script, *options, **popen):
    """Starts the program with a shell command that has written its process id."""
    for name in ("pid", "got"):
        if os.path.exists(name):
            os.remove(name)
    child = start(*options, "--", "sh", "-c", f"echo $$ >pid.new; mv pid.new pid; {script}", **popen)
    wait_for(lambda: os.path.exists("pid"), "the command to start")
    pid = int(open("pid").read())
    atexit.register(kill_command, pid)
    return child, pid


def expect_gone(pid, what):
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return
    if stat_fields(f"/proc/{pid}/stat")[0] != "Z":  # killed, and not yet reaped by init
        fail(f"{what}: expected the command to have ended")


def trap(name, then="exit"):
    return f"trap 'echo {name} >>got; {then}' {name}; "


idle = "while :; do sleep 0.02; done"

for name in ("TERM", "INT", "HUP", "USR2"):
    for options in ((), ("-o", "new")):
        child, pid = run("touch ready; " + trap(name) + "touch trapped; " + idle, *options)
        wait_for(lambda: os.path.exists("trapped"), "the trap")
        os.remove("trapped")
        expect_death_by(child, getattr(signal, f"SIG{name}"), "a command that waits")
        expect_equal(f"{name}\n", open("got").read(), f"SIG{name} of the command")
        expect_gone(pid, name)

# A stopped command, and one that writes.
child, pid = run("kill -STOP $$; " + idle)
wait_for(lambda: thread_states(pid) == ["T"], "the command to stop")
expect_death_by(child, signal.SIGTERM, "a stopped command")
expect_gone(pid, "a stopped command")
child, pid = run("exec yes", "-o", "new")
expect_death_by(child, signal.SIGINT, "a command that writes")
expect_gone(pid, "a command that writes")

# A command that ignores the signal.
child, pid = run("trap '' TERM; touch trapped; exec >&-; " + idle, "-o", "new")
wait_for(lambda: os.path.exists("trapped"), "the trap")
child.send_signal(signal.SIGTERM)
expect_exit(child, -signal.SIGTERM, "a command that ignores the signal")
wait_for(lambda: stat_fields(f"/proc/{pid}/stat")[0] in "XZ", "the command to be killed")

# The consumer goes away, and the disk is full.
child, pid = run("exec yes", stdout=subprocess.PIPE)
child.stdout.read(1)
child.stdout.close()
expect_exit(child, -signal.SIGPIPE, "consumer gone")
expect_gone(pid, "consumer gone")
child, pid = run(trap("TERM") + "yes; " + idle, stdout=open("/dev/full", "wb"), stderr=subprocess.PIPE)
expect_exit(child, 1, "disk full")
if b"No space left" not in child.stderr.read():
    fail("disk full: expected the error of the output")
expect_gone(pid, "disk full")

if any("new" in name for name in os.listdir(".")):
    fail(f"expected no unfinished file, got {os.listdir('.')}")
PYTHON
