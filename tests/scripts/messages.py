#!/usr/bin/env python3
"""Checks that every message and hint of the programs has the right form, and that a test expects it."""

import collections
import pathlib
import re
import sys

TOP = pathlib.Path(__file__).resolve().parents[2]

LITERAL = r'"(?:[^"\\\n]|\\.)*"'
LITERALS = rf"{LITERAL}(?:\s*{LITERAL})*"
CHARACTER = r"'(?:[^'\\\n]|\\[^\n])'"
RAW_LITERAL = r'\bR"(\w*)\(.*?\)\1"'
# Expressions that create an error or print a message.
REPORT = re.compile(
    r"\b(?:(?:Usage|Auth|Key|Io|Lane|Version)Error|PipeClosed|UnsuitableInput|io_error|refuse_header|messages_?\.\w+|warn_?)(?=[({])"
)

# Literals with words and a space that are not messages, except in arguments of REPORT.
NOT_MESSAGES = (
    # file, literals, what they are
    ("src/cli/options.cpp", r".*", "help"),
    ("src/cli/help_text.cpp", r".*", "help"),
    ("src/cli/keygen_options.cpp", r".*", "help"),
    ("src/cli/parts_options.cpp", r"(?s).*", "help"),
    ("src/cli/bash_completions.cpp", r"(?s).*", "a shell script"),
    ("src/cli/zsh_completions.cpp", r"(?s).*", "a shell script"),
    ("src/cli/fish_completions.cpp", r"(?s).*", "a shell script"),
    ("src/cli/messages.cpp", r"(error|warning|hint): ", "what messages begin with"),
    ("src/cli/progress_line.cpp", r".*", "progress"),
    ("src/cli/program.cpp", r": error: ", "what messages begin with"),
    ("src/format/cobblestone.cpp", r"aes-128 or .*", "output of --info"),
    ("src/format/sealed.cpp", r"unknown type .*", "output of --info"),
    ("src/run/filter.cpp", r"\{\}: ok\n", "output of --test"),
    ("src/run/info.cpp", r".*", "output of --info"),
    ("src/run/report.cpp", r"\{\} (bytes|[KM]iB)", "an amount in a message"),
    ("src/format/parts.cpp", r"gpuaes-stream/1 .*", "label of a key derivation"),
    ("src/parts/job_file.cpp", r"gpuaes-parts/1 .*", "label of a key derivation"),
    ("src/format/sealed_header.cpp", r"gpuaes-stream/1 .*", "label of a key derivation"),
    ("src/format/slots.cpp", r"gpuaes-stream/1 .*", "label of a key derivation"),
    ("src/format/slots.cpp", r"key file|X25519 recipient|X-Wing recipient", "output of --info"),
    ("src/format/slots.cpp", r"an? [-\w]+ ?\w*", "a secret in a message"),
    ("src/format/formats.cpp", r"a row lacks a function", "a static assertion"),
    ("src/keys/recipient.cpp", r"\n# recipient: ", "contents of an identity file"),
    ("src/run/secrets.cpp", r"(new )?passphrase: ", "a prompt"),
    ("src/run/passphrases.cpp", r"(repeat the )?passphrase: |passphrase for \{\}: |\{\}\n\{\}", "a prompt"),
    ("src/lane/backends.cpp", r"cpu:.*", "output of --list-lanes"),
    ("cuda/devices.cpp", r"cuda:.*", "output of --list-lanes"),
    ("src/main.cpp", r"gpuaes-stream ", "output of --version"),
    ("src/parts.cpp", r"gpuaes-parts ", "output of --version"),
    ("src/keygen.cpp", r"gpuaes-keygen ", "output of --version"),
    ("src/pipeline/trace.cpp", r"(lane )?\{\}, .*", "name of a track in a trace"),
    ("src/cipher/host_device.hpp", r"unroll 1|lop3.*", "machine code"),
    ("src/cipher/modes/carryless_product.hpp", r"(mul\.wide|clmad).*", "machine code"),
    ("src/system/resources.cpp", r"%lf %lf", "format of a file in /proc"),
)

