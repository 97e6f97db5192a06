"""A rate means nothing if the output is wrong, so the output is compared first."""

import subprocess

from units import MI


def output_of(contender, data):
    done = subprocess.run(contender.command, input=data, capture_output=True, check=False)
    if done.returncode != 0:
        raise SystemExit(f"bench: {contender.name}: {done.stderr.decode(errors='replace').strip()}")
    return done.stdout


def check_pairs(sealers, openers, plain):
    for sealer in sealers:
        sealed = output_of(sealer, plain)
        for opener in openers:
            if output_of(opener, sealed) != plain:
                raise SystemExit(f"bench: '{opener.name}' opens wrongly what '{sealer.name}' made")


def check_bytes(fixture):
    with open(fixture.file_of(64 * MI + 5), "rb") as file:
        plain = file.read()
    lanes = ["cpu", "auto", *fixture.cuda_lanes()]
    expected = output_of(fixture.openssl(), plain)
    for each in lanes:
        if output_of(fixture.ours("raw", each), plain) != expected:
            raise SystemExit(f"bench: raw -l {each} and openssl enc write different bytes")
    openers = [fixture.ours("open", each) for each in lanes]
    for cipher in ("aes-256", "kuznyechik"):
        check_pairs([fixture.ours("sealed", each, cipher=cipher) for each in lanes], openers, plain)
    sealers, openers = ([*(fixture.ours(form, each) for each in fixture.age_lanes()), *fixture.age_rivals(form)]
                        for form in ("age", "open age"))
    check_pairs(sealers, openers, plain)
