#!/usr/bin/env bash
# --help and the manual page list the same options, with the same arguments, in the same groups and the same order.
# shellcheck source=../support/lib.sh
. "$(dirname "$0")/../support/lib.sh"
need mandoc

export TOP=$top
python <<'PYTHON'
from harness import *


def lines_of(*command):
    return re.sub(".\b", "", subprocess.run(command, check=True, capture_output=True, text=True).stdout).splitlines()


def options_in_help(name):
    group = None
    for line in lines_of(f"{os.path.dirname(program)}/{name}", "--help"):
        if title := re.fullmatch(r"(\S.*):", line):
            group = title[1]
        elif group != "Examples" and (term := re.match(r"  (?:    )?(-.*?)(?:  |$)", line)):
            yield group, term[1]


def options_in_page(name):
    section, group = None, "Options"  # the title of options that are not in groups
    page = lines_of("mandoc", "-T", "ascii", "-O", "width=80", f"{os.environ['TOP']}/man/{name}.1")
    for line in page:
        if re.match(r"\S", line):
            section = line
        elif section == "OPTIONS" and (title := re.fullmatch(r" {3}(\S.*)", line)):
            group = title[1]
        elif section == "OPTIONS" and (term := re.match(r" {5}(-.*?)(?:  |$)", line)):
            names, argument = re.fullmatch(r"((?:-\w, )?--[\w-]+)(.*)", term[1]).groups()
            yield group, names + argument.upper()


for name in "gpuaes-stream", "gpuaes-keygen":
    in_help, in_page = list(options_in_help(name)), list(options_in_page(name))
    if len(in_help) < 5:
        fail(f"{name} --help: expected options, got {in_help}")
    for expected, got in zip([*in_help, None], [*in_page, None]):
        if got != expected:
            fail(f"{name}(1): expected {expected} as in --help, got {got}")
PYTHON
