"""What a plugin says and asks appears quoted on the terminal. Secrets are not echoed, and the terminal's settings are
restored."""

import os
import pathlib
import signal

import pytest

from age_plugin import recorded
from processes import open_terminal, read_for, read_terminal
from programs import PATIENCE, some_bytes, start, stream
from terminals import at_terminal, in_session

PLAIN = some_bytes(1000)
ASKS = "serve(lambda: record([str(part) for part in ask({})]))"
PIN = "314159-Pin"
ESCAPES = "a\x1b[2Jb\x07\r\x08c\x9bd"
SHOWN = '"a?[2Jb???c?d"'


def reply(*arguments, body=b""):
    return [[str(list(arguments)), str(body)]]


@pytest.mark.parametrize("answer, body", [(PIN, PIN.encode()), ("", b""), ("x" * 1024, b"x" * 1024)])
def test_secret(plugin, recipient, answer, body):
    plugin(ASKS.format("'request-secret', body='PIN of the card'"))
    result, lines = at_terminal("-r", recipient, input=PLAIN, answers=[answer])
    assert lines == ['age-plugin-test asks "PIN of the card":']
    assert result.out and recorded() == reply("ok", body=body)


def test_secret_to_decrypt(plugin, recipient, identity):
    plugin()
    sealed = stream("-r", recipient, input=PLAIN).out
    plugin(ASKS.format("'request-secret', body='PIN'"))
    result, lines = at_terminal("-d", "-k", identity, input=sealed, answers=[PIN])
    assert (result.out, lines, recorded()) == (PLAIN, ['age-plugin-test asks "PIN":'], reply("ok", body=PIN.encode()))


@pytest.mark.parametrize("question", [
    "'request-secret', body='PIN'", "'request-public', body='name'", "'confirm', encode(b'yes'), body='sure'",
    "'confirm', encode(b'yes'), encode(b'no'), body='sure'",
])  # fmt: skip
def test_the_end_of_the_input_is_no_answer(plugin, recipient, question):
    plugin(ASKS.format(question))
    _, status = on_terminal(["-r", recipient, "-o", "out"], [b"\x04"])
    assert (status, recorded()) == (0, reply("fail"))


def test_quotation_marks_and_layout(plugin, recipient):
    plugin(r"""serve(lambda: ask('msg', body='a" b \u202ec\u2028d\u2066e \u201cf\u201d'))""")
    assert stream("-r", recipient, input=PLAIN).notes == [
        """age-plugin-test says "a' b ?c?d?e \N{left double quotation mark}f\N{right double quotation mark}\""""]


def test_text_that_is_not_utf8_or_cannot_be_seen(plugin, recipient):
    plugin(r"""serve(lambda: [ask('msg', body=b'\x80\x9b \xc0\xaf \xed\xa0\x80 \xe2\x82'),
                              ask('msg', body='\u061c\u200b\ufeff\u0085 stra\u00dfe \u65e5\u672c \U0001f600')])""")
    assert stream("-r", recipient, input=PLAIN).notes == [
        'age-plugin-test says "?? ?? ??? ?"', 'age-plugin-test says "???? straße 日本 😀"']


def test_an_answer_that_is_too_long(plugin, recipient):
    plugin(ASKS.format("'request-secret', body='PIN'"))
    result, _ = at_terminal("-r", recipient, input=PLAIN, answers=["x" * 1025])
    assert result.warnings == ["the answer for age-plugin-test is longer than 1024 bytes"]
    assert recorded() == reply("fail")


def on_terminal(options, typed):
    """Runs the program, whose standard error is not the terminal, and answers each question. Returns the output on the
    terminal, and the exit status."""
    main, slave = open_terminal()
    plain_read, plain_write = os.pipe()
    os.write(plain_write, PLAIN)
    os.close(plain_write)

    def converse():
        child = start("gpuaes-stream", *options, stdin=plain_read, stderr=os.open("err", os.O_WRONLY | os.O_CREAT))
        seen = b""
        for answer in typed:
            seen += read_terminal(main, lambda part: part.endswith(b": "))
            os.write(main, answer)
        status = child.wait(PATIENCE)
        return seen + read_for(0.2, main), status

    seen, status = in_session(slave, converse)
    for fd in main, slave, plain_read:
        os.close(fd)
    return seen.decode(errors="replace"), status


