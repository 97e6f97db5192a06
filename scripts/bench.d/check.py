"""A rate means nothing if the output is wrong, so the output is compared first."""

import subprocess

from units import MI


def output_of(contender, data):
    return subprocess.run(contender.command, input=data, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=True).stdout


def check_bytes(fixture):
    with open(fixture.file_of(64 * MI + 5), "rb") as file:
        plain = file.read()
    lanes = ["cpu", "auto", *(["cuda:0"] if fixture.gpus else [])]
    expected = output_of(fixture.openssl(), plain)
    for each in lanes:
        if output_of(fixture.ours("raw", each), plain) != expected:
            raise SystemExit(f"bench: raw -l {each} and openssl enc write different bytes")
    for cipher in ("aes-256", "kuznyechik"):
        for sealer in lanes:
            sealed = output_of(fixture.ours("sealed", sealer, cipher=cipher), plain)
            for opener in lanes:
                if output_of(fixture.ours("open", opener), sealed) != plain:
                    raise SystemExit(f"bench: -l {opener} opens wrongly what -l {sealer} sealed with {cipher}")
    gost = fixture.gost_engine()
    if gost and output_of(gost, plain[:MI]) != output_of(fixture.ours("raw", "auto", cipher="kuznyechik"), plain[:MI]):
        raise SystemExit("bench: raw Kuznyechik and gost-engine write different bytes")
