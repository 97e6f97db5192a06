"""Documents and manual pages agree with --help, with each other and with the files they show."""

import html
import pathlib
import re
import shutil
import subprocess
import sys

import pytest

from programs import FOLDER, INSTALLED, run

TOP = pathlib.Path(__file__).parents[3]
PAGES = sorted((TOP / "man").glob("*.[157]"))
INSTALLED_DOCUMENTS = FOLDER.parent / "share/doc/gpuaes-stream"


def output_of(*command):
    """The lines that a command prints, without overstrikes."""
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    return re.sub(".\b", "", done.stdout).splitlines()


def need(*names):
    for name in names:
        if not shutil.which(name):
            pytest.skip(f"{name} is not installed")


@pytest.mark.parametrize("command", [["tests/scripts/documents.py"], ["scripts/plot", "--check", "man/figures"]],
                         ids=" ".join)
def test_checks_of_documents(command):
    """Links and references are valid and README.md is short; tables match the run in man/figures."""
    done = subprocess.run([sys.executable, *command], cwd=TOP, capture_output=True, text=True)
    assert done.returncode == 0, f"{done.stdout}{done.stderr}run scripts/plot --tables man/figures if tables differ"


def test_links_of_the_html_manual(tmp_path):
    """They lead to existing pages and sections, or to pages of other programs."""
    folder, pages = tmp_path, {page.name for page in PAGES}
    if INSTALLED:
        folder, pages = INSTALLED_DOCUMENTS / "html", pages - {"gpuaes-bench.1"}
    else:
        need("mandoc")
        subprocess.run([TOP / "scripts/package.d/html", folder, *PAGES], check=True)
    texts = {path.name: html.unescape(path.read_text()) for path in folder.iterdir()}
    assert texts.keys() == {f"{page}.html" for page in pages}
    for name, text in texts.items():
        links = re.findall('href="([^"]*)"', text)
        own = [link.partition("#") for link in links if not link.startswith("https://")]
        assert own and [link for link in links if "debian.org/gpuaes" in link] == []
        for page, _, section in own:
            target = texts[page or name]
            assert not section or f'id="{section}"' in target, (name, page, section)


@pytest.mark.skipif(not INSTALLED, reason="needs the programs of a package")
def test_links_of_installed_documents():
    """They lead to other sites, or to headings of the same document. The wheel's METADATA contains README.md."""
    paths = [*INSTALLED_DOCUMENTS.glob("*.md"), *FOLDER.parent.glob("lib/python*/site-packages/gpuaes_stream-*/METADATA")]
    assert paths
    for path in paths:
        assert [link for link in re.findall(r"\]\(([^)]*)\)", path.read_text()) if not re.match("https:|#", link)] == []


def test_the_page_of_the_command_line_stays_short():
    """Statistics, other formats and shares have pages of their own."""
    need("mandoc")
    words = " ".join(output_of("mandoc", "-T", "ascii", TOP / "man/gpuaes-stream.1")).split()
    assert len(words) <= 4800


def as_in_help(term):
    """A term of a page: "-k, --key file" is "-k, --key FILE", and "copy size" is "copy SIZE"."""
    names, argument = re.fullmatch(r"((?:-\w, )?[\w-]+)(.*)", term).groups()
    return names + argument.upper()


def rows_of_help(*command):
    """Title and term of each row."""
    title = None
    for line in run(*command, "--help").out.decode().splitlines():
        if found := re.fullmatch(r"(\S.*):", line):
            title = found[1]
        elif title and title != "Examples" and (term := re.match(r"  (?:    )?(\S.*?)(?:  |$)", line)):
            yield title, term[1]


def section_of_page(name, wanted):
    section = None
    for line in output_of("mandoc", "-T", "ascii", "-O", "width=80", TOP / f"man/{name}.1"):
        if re.match(r"\S", line):
            section = line
        elif section == wanted:
            yield line


def options_in_page(name):
    title = "Options"  # of options that are not in groups
    for line in section_of_page(name, "OPTIONS"):
        if found := re.fullmatch(r" {3}(\S.*)", line):
            title = found[1]
        elif term := re.match(r" {5}(-.*?)(?:  |$)", line):
            yield title, as_in_help(term[1])


def commands_in_help(name, explained_once):
    """The commands, each with its options, except those that the page explains once for all."""
    for term in [term for title, term in rows_of_help(name) if title == "Commands"]:
        yield re.sub(r" \[OPTION\]\.\.\.| [<>]\w+", "", term)
        yield from (option for _, option in rows_of_help(name, term.split()[0]) if option not in explained_once)


def commands_in_page(name):
    for line in section_of_page(name, "COMMANDS"):
        if term := re.match(r" {5}(\w.*?)(?:  |$)| {13}(-.*?)(?:  |$)", line):
            yield as_in_help(term[1] or term[2])


@pytest.mark.parametrize("name", ["gpuaes-stream", "gpuaes-keygen"])
def test_help_and_page_list_the_same_options_in_the_same_groups(name):
    need("mandoc")
    rows = list(rows_of_help(name))
    assert rows == list(options_in_page(name)) and len(rows) >= 5


@pytest.mark.parametrize("name, explained_once", [("gpuaes-bench", ["--csv", "-h, --help"]),
                                                  ("gpuaes-parts", ["-h, --help"])])
def test_help_and_page_list_the_same_commands_with_the_same_options(name, explained_once):
    need("mandoc")
    rows = list(commands_in_help(name, explained_once))
    assert rows == list(commands_in_page(name)) and len(rows) >= 5