def test_public_value_is_echoed(plugin, recipient):
    plugin(ASKS.format("'request-public', body='name of the card'"))
    seen, status = on_terminal(["-r", recipient], [b"my card\n"])
    assert (seen, status) == ('age-plugin-test asks "name of the card": my card\r\n', 0)
    assert recorded() == reply("ok", body=b"my card")


@pytest.mark.parametrize("typed, want", [
    ([b"1\n"], reply("ok", "yes")),
    ([b"2\n"], reply("ok", "no")),
    ([b"\n", b"yes\n", b"2\n"], reply("ok", "no")),
    ([b"3\n"] * 3, reply("fail")),
])  # fmt: skip
def test_confirmation(plugin, recipient, typed, want):
    plugin(ASKS.format("'confirm', encode(b'insert'), encode(b'skip'), body='the card?'"))
    seen, status = on_terminal(["-r", recipient], typed)
    question = 'age-plugin-test asks "the card?" (1 for "insert", 2 for "skip"): '
    assert seen == "".join(question + answer.decode().replace("\n", "\r\n") for answer in typed)
    assert (status, recorded()) == (0, want)


def test_confirmation_with_one_choice(plugin, recipient):
    plugin(ASKS.format("'confirm', encode(b'go on'), body='ready?'"))
    seen, status = on_terminal(["-r", recipient], [b"\n"])
    assert (seen, status) == ('age-plugin-test asks "ready?" (Enter for "go on"): \r\n', 0)
    assert recorded() == reply("ok", "yes")


def test_escape_codes_are_made_visible(plugin, recipient):
    """In messages, questions and choices."""
    plugin(f"text = {ESCAPES!r}; serve(lambda: [ask('msg', body=text), ask('request-secret', body=text), "
           "ask('confirm', encode(text.encode()), body=text)])")
    seen, status = on_terminal(["-r", recipient], [b"\n", b"\n"])
    assert status == 0
    assert seen == f"age-plugin-test asks {SHOWN}: \r\nage-plugin-test asks {SHOWN} (Enter for {SHOWN}): \r\n"
    message = pathlib.Path("err").read_bytes().decode(errors="replace")
    assert message == f"gpuaes-stream: age-plugin-test says {SHOWN}\n"


def test_many_questions(plugin, recipient):
    plugin("serve(lambda: [record(ask('request-secret', body=str(i))[1].decode()) for i in range(20)])")
    result, lines = at_terminal("-r", recipient, input=PLAIN, answers=[f"{PIN} {i}" for i in range(20)])
    assert lines == [f'age-plugin-test asks "{i}":' for i in range(20)]
    assert recorded() == [f"{PIN} {i}" for i in range(20)]


def test_an_interrupted_question(plugin, recipient):
    plugin(ASKS.format("'request-secret', body='PIN'"))
    for answer in b"\x03", signal.SIGTERM:
        number = signal.SIGINT if answer == b"\x03" else answer
        result, _ = at_terminal("-r", recipient, "-o", "out", input=PLAIN, answers=[answer], status=-number)
        assert (result.out, result.err, recorded(), os.path.exists("out")) == (b"", "", [], False)


@pytest.mark.parametrize("question, text", [
    ("'request-secret', body='PIN'", '"PIN"'),
    ("'request-public', body='name'", '"name"'),
    ("'confirm', encode(b'yes'), encode(b'no'), body='?'", '"?" (1 for "yes", 2 for "no")'),
    ("'confirm', encode(b'yes'), body='?'", '"?" (Enter for "yes")'),
])  # fmt: skip
def test_without_a_terminal(plugin, recipient, question, text):
    plugin(ASKS.format(question))
    result = stream("-r", recipient, input=PLAIN, start_new_session=True)
    assert result.warnings == [f"age-plugin-test asks {text}, but there is no terminal"]
    assert recorded() == reply("fail")
