"""Between two pipes: cat FILE | PROGRAM | cat >/dev/null."""

from contender import Contender
from units import words_of


def run(fixture):
    size = fixture.stream_size
    fixture.results.heading(f"cat FILE | PROGRAM | cat >/dev/null, {words_of(size)}")
    cat, openssl = Contender("cat", ["cat"], action="copy"), fixture.openssl()
    ours = [fixture.ours("raw", "auto"), fixture.ours("open", "auto"), fixture.ours("sealed", "auto:low-cpu")]
    for lanes in ["auto", *fixture.cuda_lanes()]:
        ours += [fixture.ours("sealed", lanes, cipher=cipher) for cipher in ("aes-256", "kuznyechik")]
        ours.append(fixture.ours("age", lanes))
    contenders = [cat, *ours, openssl, *fixture.age_rivals("age")]
    for c in contenders:
        c.between(["cat", fixture.encrypted(size) if c.name.startswith("open ") else fixture.file_of(size)], ["cat"])
    fixture.compare(words_of(size), contenders, size, cat, openssl)
