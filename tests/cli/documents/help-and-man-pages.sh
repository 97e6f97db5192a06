#!/usr/bin/env bash
# --help and the manual pages list the same options and commands, with the same arguments, in the same groups and order.
# shellcheck source=../support/lib.sh
. "$(dirname "$0")/../support/lib.sh"
need mandoc

export TOP=$top
python <<'PYTHON'
from harness import *


folder = os.path.dirname(program)


def lines_of(*command):
    return re.sub(".\b", "", subprocess.run(command, check=True, capture_output=True, text=True).stdout).splitlines()


def page_of(name):
    return lines_of("mandoc", "-T", "ascii", "-O", "width=80", f"{os.environ['TOP']}/man/{name}.1")


def as_in_help(term):
    """A term of a page: "-k, --key file" is "-k, --key FILE", and "copy size" is "copy SIZE"."""
    names, argument = re.fullmatch(r"((?:-\w, )?[\w-]+)(.*)", term).groups()
    return names + argument.upper()


def rows_of_help(*command):
    """Title and term of each row."""
    title = None
    for line in lines_of(f"{folder}/{command[0]}", *command[1:], "--help"):
        if found := re.fullmatch(r"(\S.*):", line):
            title = found[1]
        elif title and title != "Examples" and (term := re.match(r"  (?:    )?(\S.*?)(?:  |$)", line)):
            yield title, term[1]


def options_in_page(name):
    section, title = None, "Options"  # the title of options that are not in groups
    for line in page_of(name):
        if re.match(r"\S", line):
            section = line
        elif section == "OPTIONS" and (found := re.fullmatch(r" {3}(\S.*)", line)):
            title = found[1]
        elif section == "OPTIONS" and (term := re.match(r" {5}(-.*?)(?:  |$)", line)):
            yield title, as_in_help(term[1])


def commands_in_help(name):
    """The commands, each with its options, except those that the page explains once for all."""
    common = {"gpuaes-bench": ["--csv", "--json", "-h, --help"], "gpuaes-parts": ["-h, --help"]}[name]
    for title, term in rows_of_help(name):
        if title != "Commands":
            continue
        yield re.sub(r" \[OPTION\]\.\.\.| [<>]\w+", "", term)
        for _, option in rows_of_help(name, term.split()[0]):
            if option not in common:
                yield option


def commands_in_page(name):
    section = None
    for line in page_of(name):
        if re.match(r"\S", line):
            section = line
        elif section == "COMMANDS" and (term := re.match(r" {5}(\w.*?)(?:  |$)| {13}(-.*?)(?:  |$)", line)):
            yield as_in_help(term[1] or term[2])


def check(name, in_help, in_page):
    if len(in_help) < 5:
        fail(f"{name} --help: expected more rows, got {in_help}")
    for expected, got in zip([*in_help, None], [*in_page, None]):
        if got != expected:
            fail(f"{name}(1): expected {expected} as in --help, got {got}")


for name in "gpuaes-stream", "gpuaes-keygen":
    check(name, list(rows_of_help(name)), list(options_in_page(name)))
for name in "gpuaes-bench", "gpuaes-parts":
    check(name, list(commands_in_help(name)), list(commands_in_page(name)))
PYTHON
