"""No figure is worth anything for the wrong bytes."""

import subprocess

from settings import MI


def output_of(contender, data):
    return subprocess.run(contender.command, input=data, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=True).stdout


def check_bytes(fixture, report):
    report.heading("check: 64 MiB and 5 bytes")
    with open(fixture.file_of(64 * MI + 5), "rb") as file:
        plain = file.read()
    lanes = ["cpu", "auto", *(["cuda:0"] if fixture.gpus else [])]
    expected = output_of(fixture.openssl(), plain)
    for each in lanes:
        if output_of(fixture.ours("raw", each), plain) != expected:
            raise SystemExit(f"bench: raw -l {each} and openssl enc write different bytes")
    print(f"  same bytes as openssl: {', '.join(lanes)}")
    for sealer in lanes:  # what one kind of lane seals, all open
        sealed = output_of(fixture.ours("sealed", sealer), plain)
        for opener in lanes:
            if output_of(fixture.ours("open", opener), sealed) != plain:
                raise SystemExit(f"bench: {opener} opens wrongly what {sealer} sealed")
    print(f"  each opens what each sealed: {', '.join(lanes)}")