# Messages that no test can cause.
UNREACHABLE = {
    # message: reason
    "access control list": "a file system does not refuse an ACL that another file there has",
    "cannot change the terminal settings of": "the terminal was just opened",
    "cannot read the terminal settings of": "the terminal was just opened",
    "this output cannot be overwritten": "only gpuaes-parts overwrites, and only regular files",
    "cannot set the time of": "the program has just made that file",
    "{} was removed again and again": "other processes would have to remove a directory each time it was made",
    "cannot rename to": "the program has just made a file in that directory, or another process removed its data",
    "{} was removed": "another program would have to remove a part right after it was complete",
    "cannot wait for": "the command is a child that only this program waits for",
    "cannot get random bytes from the system: {}": "fault injection causes it: getrandom()",
    "not enough memory for the trace": "fault injection causes it: memory",
    "out of memory": "fault injection causes it: memory",
    "unexpected error: {}": "no such exception is known",
    "unknown reason": "libcrypto gives a reason for its errors",
    "lanes that support it: {}": "all lanes support all ciphers",
    "cuda: the associated data of the job is too long": "no format has that much",
    "no device was found": "the CUDA driver reports an error instead of 0 devices",
}

Message = collections.namedtuple("Message", "path line text glued")


def without_comments(source):
    """The source without comments, preprocessor lines and raw literals; line numbers are preserved."""
    source = re.sub(RAW_LITERAL, lambda found: "0" + "\n" * found[0].count("\n"), source, flags=re.DOTALL)
    source = re.sub(rf"({LITERAL}|{CHARACTER})|//[^\n]*", lambda found: found[1] or "", source)
    return re.sub(r"^[ \t]*#(?!define).*$", "", source, flags=re.MULTILINE)


def arguments_at(source, at):
    """The end of the parentheses or braces that begin at `at`."""
    depth = 0
    for end, character in enumerate(re.sub(LITERAL, lambda found: "_" * len(found[0]), source[at : at + 4000])):
        depth += (character in "({") - (character in ")}")
        if depth == 0:
            return at + end + 1
    return at


def value_of(literals):
    text = "".join(literal[1:-1] for literal in re.findall(LITERAL, literals))
    return re.sub(r"\\([ntr\"'\\])", lambda found: {"n": "\n", "t": "\t", "r": "\r"}.get(found[1], found[1]), text)


def is_excepted(path, text):
    return any(file == path and re.fullmatch(what, text, re.DOTALL) for file, what, _ in NOT_MESSAGES)


def messages_in(path, source):
    """Yields each literal with words that begins a REPORT's arguments, or has a space and is not in NOT_MESSAGES."""
    source = without_comments(source)
    reports = [(found.end(), arguments_at(source, found.end())) for found in REPORT.finditer(source)]
    for found in re.finditer(LITERALS, source):
        text = value_of(found[0])
        is_first = any(source[begin + 1 : found.start()].strip() == "" for begin, _ in reports if begin < found.start())
        in_report = any(begin < found.start() < end for begin, end in reports)
        if not re.search("[A-Za-z]", text) or (" " not in text and not is_first):
            continue
        if not in_report and is_excepted(path, text):
            continue
        glued = re.search(r"\+\s*$", source[: found.start()]) or re.match(r"\s*\+", source[found.end() :])
        yield Message(path, source.count("\n", 0, found.start()) + 1, text, bool(glued))


def faults_of(message):
    text = message.text
    if message.glued:
        yield "is glued together with +"
    if re.search(r"[\n\r\t]", text):
        yield "is not on one line"
    if not re.match(r"[a-z{]|-|XDG_|CUDA", text):
        yield "does not begin with a lowercase letter, an option or a placeholder"
    if re.search(r"[.!?,:; ]$", text):
        yield "ends with a space or a punctuation mark"
    if "!" in text:
        yield "has an exclamation mark"
    if "  " in text or text.startswith(" "):
        yield "has an extra space"
    if re.search(r"[.?] [A-Za-z{]", text):
        yield "has two sentences"


def sources():
    """The sources of the programs, except those for nvcc, which may not be able to compile fmt."""
    for path in sorted([*(TOP / "src").rglob("*.?pp"), *(TOP / "cuda").glob("*.cpp")]):
        inside = path.relative_to(TOP)
        if "bench" not in inside.parts:
            yield str(inside), path.read_text()


def plain(text):
    """The text on one line, without quotes and escapes, which tests write in several ways."""
    return " ".join(re.sub(r"""[\\'"]""", "", text).split())


def tests():
    """The text of all tests, except comments."""
    said = []
    for path in sorted((TOP / "tests").rglob("*")):
        if path.suffix not in (".cpp", ".hpp", ".py", ".sh") or path.parent == TOP / "tests/scripts":
            continue
        source = path.read_text()
        if path.suffix in (".cpp", ".hpp"):
            source = without_comments(source)
        else:
            source = re.sub(r"^\s*#.*$", "", source, flags=re.MULTILINE)
        said.append(plain(source if path.suffix == ".sh" else re.sub(r'"\s+b?"', "", source)))
    return "\n".join(said)


