"""The raw format takes exactly one key, with the length of the cipher, and an IV as long as a block of AES or half a
block of Kuznyechik. Kuznyechik is used only if -c names it, with a format and lanes that support it."""

import pathlib

import pytest

from programs import IV, KEY, each_way, expect_same, openssl_ctr, raw, secret_file, some_bytes, stream

PLAIN = some_bytes(1000)
KUZNYECHIK_IV = "1234567890abcef0"
KUZNYECHIK = f"-f raw -c kuznyechik --iv {KUZNYECHIK_IV}"
ACCEPTED = {"--iv": "an IV", "--context": "a context", "--iter": "a number of iterations"}
ONLY_SEALED = "formats that accept it: sealed"
NO_KEY = "name a key file with -k (gpuaes-keygen makes one) or a recipient with -r, or use -p to enter a passphrase"


@pytest.fixture(autouse=True)
def files(work):
    for size in (16, 24, 32):
        secret_file(f"key{8 * size}", KEY[:size])
    secret_file("words", b"correct horse\n")
    pathlib.Path("plain").write_bytes(PLAIN)


@pytest.mark.parametrize("bits", [128, 192, 256])
@pytest.mark.parametrize("cipher", [128, 192, 256])
def test_a_key_must_have_the_length_of_the_cipher(bits, cipher):
    result = raw(f"key{bits}", "-c", f"aes-{cipher}", input=PLAIN, status=0 if bits == cipher else 2)
    if bits == cipher:
        expect_same(openssl_ctr(PLAIN, KEY[: bits // 8]), result.out)
    else:
        sizes = f"{cipher // 8} bytes; the key in key{bits} is {bits // 8} bytes long"
        assert result.error == f"aes-{cipher} requires a key of {sizes}"


@pytest.mark.parametrize("name", "des aes aes-512 aes128 AES_256 Kuznyechik kuznyechik-ctr kuz".split() + [""])
def test_unknown_ciphers(name):
    result = raw("key256", "-c", name, status=2)
    assert result.error == f"unknown cipher '{name}'"
    assert result.hint == "the ciphers are aes-128, aes-192, aes-256, kuznyechik"


@pytest.mark.parametrize("options, error, hint", [
    (f"-f raw --iv {IV} -k key256 -k key128", "the raw format does not accept more than one key", ONLY_SEALED),
    (f"-f raw --iv {IV} -k key256 --key=key256", "the raw format does not accept more than one key", ONLY_SEALED),
    *((options, "no key or passphrase was given", NO_KEY)
      for options in (f"-f raw --iv {IV}", KUZNYECHIK, "-e -f cobblestone", "-e -f openssl")),
    *((f"-d -f {format}", "no key or passphrase was given",
       "name a key or identity file with -k, or use -p to enter a passphrase")
      for format in ("cobblestone", "openssl")),
    (f"-f raw --iv {IV} -k", "option '--key' requires a value",
     "--key FILE: Read a key, identities or an ssh private key (without a passphrase) from FILE"),
    ("-f raw -q -k key256 --iv", "option '--iv' requires a value",
     "--iv HEX: Raw format: the first counter block, 32 hexadecimal digits (kuznyechik: 16)"),
    ("-f raw -q -k key256", "the raw format requires an IV",
     "give a new IV in hexadecimal; never use an IV twice with the same key"),
    ("-f raw -q -k key256 -c kuznyechik", "the raw format requires an IV",
     "give a new IV in hexadecimal; never use an IV twice with the same key"),
    ("-f raw -q -k key256 -d", "the raw format requires an IV",
     "give the IV that the input was encrypted with, in hexadecimal"),
    (f"-c kuznyechik --iv {KUZNYECHIK_IV} -k key256", "--iv requires -f raw", ""),
    (f"{KUZNYECHIK} -k key128", "kuznyechik requires a key of 32 bytes; the key in key128 is 16 bytes long", ""),
    (f"{KUZNYECHIK} -k key192", "kuznyechik requires a key of 32 bytes; the key in key192 is 24 bytes long", ""),
    ("-c kuznyechik -k key128", "the sealed format requires a key of 32 bytes; the key in key128 is 16 bytes long", ""),
    ("-c kuznyechik -k key192", "the sealed format requires a key of 32 bytes; the key in key192 is 24 bytes long", ""),
    *((f"{direction} -f {format} -c kuznyechik {secret}", f"the {format} format does not support kuznyechik",
       "formats that support it: sealed, raw") for direction in ("-e", "-d")
      for format, secret in (("cobblestone", "-k key256"), ("openssl", "--passphrase-file words"))),
])  # fmt: skip
def test_usage_errors(options, error, hint):
    result = stream("-i", "plain", *options.split(), status=2)
    assert (result.error, result.hint) == (error, hint)


@pytest.mark.parametrize("option, owner, without_format", [
    (f"--iv {IV}", "raw", "--iv requires -f raw"),
    ("--context 00", "cobblestone", "--context requires -f cobblestone"),
    ("--iter 10000", "openssl", "the sealed format does not accept a number of iterations"),
])
def test_options_of_another_format(option, owner, without_format):
    secrets = {"raw": f"-k key256 --iv {IV}", "openssl": "--passphrase-file words"}
    for format in {"raw", "openssl", "cobblestone", "sealed"} - {owner}:
        for direction in ("-e", "-d"):
            options = f"{direction} -f {format} {option} {secrets.get(format, '-k key256')}"
            result = stream(*options.split(), input=PLAIN, status=2)
            assert result.error == f"the {format} format does not accept {ACCEPTED[option.split()[0]]}"
            assert result.hint == f"formats that accept it: {owner}"
    assert stream("-k", "key256", *option.split(), status=2).error == without_format


def test_digits_of_an_iv_may_be_uppercase():
    for iv in ("0" * 32, "abcdefABCDEF0123456789abcdefABCD", "F" * 32):
        for option in (["--iv", iv], [f"--iv={iv}"]):
            expect_same(openssl_ctr(PLAIN, iv=iv), stream("-f", "raw", "-q", "-k", "key256", *option, input=PLAIN).out)
    outputs = [stream(*"-f raw -c kuznyechik -q -k key256 -i plain --iv".split(), iv).out
               for iv in (KUZNYECHIK_IV, KUZNYECHIK_IV.upper())]
    assert len(outputs[0]) == 1000 and outputs[0] == outputs[1]


@pytest.mark.parametrize("good, cipher", [("0123456789abcdef" * 2, "aes-256"), (KUZNYECHIK_IV, "kuznyechik")])
def test_malformed_ivs(batch, work, good, cipher):
    ivs = ["", "0", good[1:], good[2:], good[:-16], good + "0", good + "00", good * 2, "0x" + good, "0x" + good[2:],
           good[1:] + "g", "g" + good[1:], f"{good[:9]} {good[10:]}", " " + good[1:], good[1:] + " ",
           f"{good[:9]}-{good[10:]}", "+" + good[1:], good[1:] + "é"]
    for way, (iv, direction) in each_way(batch, [(iv, direction) for iv in ivs for direction in ("-e", "-d")]):
        words = ["-c", cipher] if cipher == "kuznyechik" else []
        result = way("-f", "raw", *words, "-q", "-k", work / "key256", direction, "--iv", iv, status=2)
        digits = f"has {len(iv.encode())} digit{'s' * (len(iv.encode()) != 1)}; the raw format with {cipher} requires {len(good)} hexadecimal digits"
        problem = digits if len(iv.encode()) != len(good) else "contains a character that is not a hexadecimal digit"
        assert result.error == f"the IV {problem}", iv
