"""An independent implementation of Kuznyechik (RFC 7801) in MGM (RFC 9058) for sealed_format.py. Blocks are integers;
the cipher uses one table for each byte of a block."""

import functools

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives import constant_time

PI = bytes.fromhex(
    "fceedd11cf6e3116fbc4fada23c5044de977f0db932e99ba1736f1bb14cd5fc1f918655ae25cef21811c3c428b018e4f058402aee36a8fa0"
    "060bed987fd4d31feb342c51eac848abf22a68a2fd3aceccb5700e56080c7612bf7213479cb75d8715a19629107b9ac7f391786f9d9eb2b1"
    "3275193dff358a7e6d54c680c3bd0d57dff524a93ea843c9d779d6f67c22b903e00fecde7a94b0bcdce828504e330a4aa79760731e006244"
    "1ab83882649f2641ad454692275e552f8ca3a57d69d5953b0758b34086ac1df730376be488d9e789e11b83494c3ff8fe8d53aa90cad88561"
    "207167a42d2b095bcb9b25d0bee56c5259a674d2e6f4b4c0d166afc2394b63b6")
COEFFICIENTS = (148, 32, 133, 16, 194, 192, 1, 251, 1, 192, 194, 16, 133, 32, 148, 1)
HALF = (1 << 64) - 1


def multiply(a, b, modulus):
    """Multiplies in the field whose polynomial has the bits of `modulus` as coefficients."""
    product, top = 0, modulus.bit_length() - 1
    while b:
        if b & 1:
            product ^= a
        a <<= 1
        if a >> top:
            a ^= modulus
        b >>= 1
    return product


@functools.cache  # only blocks with a single bit, and the constants of the key schedule
def mix(block):
    """The linear transformation L."""
    state = list(block.to_bytes(16, "big"))
    for _ in range(16):
        front = 0
        for coefficient, byte in zip(COEFFICIENTS, state):
            front ^= multiply(coefficient, byte, 0x1C3)
        state = [front] + state[:15]
    return int.from_bytes(state, "big")


def make_tables():
    """The contribution of each byte of a block to L(S(block)), the rightmost byte first."""
    tables = []
    for shift in range(0, 128, 8):
        bits = [mix(1 << (shift + bit)) for bit in range(8)]
        mixed = [0] * 256
        for byte in range(1, 256):
            mixed[byte] = mixed[byte & (byte - 1)] ^ bits[(byte & -byte).bit_length() - 1]
        tables.append([mixed[PI[byte]] for byte in range(256)])
    return tables


TABLES = make_tables()


def substitute_and_mix(block):
    mixed = 0
    for table, byte in zip(TABLES, block.to_bytes(16, "little")):
        mixed ^= table[byte]
    return mixed


def expand(key):
    left, right = int.from_bytes(key[:16], "big"), int.from_bytes(key[16:], "big")
    keys = [left, right]
    for i in range(1, 33):
        left, right = substitute_and_mix(left ^ mix(i)) ^ right, left
        if i % 8 == 0:
            keys += [left, right]
    return keys


@functools.lru_cache(256)  # tests open the same segments many times
class KuznyechikMGM:
    """Has the methods of cryptography's AEADs. Nonces have 16 bytes, and their highest bit is 0."""

    def __init__(self, key):
        self.keys = expand(key)

    def cipher(self, block):
        for key in self.keys[:9]:
            block = substitute_and_mix(block ^ key)
        return block ^ self.keys[9]

    @functools.lru_cache(256)
    def crypt(self, nonce, data):
        counter, out = self.cipher(int.from_bytes(nonce, "big")), []
        for at in range(0, len(data), 16):
            part = data[at : at + 16]
            stream = self.cipher(counter).to_bytes(16, "big")
            out.append(bytes(a ^ b for a, b in zip(part, stream)))
            counter = counter & ~HALF | counter + 1 & HALF
        return b"".join(out)

    @functools.lru_cache(256)
    def tag(self, nonce, data, aad):
        factor, total = self.cipher(int.from_bytes(nonce, "big") | 1 << 127), 0
        blocks = [text[at : at + 16].ljust(16, b"\0") for text in (aad, data) for at in range(0, len(text), 16)]
        blocks.append((8 * len(aad)).to_bytes(8, "big") + (8 * len(data)).to_bytes(8, "big"))
        for block in blocks:
            total ^= multiply(self.cipher(factor), int.from_bytes(block, "big"), 1 << 128 | 0x87)
            factor = factor + (1 << 64) & ((1 << 128) - 1)
        return self.cipher(total).to_bytes(16, "big")

    def encrypt(self, nonce, data, aad):
        ciphertext = self.crypt(nonce, data)
        return ciphertext + self.tag(nonce, ciphertext, aad)

    def decrypt(self, nonce, data, aad):
        ciphertext, tag = data[:-16], data[-16:]
        if not constant_time.bytes_eq(self.tag(nonce, ciphertext, aad), tag):
            raise InvalidTag
        return self.crypt(nonce, ciphertext)
