#!/usr/bin/env python3
"""Checks that all messages of the programs are in src/base/texts.hpp and nowhere else, and follow one style."""

import pathlib
import re
import sys

TOP = pathlib.Path(__file__).resolve().parents[2]
LITERAL = r'"(?:[^"\\\n]|\\.)*"'
TEXT = re.compile(r"inline constexpr char (\w+)\[\] =\s*((?:%s\s*)+);" % LITERAL)
# Expressions that create an error or print a message. Their arguments may contain names of options, but no wording.
REPORTS = re.compile(
    r"\b(?:Usage|Auth|Key|Io|Lane|Version)Error|PipeClosed|\bio_error|\brefuse_header"
    r"|\bmessages_?\.(?:error|warning|note|detail)|\bwarn|\btell_"
)


def value_of(literals):
    return "".join(literal[1:-1] for literal in re.findall(LITERAL, literals))


def faults_of_text(text):
    if re.search(r"[\n\r\t]|\\[nrt]", text):
        yield "is not on one line"
    if not re.match(r"[a-z{]|-|XDG_", text):
        yield "does not begin with a lowercase letter, an option or a placeholder"
    if re.search(r"[.!,:; ]$", text):
        yield "ends with a space or a punctuation mark"
    if "!" in text:
        yield "has an exclamation mark"
    if "  " in text or text.startswith(" "):
        yield "has an extra space"
    if re.search(r"\. [A-Za-z]", text):
        yield "has two sentences"


def without_comments(source):
    return re.sub(r"(%s)|//[^\n]*" % LITERAL, lambda found: found[1] or "", source)


def arguments_at(source, at):
    """The text from the parenthesis or brace at `at` to the matching one, or nothing."""
    depth = 0
    for end, character in enumerate(re.sub(LITERAL, lambda found: "_" * len(found[0]), source[at : at + 2000])):
        depth += (character in "({") - (character in ")}")
        if depth == 0:
            return source[at : at + end + 1] if end > 0 else ""
    return ""


def is_wording(literal):
    return " " in literal or "{" in literal


def stray_wording(source):
    """Yields string literals with wording, with their lines, in arguments of REPORTS."""
    source = without_comments(source)
    for report in REPORTS.finditer(source):
        at = report.end()
        if source[at : at + 1] not in ("(", "{"):
            continue
        for literal in re.findall(LITERAL, arguments_at(source, at)):
            if is_wording(literal):
                yield source.count("\n", 0, report.start()) + 1, literal


def files():
    """The sources of the two programs, except those for nvcc, which may not be able to compile fmt."""
    for path in sorted([*(TOP / "src").rglob("*.?pp"), *(TOP / "cuda").glob("*.cpp")]):
        inside = path.relative_to(TOP)
        if "bench" not in inside.parts and path.name != "texts.hpp":
            yield inside, path.read_text()


def check_the_check():
    """Finds what it should, and nothing else."""
    for bad in ("Input is bad", "input is bad.", "input is bad!", "two\\nlines", "bad ", "one. two", " bad"):
        assert list(faults_of_text(bad)), bad
    for good in ("input is bad", "--iv has {} digits", "{} is bad", "-h lists the options", "it is (in {})"):
        assert not list(faults_of_text(good)), good
    for bad in (
        'throw UsageError("it is bad");',
        'throw IoError(fmt::format("{} is bad", name));',
        'return AuthError{fmt::format(text::bad,\n  f(x)),\n "do it again"};',
        'throw KeyError("neither " + names);',
        'messages.warning("it is bad");',
        'warn(fmt::format("file {} is bad", name));',
    ):
        assert list(stray_wording(bad)), bad
    for good in (
        "throw UsageError(text::bad, text::bad_hint);",
        'throw UsageError(fmt::format(text::goes_with, name, "rekey"));',
        'throw UsageError(text::bad); print("it is good");',
        '// throw UsageError("it is bad");',
    ):
        assert not list(stray_wording(good)), good


def main():
    check_the_check()
    offences = []
    header = (TOP / "src/base/texts.hpp").read_text()
    texts = {found[1]: value_of(found[2]) for found in TEXT.finditer(header)}
    declared = len(re.findall(r"^inline", header, re.M))
    if len(texts) != declared or declared < 100:
        offences.append(f"src/base/texts.hpp: can read only {len(texts)} of {declared} texts")
    seen = {}
    for name, text in texts.items():
        offences += [f"src/base/texts.hpp: {name} {fault}: {text}" for fault in faults_of_text(text)]
        if text in seen:
            offences.append(f"src/base/texts.hpp: {name} and {seen[text]} are the same: {text}")
        seen[text] = name
    used = set()
    for path, source in files():
        used.update(re.findall(r"\btext::(\w+)", source))
        offences += [f"{path}:{line}: wording outside src/base/texts.hpp: {text}" for line, text in stray_wording(source)]
    offences += [f"src/base/texts.hpp: {name} is not used" for name in sorted(set(texts) - used)]
    print("\n".join(offences) or f"{len(texts)} texts")
    sys.exit(1 if offences else 0)


main()
