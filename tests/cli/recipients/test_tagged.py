"""Recipients whose identities are in hardware (age1tag1..., age1tagpq1...): the program only encrypts for them. The
second implementation here, of HPKE and of both KEMs, has their private keys."""

import hashlib
import hmac

import pytest

from programs import secret_file, some_bytes, stream

pytest.importorskip("cryptography")
from cryptography.exceptions import InvalidTag  # noqa: E402
from cryptography.hazmat.primitives.asymmetric import ec  # noqa: E402
from cryptography.hazmat.primitives.ciphers.aead import ChaCha20Poly1305  # noqa: E402
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat  # noqa: E402

import age_format as age  # noqa: E402
import sealed_format as sf  # noqa: E402
import xwing  # noqa: E402

SEED = bytes(range(32))


def number(value):
    return value.to_bytes(2, "big")


def extract(salt, key):
    return hmac.digest(salt, key, "sha256")


class Hpke:
    """LabeledExtract and LabeledExpand of RFC 9180, section 4."""

    def __init__(self, suite):
        self.suite = suite

    def extract(self, salt, label, key):
        return extract(salt, b"HPKE-v1" + self.suite + label + key)

    def expand(self, key, label, info, size):
        info = number(size) + b"HPKE-v1" + self.suite + label + info
        return hmac.digest(key, info + b"\1", "sha256")[:size]


def open_message(kem, shared, info, ciphertext):
    hpke = Hpke(b"HPKE" + number(kem) + number(1) + number(3))
    context = b"\0" + hpke.extract(b"", b"psk_id_hash", b"") + hpke.extract(b"", b"info_hash", info)
    secret = hpke.extract(shared, b"secret", b"")
    key, nonce = (hpke.expand(secret, label, context, size) for label, size in ((b"key", 32), (b"base_nonce", 12)))
    return ChaCha20Poly1305(key).decrypt(nonce, ciphertext, b"")


class P256:
    """A key pair. `number` is the private key."""

    def __init__(self, number):
        self.key = ec.derive_private_key(int.from_bytes(number, "big"), ec.SECP256R1())

    def public(self, form=PublicFormat.UncompressedPoint):
        return self.key.public_key().public_bytes(Encoding.X962, form)

    def exchange(self, point):
        return self.key.exchange(ec.ECDH(), ec.EllipticCurvePublicKey.from_encoded_point(ec.SECP256R1(), point))


class Tag:
    type, prefix, kem, point_bytes = "p256tag", "age1tag", 0x0010, 33

    def __init__(self):
        self.pair = P256(SEED)

    def public(self):
        return self.pair.public(PublicFormat.CompressedPoint)

    def decapsulate(self, share):
        kem = Hpke(b"KEM" + number(self.kem))
        secret = kem.extract(b"", b"eae_prk", self.pair.exchange(share))
        return kem.expand(secret, b"shared_secret", share + self.pair.public(), 32)


class PostQuantumTag:
    type, prefix, kem, point_bytes = "mlkem768p256tag", "age1tagpq", 0x0050, 65

    def __init__(self):
        keys = hashlib.shake_256(SEED).digest(96)
        self.ml_kem, self.pair = xwing.PRIVATE_DER + keys[:64], P256(keys[64:])

    def public(self):
        return xwing.ml_kem_public(self.ml_kem) + self.pair.public()

    def decapsulate(self, share):
        point = share[xwing.CIPHERTEXT :]
        secret = xwing.ml_kem_decapsulate(self.ml_kem, share[: xwing.CIPHERTEXT])
        return hashlib.sha3_256(secret + self.pair.exchange(point) + point + self.pair.public() +
                                b"MLKEM768-P256").digest()  # fmt: skip


@pytest.fixture(params=[Tag, PostQuantumTag])
def wrap(request):
    """The command to run the program with."""
    return request.getfixturevalue("ml_kem") if request.param is PostQuantumTag else ()


@pytest.fixture
def key(request, wrap):
    return request.node.callspec.params["wrap"]()


def unwrap_with(key, opened):
    """For open_age(). Appends the tag of each stanza that it opens to `opened`."""

    def unwrap(arguments, body):
        kind, tag, share = arguments
        info, share = f"age-encryption.org/{key.type}".encode(), age.from_b64(share)
        point_hash = hashlib.sha256(key.public()[-key.point_bytes :]).digest()[:4]
        if kind != key.type or age.from_b64(tag) != extract(info, share + point_hash)[:4]:
            return None
        try:
            file_key = open_message(key.kem, key.decapsulate(share), info, body)
        except InvalidTag:
            return None
        opened.append(tag)
        return file_key

    return unwrap


def test_a_second_implementation_opens_what_the_program_writes(key, wrap):
    plain, tags = some_bytes(70000), []
    recipient = sf.to_text(key.prefix, key.public())
    for _ in range(2):
        sealed = stream("-r", recipient, input=plain, wrap=wrap).out
        assert age.open_age(sealed, unwrap=unwrap_with(key, tags)) == plain
    assert len(set(tags)) == 2  # it does not show that files are for the same recipient


def test_the_program_cannot_open_them(key, wrap):
    sealed = stream("-r", sf.to_text(key.prefix, key.public()), input=b"", wrap=wrap).out
    secret = secret_file("identity", (age.identity_text() + "\n").encode())
    kind = "post-quantum" if key.prefix == "age1tagpq" else "P-256"
    for options, status in (["-k", secret], 3), ([], 2):
        result = stream("-d", *options, input=sealed, wrap=wrap, status=status, start_new_session=True)
        assert result.error == (f"the input was encrypted for a {kind} key in hardware, and no identity of its plugin "
                                "was given")  # fmt: skip


def test_combinations(key, wrap):
    recipient = sf.to_text(key.prefix, key.public())
    other, post_quantum = age.recipient_text(), key.prefix == "age1tagpq"
    result = stream("-r", recipient, "-r", other, input=b"", wrap=wrap, status=2 if post_quantum else 0)
    assert result.error == ("incompatible recipients: post-quantum ones cannot be combined with others" if post_quantum else "")
    secret_file("key", bytes(32))
    for options in ["-f", "sealed"], ["-k", "key"]:
        result = stream("-r", recipient, *options, input=b"", wrap=wrap, status=2)
        assert result.error == "the sealed format does not accept SSH, hardware or plugin recipients"