def key_parts(texts):
    """Maps each message to the longest of its parts between placeholders, if possible one that no other message has."""
    keys = {}
    for text in texts:
        parts = [part.strip(" ,:;()") for part in re.split(r"\{[^{}]*\}", plain(text))]
        own = [part for part in parts if not any(part in plain(other) for other in texts if other != text)]
        keys[text] = max(own or parts, key=len)
    return keys


def untested(messages, said):
    keys = key_parts({message.text for message in messages})
    for message in messages:
        if keys[message.text] not in said and message.text not in UNREACHABLE:
            yield f"{message.path}:{message.line}: no test expects '{keys[message.text]}': {message.text}"
    for text in UNREACHABLE:
        if text not in keys:
            yield f"no message is '{text}' ({UNREACHABLE[text]})"
        elif keys[text] in said:
            yield f"a test expects '{keys[text]}', which is said to be unreachable"


def unused_exceptions(files):
    for file, what, reason in NOT_MESSAGES:
        literals = re.findall(LITERALS, without_comments(files.get(file, "")))
        if not any(re.fullmatch(what, value_of(each), re.DOTALL) for each in literals):
            yield f"{file}: no literal is '{what}' ({reason})"


def check_the_check():
    """Checks that faults and untested messages are found, and nothing else is."""
    def found(source, path="x.cpp"):
        return list(messages_in(path, source))

    for bad in (
        'throw UsageError("Input is bad");',
        'throw UsageError("it is bad.");',
        'throw UsageError("it is bad!");',
        'throw UsageError("is it bad?");',
        'throw UsageError("it is\\nbad");',
        'throw UsageError("it is  bad");',
        'throw UsageError(" it is bad");',
        'throw UsageError("it is bad ");',
        'throw UsageError("it is bad. try again");',
        'throw UsageError("it is " "bad.");',
        'throw UsageError("it is " + bad);',
        'throw UsageError(name + " is bad");',
        'throw IoError(fmt::format("{} is bad.", name));',
        'throw LaneError("Bad");',
        'return AuthError{fmt::format("{} is bad",\n  f(x)),\n "Do it again"};',
        'messages.warning("Bad");',
        'warn_(fmt::format("file {} is bad.", name));',
        'constexpr char again_hint[] = "Do it again";',
        'const char* hint() { return "do it again."; }',
        "if (c == '\"') throw IoError(\"Bad\");",
    ):
        assert any(faults for each in found(bad) for faults in faults_of(each)), bad
    assert any(faults for each in found('throw IoError("Bad one");', "src/run/info.cpp") for faults in faults_of(each))
    for good in (
        'throw UsageError("it is bad", "try -k");',
        'throw UsageError("--iv is bad; it has {} digits", "-h lists the options");',
        'throw UsageError(fmt::format("--{} goes with --{}", name, "Rekey"));',
        'throw UsageError("it is "\n  "bad");',
        'print("Good"); // throw UsageError("It is bad.");',
        'add(R"({"It is": "not."})");\n#include "Not A Message.hpp"',
    ):
        assert not any(faults for each in found(good) for faults in faults_of(each)), good
    for bad, said in (
        ('throw IoError("it is bad");', "it was bad"),
        ('throw IoError("it is bad", "try again");', "it is bad"),
        ('throw IoError(fmt::format("{} is bad at byte {}", name, 1));', "x is bad after byte 1"),
        ('throw IoError("{} is bad"); throw IoError("{} is bad in {}, and worse");', "x is bad, in x"),
    ):
        assert any("no test" in each for each in untested(found(bad), said)), bad
    good, said = 'throw IoError("{} isn\'t \'x\' at byte {}", "try \'y\'");', "it isn\\'t 'x' at byte 1, hint: try 'y'"
    assert not any("no test" in each for each in untested(found(good), plain(said))), good
    assert [each.line for each in found('#if A\n\n#endif // it\nthrow IoError(\n"it is bad");')] == [5]


def main():
    check_the_check()
    files = dict(sources())
    messages = [message for path, source in files.items() for message in messages_in(path, source)]
    offences = [f"{each.path}:{each.line}: {fault}: {each.text}" for each in messages for fault in faults_of(each)]
    offences += unused_exceptions(files)
    offences += untested(messages, tests())
    if len(messages) < 150:
        offences.append(f"found only {len(messages)} messages")
    print("\n".join(offences) or f"{len(messages)} messages")
    sys.exit(1 if offences else 0)


main()
