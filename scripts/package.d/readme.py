"""The description of the wheel, for pyproject.toml: README.md without links to files of the source tree, which would be
dead on PyPI."""

import pathlib
import re


def dynamic_metadata(field, settings):
    text = pathlib.Path("README.md").read_text(encoding="utf-8")
    return {"content-type": "text/markdown", "text": re.sub(r"\[([^][]*)\]\([^:)]*\)", r"\1", text)}
