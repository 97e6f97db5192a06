"""What a command after -- and a command for a passphrase inherit."""

import os

import pytest

from programs import stream

SECRET = b"correct horse\nthe rest\n"


def output_of(script, *options, **how):
    """What a shell script prints when its output is sealed with a passphrase."""
    words = ("--passphrase-command", "echo words") if "--passphrase-file" not in options else ()
    sealed = stream("-q", *words, *options, "--", "sh", "-c", script, **how).out
    passphrase = "echo words" if words else "echo correct horse"
    return stream("-q", "-d", "--passphrase-command", passphrase, input=sealed).out.decode()


@pytest.fixture(params=["file", "deleted file", "pipe"])
def descriptor(request):
    """An inheritable descriptor from which a passphrase can be read."""
    if request.param == "pipe":
        fd, write_end = os.pipe()
        os.write(write_end, SECRET)
        os.close(write_end)
    else:
        with open("words", "wb") as file:
            file.write(SECRET)
        os.chmod("words", 0o600)
        fd = os.open("words", os.O_RDONLY)
        if request.param == "deleted file":
            os.remove("words")
    os.set_inheritable(fd, True)
    yield fd
    os.close(fd)


LIST = "ls /proc/self/fd; for fd in $(seq 3 30); do timeout 5 head -c 100 /dev/fd/$fd 2>/dev/null; done; true"


@pytest.mark.parametrize("name", ["/dev/fd/{}", "/proc/self/fd/{}", "link"])
def test_a_command_cannot_read_a_secret_from_the_descriptor_that_names_it(descriptor, name):
    os.symlink(f"/dev/fd/{descriptor}", "link")
    seen = output_of(LIST, "--passphrase-file", name.format(descriptor), pass_fds=[descriptor])
    assert str(descriptor) not in seen.split() and "horse" not in seen and "rest" not in seen


def test_a_duplicate_of_the_descriptor_is_closed_too(descriptor):
    other = os.dup(descriptor)
    seen = output_of(LIST, "--passphrase-file", f"/dev/fd/{descriptor}", pass_fds=[descriptor, other])
    os.close(other)
    assert "rest" not in seen


def test_standard_input_that_is_a_secret_is_empty_for_the_command(descriptor):
    assert output_of("cat; echo end", "--passphrase-file", "-", stdin=descriptor) == "end\n"


@pytest.mark.parametrize("option", ["-k", "-R", "--passphrase-file", "--new-key", "--new-passphrase-file"])
def test_a_command_for_a_passphrase_cannot_read_other_secrets(descriptor, key, option):
    words = "--new-passphrase-command" if option in ("-k", "--passphrase-file") else "--passphrase-command"
    options = ["-k", key] if option != "-k" else []
    script = f"head -c 1000 /dev/fd/{descriptor} >stolen 2>&1; echo words"
    options += ["--rekey", option, f"/dev/fd/{descriptor}", words, script]
    stream("-q", *options, "sealed", pass_fds=[descriptor], status=None)
    if os.path.exists("stolen"):
        assert "horse" not in open("stolen").read()


def test_other_descriptors_stay_open(key):
    read_end, write_end = os.pipe()
    os.write(write_end, b"data")
    os.close(write_end)
    sealed = stream("-q", "-k", key, "--", "sh", "-c", f"cat /dev/fd/{read_end}", pass_fds=[read_end]).out
    os.close(read_end)
    assert stream("-q", "-d", "-k", key, input=sealed).out == b"data"


def test_a_command_gets_the_environment_that_the_program_was_started_with(key):
    environment = {"PATH": os.environ["PATH"], "CUDA_VISIBLE_DEVICES": "0,1", "EMPTY": "", "ODD": "a=b\nc"}
    for lanes in ("cpu", "auto"):
        sealed = stream("-q", "-k", key, "-l", lanes, "--", "env", "-0", env=environment).out
        seen = stream("-q", "-d", "-k", key, input=sealed).out.decode()
        assert sorted(seen.split("\0")[:-1]) == sorted(f"{name}={value}" for name, value in environment.items())
