"""The sections of gpuaes-recipes(7), for tests that run them as printed."""

import pathlib
import re

PAGE = pathlib.Path(__file__).parents[3] / "man/gpuaes-recipes.7"


def examples(title, *moved):
    """The examples of a section. `moved` are pairs of a text and what replaces it."""
    section = re.search(rf"(?ms)^\.Ss {title}\n(.*?)^\.S[sh] ", PAGE.read_text())[1]
    for old, new in ("\\e\n", "\\\n"), *moved:
        section = section.replace(old, new)
    return re.findall(r"(?ms)^\.Bd -literal.*?\n(.*?)^\.Ed$", section)


def code_with(start):
    """The example that begins with this line of Python."""
    return re.search(rf"(?ms)^({start}\n.*?)^\.Ed$", PAGE.read_text())[1]
