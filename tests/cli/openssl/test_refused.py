"""Decryption without -f accepts only authenticated formats: input that begins with Salted__ is refused in every mode, with
every kind of secret."""

import itertools
import pathlib
import subprocess

import pytest

from programs import each_way, files_here, secret_file, some_bytes, stream

PLAIN = some_bytes(40000)
NOT_NAMED = "the input appears to be in the openssl format, which is not authenticated and must be named"
NAME_IT = ("-d -f openssl decrypts what openssl enc -aes-256-ctr -pbkdf2 wrote; for other ciphers, such as -aes-256-cbc, and "
           "another -md, use openssl enc -d")
FITS_CBC = ("the length of the input fits openssl enc -aes-256-cbc, which only openssl decrypts, as it does files made with "
            "another -md than sha256; check the output")
OURS = ("-q", "-f", "openssl", "--passphrase-file", "passphrase")


@pytest.fixture(autouse=True)
def salted(work):
    """Also writes files for the tests."""
    secret_file("passphrase", b"correct horse\n")
    pathlib.Path("old").write_bytes(b"an older output\n")
    data = stream(*OURS, input=PLAIN).out
    pathlib.Path("salted").write_bytes(data)
    return data


def test_the_format_must_be_named(batch, key, work, salted):
    files = {"salted": salted, "noise": b"Salted__" + salted[100:5092], "magic": b"Salted__"}
    for name, data in files.items():
        (work / name).write_bytes(data)
    before = files_here()
    secrets = (["-k", key], ["-p"], ["--passphrase-file", work / "passphrase"],
               ["-k", key, "--passphrase-file", work / "passphrase"])
    modes = ("-d", "--test", "--range 0:1", "--range 0:", "--salvage", "--salvage --test", f"--rekey --new-key {key}",
             "-d --iter 10000", "-d -c aes-256")
    names = [("salted", mode) for mode in modes] + [("noise", "-d"), ("magic", "-d")]
    cases = list(itertools.product(("pipe", "file", "name"), names, secrets, ([], ["-q"])))
    for run, (via, (name, mode), secret, quiet) in each_way(batch, cases):
        if via == "pipe" and "--range" in mode:
            continue
        options = [*mode.split(), *secret, *quiet]
        if via == "name":
            options += ["-i", work / name, *([] if "--test" in mode else ["-o", work / "out"])]
        how = {} if via == "name" else {"input": files[name], "via": via}
        if "-p" in secret or "--rekey" in mode:
            run, how = stream, {**how, "start_new_session": True}  # no terminal for a prompt
        result = run(*options, status=4, **how)
        error = f"{work / name}: {NOT_NAMED}" if via == "name" else NOT_NAMED
        assert (result.out, result.error, result.hint, result.warnings) == (b"", error, NAME_IT, [])
    assert files_here() == before


def test_a_named_format(key):
    opened = stream("-d", *OURS[1:], "-i", "salted")
    assert opened.warnings == ["the openssl format is not authenticated; modifications will go undetected", FITS_CBC]
    quietly = stream("-d", *OURS, "-i", "salted")
    assert (opened.out, quietly.out, quietly.err) == (PLAIN, PLAIN, "")
    assert stream("-d", "-f", "sealed", "-k", key, "-i", "salted", status=4).hint == NAME_IT
    assert "\nformat         openssl\n" in "\n" + stream("--info", "-i", "salted").out.decode()


@pytest.mark.parametrize("via", ["file", "pipe"])
@pytest.mark.parametrize("mode, size, fits", [
    ("cbc", 0, True), ("cbc", 40000, True), ("cbc", 40001, True), ("ctr", 0, False), ("ctr", 40001, False), ("ctr", 15, False)])
def test_a_warning_names_a_length_that_fits_cbc(via, mode, size, fits):
    """Such a file cannot be decrypted, and the wrong plaintext is not detected."""
    command = ["openssl", "enc", f"-aes-256-{mode}", "-pbkdf2", "-pass", "file:passphrase"]
    data = subprocess.run(command, input=some_bytes(size), stdout=subprocess.PIPE, check=True).stdout
    opened = stream("-d", *OURS[1:], input=data, via=via)
    assert opened.warnings[1:] == ([FITS_CBC] if fits else [])
    assert (opened.out == some_bytes(size)) == (mode == "ctr")
    assert stream("-e", *OURS[1:], input=data, via=via).warnings[1:] == []
    assert stream("-d", *OURS, input=data, via=via).err == ""


@pytest.mark.parametrize("digest", ["md5", "sha1", "sha512"])
def test_another_digest_is_not_detected(digest):
    """The file does not name it. Only a warning about the length, or the hint to name the format, does."""
    command = ["openssl", "enc", "-aes-256-ctr", "-pbkdf2", "-md", digest, "-pass", "file:passphrase"]
    data = subprocess.run(command, input=PLAIN, stdout=subprocess.PIPE, check=True).stdout
    opened = stream("-d", *OURS[1:], input=data)
    assert opened.out != PLAIN and opened.warnings[1:] == [FITS_CBC]
    assert "-md" in stream("-d", *OURS[3:], input=data, status=4).hint


def test_base64_is_recognized(key):
    command = ["openssl", "enc", "-aes-256-ctr", "-pbkdf2", "-a", "-pass", "file:passphrase"]
    data = subprocess.run(command, input=PLAIN, stdout=subprocess.PIPE, check=True).stdout
    for options in (["-k", key], OURS[1:]):
        found = stream("-d", *options, input=data, status=4)
        assert (found.error, found.hint) == ("this is an openssl file in Base64, not a gpuaes-stream file",
                                             "decode the Base64 first")
