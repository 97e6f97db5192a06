"""--rekey between post-quantum recipients and other secrets."""

import pytest

from programs import keygen, some_bytes, stream

WARNING = "the input was sealed for a post-quantum recipient; the new recipient removes that protection"
COPY = ("age requires a file key of its own for each file; replace the input with the output instead of keeping "
        "both")
OLD_HEADER = ("the input was encrypted for a recipient that is not post-quantum; anyone who kept its old header can "
              "still open it with a quantum computer")


@pytest.fixture
def recipients(ml_kem):
    """A recipient of each kind. The identities are in files of the same names."""
    kinds = {"post-quantum": "post-quantum", "other-post-quantum": "post-quantum", "x25519": "x25519"}
    return {name: keygen(f"--{kind}", "-o", name, wrap=ml_kem).out.decode().strip() for name, kind in kinds.items()}


@pytest.mark.parametrize("old, new, warnings", [
    ("post-quantum", "x25519", [WARNING]), ("post-quantum", "other-post-quantum", []),
    ("x25519", "post-quantum", [OLD_HEADER])])
@pytest.mark.parametrize("format", ["sealed", "age"])
def test_a_change_of_the_kind_of_recipients_warns(recipients, ml_kem, old, new, warnings, format):
    plain = some_bytes(20000)
    sealed = stream("-f", format, "-r", recipients[old], input=plain, wrap=ml_kem).out
    rekeyed = stream("--rekey", "-k", old, "-r", recipients[new], input=sealed, wrap=ml_kem)
    assert rekeyed.warnings == warnings + ([COPY] if format == "age" else [])
    assert stream("-d", "-k", new, input=rekeyed.out, wrap=ml_kem).out == plain


def test_a_new_key_warns_of_its_own_risk_as_well(recipients, ml_kem, key):
    sealed = stream("-f", "sealed", "-r", recipients["post-quantum"], input=b"", wrap=ml_kem).out
    options = ["--rekey", "-k", "post-quantum", "-r", recipients["x25519"], "--new-key", key]
    warnings = stream(*options, input=sealed, wrap=ml_kem).warnings
    assert len(warnings) == 2 and warnings[1] == WARNING
    assert stream(*options, "-q", input=sealed, wrap=ml_kem).warnings == []


def test_a_key_as_the_old_secret_warns_too(recipients, ml_kem, key):
    """The slots of the file decide, not the secret that opens it."""
    sealed = stream("-k", key, "-r", recipients["post-quantum"], "-q", input=b"", wrap=ml_kem).out
    assert stream("--rekey", "-k", key, "-r", recipients["x25519"], input=sealed, wrap=ml_kem).warnings == [WARNING]
