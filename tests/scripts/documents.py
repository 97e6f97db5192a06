#!/usr/bin/env python3
"""Checks the documents: every link, path and reference to a manual page is valid, and README.md stays short.

Checks relative links and #anchors in Markdown files, paths in backticks that begin with a folder of this tree, .Xr, .Sx
and .Dq before .Xr in manual pages, and references such as gpuaes-stream(5), "Slots" in documents and sources."""

import pathlib
import re
import sys

TOP = pathlib.Path(__file__).resolve().parents[2]
MAX_README_WORDS = 1200
FOLDERS = ("src", "cuda", "tests", "scripts", "man", "python")
SOURCES = (".cpp", ".hpp", ".h", ".cu", ".cuh")

LINK = re.compile(r"!?\[[^][]*\]\(([^()\s]+)\)")
CODE = re.compile(r"(?<!`)`([^`\n]+)`(?!`)")
PATH = re.compile(r"(?:%s)/[\w./*-]*" % "|".join(FOLDERS))
# Either may continue on the next line of a comment.
BREAK = r"\s+(?:(?://|#)\s*)?"
PAGE = re.compile(rf'\b(gpuaes-\w+|gpuage(?:-keygen)?)\((\d)\)((?:(?:,|{BREAK}and){BREAK}"[^"]+")*)')


def documents():
    return sorted([*TOP.glob("*.md"), *(path for folder in FOLDERS for path in TOP.glob(f"{folder}/**/*.md"))])


def pages():
    return sorted(TOP.glob("man/*.[0-9]"))


def sources():
    return [path for folder in FOLDERS[:3] for path in sorted((TOP / folder).rglob("*")) if path.suffix in SOURCES]


def without_code_blocks(text):
    """Empties lines of code but keeps them, to preserve line numbers."""
    text = re.sub(r"^```.*?^```$", lambda block: "\n" * block[0].count("\n"), text, flags=re.MULTILINE | re.DOTALL)
    return re.sub(r"^    .*$", "", text, flags=re.MULTILINE)


def anchors(path):
    """The anchors of a Markdown file's headings, formed as GitHub forms them."""
    found = set()
    for heading in re.findall(r"^#+ +(.+?) *#*$", without_code_blocks(path.read_text(encoding="utf-8")), re.MULTILINE):
        heading = re.sub(r"!?\[([^][]*)\]\([^()]*\)", r"\1", heading)
        anchor = re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")
        count = sum(1 for other in found if re.fullmatch(re.escape(anchor) + r"(-\d+)?", other))
        found.add(f"{anchor}-{count}" if count else anchor)
    return found


def headings(page):
    """The sections and subsections of a manual page."""
    titles = re.findall(r"^\.S[hs] (.+)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    return {title.replace('"', "").replace(r"\&", "") for title in titles}


def find_page(name, section):
    path = TOP / f"man/{name}.{section}"
    return path if path.is_file() else None


def fault_of_link(document, target):
    if re.match(r"[a-z]+:", target):
        return None
    path, _, anchor = target.partition("#")
    linked = document.parent / path if path else document
    if not linked.exists():
        return f"no such file: {target}"
    if re.fullmatch(r"\.\d", linked.suffix) and document.name != "CONTRIBUTING.md":
        return f"hosts show the source of manual pages; name the page instead: {target}"
    if anchor and linked.suffix == ".md" and anchor not in anchors(linked):
        return f"no such heading: {target}"
    return None


def fault_of_code(code):
    """Words in uppercase stand for a name, as in tests/FOLDER/."""
    for path in PATH.findall(code.split()[0]) if PATH.match(code) else []:
        if not re.search(r"\b[A-Z]{2,}\b", path) and not any(TOP.glob(path.rstrip("/"))):
            return f"no such path: {path}"
    return None


def faults_of_document(document, text):
    text = without_code_blocks(text)
    for pattern, fault_of in ((LINK, lambda target: fault_of_link(document, target)), (CODE, fault_of_code)):
        for found in pattern.finditer(text):
            if fault := fault_of(found[1]):
                yield found.start(), fault


def faults_of_page(page, text):
    for found in re.finditer(r"^\.Xr (gpuaes-\S+) (\d)", text, re.MULTILINE):
        if not find_page(found[1], found[2]):
            yield found.start(), f"no such manual page: {found[1]}({found[2]})"
    for found in re.finditer(r"^\.Sx (.+?)(?: [.,;:)]+)*$|\bSx ([A-Z][A-Z ]+[A-Z])", text, re.MULTILINE):
        title = (found[1] or found[2]).replace('"', "").removesuffix(" Pc")
        if title not in headings(page):
            yield found.start(), f"no such section: {title}"
    for found in re.finditer(r"^\.Dq (.+)\n(?:in|of)\n\.Xr (gpuaes-\S+) (\d)", text, re.MULTILINE):
        target = find_page(found[2], found[3])
        if target and found[1] not in headings(target):
            yield found.start(), f"no such section in {found[2]}({found[3]}): {found[1]}"


def faults_of_references(text):
    for found in PAGE.finditer(text):
        page = find_page(found[1], found[2])
        if not page:
            yield found.start(), f"no such manual page: {found[1]}({found[2]})"
            continue
        for title in re.findall(r'"([^"]+)"', found[3]):
            title = re.sub(BREAK, " ", title)
            if title not in headings(page):
                yield found.start(), f"no such section in {found[1]}({found[2]}): {title}"


def main():
    faults = []
    for document in documents():
        text = document.read_text(encoding="utf-8")
        faults += [(document, text, *fault) for fault in faults_of_document(document, text)]
    for page in pages():
        text = page.read_text(encoding="utf-8")
        faults += [(page, text, *fault) for fault in faults_of_page(page, text)]
    for path in [*documents(), *pages(), *sources()]:
        text = path.read_text(encoding="utf-8")
        faults += [(path, text, *fault) for fault in faults_of_references(text)]
    for path, text, at, fault in faults:
        print(f"{path.relative_to(TOP)}:{text.count(chr(10), 0, at) + 1}: {fault}")
    words = len((TOP / "README.md").read_text(encoding="utf-8").split())
    if words > MAX_README_WORDS:
        print(f"README.md: {words} words, more than {MAX_README_WORDS}")
    sys.exit(1 if faults or words > MAX_README_WORDS else 0)


main()
