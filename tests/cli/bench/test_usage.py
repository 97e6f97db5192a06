"""gpuaes-bench names its kernels."""

import re

import pytest

from programs import run


@pytest.mark.parametrize("words, error", [
    ("kernels --variants no-such", "no kernel variant is named 'no-such'"),
    ("keys --variants bitslice,no-such*", "no kernel variant is named 'no-such*'"),
    *((words, "none of these variants has one of these ciphers in one of these modes") for words in (
        "kernels --variants ttable --modes seal", "kernels --variants ls-shared --ciphers aes-128,aes-256")),
])  # fmt: skip
def test_a_program_with_cuda_names_its_kernels_even_without_a_device(words, error):
    result = run("gpuaes-bench", *words.split(), status=None)
    if result.error == "this program was built without CUDA":
        assert (result.status, result.out) == (1, b"")
        return
    assert (result.status, result.error) == (2, error)
    if "named" in error:
        assert re.fullmatch("there are bitslice, chacha20, ttable, .*ttable4-shared.*ls-shared.*", result.hint)
    else:
        assert result.hint == (
            "bitslice has ctr and aead of AES and Kuznyechik, chacha20 has aead of its cipher, ttable has ctr, "
            "and the others have ctr of AES or of Kuznyechik")
