"""bash, zsh and fish complete options, their arguments, files and commands, with what --completions prints."""

import os
import pathlib
import re
import shutil
import subprocess

import pytest

from programs import FOLDER, HAS_BENCH, PATIENCE, run

PROGRAMS = ("stream", "keygen", "parts", *(["bench"] if HAS_BENCH else []))
PACKAGE = "/usr/share/bash-completion/bash_completion"

# What the last word of a line is completed to, by all shells. There are two files, key1 and key2.
WORDS = {
    "stream -d --l": "--label --lanes --list-lanes", "stream -d -- gpuaes-keyg": "gpuaes-keygen",
    "parts seal dir -- gpuaes-keyg": "gpuaes-keygen",
    "stream -c ": "aes-128 aes-192 aes-256 kuznyechik", "stream --cipher=aes": "aes-128 aes-192 aes-256",
    "stream -f ": "age cobblestone openssl raw sealed", "stream -l ": "auto auto:low-cpu cpu cuda",
    "stream -l auto:": "auto:low-cpu", "stream --lanes=auto:l": "auto:low-cpu",
    "stream --completions ": "bash fish zsh",
    "stream -r @ke": "@key1 @key2", "stream --recipient=@ke": "@key1 @key2",
    "keygen --completions z": "zsh", "parts --": "--completions --help --version",
    "parts plan -c k": "kuznyechik", "parts plan -r @ke": "@key1 @key2", "parts seal -l c": "cpu cuda",
    "bench --": "--completions --help", "bench --completions ": "bash fish zsh", "bench pipeline -l c": "cpu cuda",
    "bench memory --ciphers k": "kuznyechik",
    "bench kernels --modes ": "ctr open seal"}
FILES = [
    *(f"stream {option}ke" for option in ("-k ", "-dk ", "--key=", "-i ", "-o ", "--stats ", "-p ", "<")),
    "keygen -o ke", "keygen --recipient=ke", "parts plan ke", "parts seal ke", "parts seal -i ke", "parts join dir --receipts ke",
    "bench read 2 <ke"]
NOTHING = ["stream -r ke", "stream --label ke", "stream --label=ke", "keygen ke",
           "parts seal --part ke", "bench read ke"]
AFTER_DASHES = {f"{line} -- gpuaes-keygen --x": "--x25519" for line in ("stream -d", "parts seal dir --part 0")}

# ^Xa completes each line of a file to all its completions.
ZSHRC = r"""
PS1=
fpath=($ZDOTDIR/zsh $fpath)
autoload -U compinit
compinit -u -d $ZDOTDIR/dump
zle -C all-matches complete-word _generic
zstyle ':completion:*' completer _all_matches _complete
zstyle ':completion:*' insert true
answer() {
  for line in ${(f)"$(<$ZDOTDIR/lines)"}; do
    BUFFER=$line CURSOR=$#line
    zle all-matches
    print -r -- "$BUFFER" >>$ZDOTDIR/answers
  done
  exit
}
zle -N answer
bindkey '^Xa' answer
"""


@pytest.fixture(autouse=True)
def environment(work, monkeypatch):
    for name in ("key1", "key2"):
        pathlib.Path(name).touch()
    for name, value in {"PATH": f"{FOLDER}:{os.environ['PATH']}", "HOME": str(work.parent), "TERM": "dumb"}.items():
        monkeypatch.setenv(name, value)


def write_scripts(shell, folder, name, check):
    """Writes the completions of each program to a folder, and checks their syntax with an option of the shell."""
    if not shutil.which(shell):
        pytest.skip(f"{shell} is not installed")
    folder.mkdir(parents=True)
    for program in PROGRAMS:
        script = folder / name.format(f"gpuaes-{program}")
        script.write_bytes(run(f"gpuaes-{program}", "--completions", shell).out)
        subprocess.run([shell, check, script], check=True)


def expect_completions(ask, more=None):
    """`ask` is given lines and returns the words to which each is completed."""
    want = WORDS | dict.fromkeys(FILES, "key1 key2") | dict.fromkeys(NOTHING, "") | (more or {})
    want = {line: words for line, words in want.items() if line.split()[0] in PROGRAMS}
    for name in PROGRAMS:
        commands = re.findall("^  ([a-z]+) ", help_of(name), re.M)
        assert bool(commands) == (name in ("parts", "bench"))
        want |= {f"{name} {command[:-1]}": command for command in commands}
        for words in [[name, command] for command in commands] or [[name]]:
            options = re.findall("^  (?:    |-., )(--[a-z0-9-]+)", help_of(*words), re.M)
            want[" ".join([*words, "--"])] = " ".join(options)
    answers = ask([f"gpuaes-{line}" for line in want])
    assert dict(zip(want, map(sorted, answers), strict=True)) == {line: sorted(want[line].split()) for line in want}


def help_of(name, *command):
    return run(f"gpuaes-{name}", *command, "--help").out.decode()


def inserted(line, answer):
    """The words that replace the last word of a line, without the option or the = that is part of a word."""
    last = re.split("[ =<]", line)[-1]
    words = answer.strip().removeprefix(line.removesuffix(last))
    return [re.sub("^--[^=]*=(?=.)", "", word).removesuffix("=") for word in words.split() if words != last]


def output_of(*command, **how):
    return subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE, **how).stdout


def bash(setup):
    """A way to ask bash. M-* inserts all completions; the line then becomes the argument of echo."""
    def ask(lines):
        typed = [f"{line}\033*\001echo 'ANSWER \005'" for line in lines]
        shown = output_of("bash", "--norc", "--noprofile", "-i", env={**os.environ, "INPUTRC": "/dev/null"},
                          input="\n".join(["PS1=; unset HISTFILE", setup, *typed, "exit\n"]))
        return map(inserted, lines, re.findall("^ANSWER (.*)", shown, re.M))
    return ask


def test_bash(work):
    write_scripts("bash", work.parent / "bash", "{}", "-n")
    source = "for script in ~/bash/*; do . $script; done"
    expect_completions(bash(source))
    # By default, bash completes host names after @, which then is a word of its own.
    assert list(bash(f"{source}; shopt -u hostcomplete")(["gpuaes-stream --recipient=@ke"])) == [["@key1", "@key2"]]


@pytest.mark.skipif(not os.path.exists(PACKAGE), reason="bash-completion is not installed")
def test_bash_with_its_package(work):
    write_scripts("bash", work.parent / "bash/completions", "{}", "-n")
    expect_completions(bash(f"BASH_COMPLETION_USER_DIR=~/bash; . {PACKAGE}"), AFTER_DASHES)


def test_zsh(work, monkeypatch):
    write_scripts("zsh", work.parent / "zsh", "_{}", "-n")
    monkeypatch.setenv("ZDOTDIR", str(work.parent))
    if subprocess.run(["zsh", "-fc", "zmodload zsh/zpty"]).returncode != 0:
        pytest.skip("zsh has no pseudo-terminals")
    (work.parent / ".zshrc").write_text(ZSHRC)

    def ask(lines):
        (work.parent / "lines").write_text("\n".join(lines))
        type_it = r"zpty asked zsh -d -i; zpty -wn asked $'\x18a'; zpty -r asked"
        output_of("zsh", "-fc", f"zmodload zsh/zpty; {type_it}")
        return map(inserted, lines, (work.parent / "answers").read_text().splitlines())

    expect_completions(ask, AFTER_DASHES)


def test_fish(work):
    write_scripts("fish", work.parent / "fish", "{}.fish", "--no-execute")

    def complete(lines):
        """Words, each with a tab and its description."""
        each = "for line in $argv; complete -C $line; echo END; end"
        shown = output_of("fish", "-c", f"set -p fish_complete_path ~/fish; {each}", *lines)
        return [part.splitlines() for part in shown.split("END\n")[:-1]]

    def ask(lines):
        """fish 4 adds words that only contain the letters of the line's last word."""
        for line, shown in zip(lines, complete(lines), strict=True):
            found = [each for each in shown if each.startswith(re.split("[ <]", line)[-1])]
            yield [word for each in found for word in inserted("", each.split("\t")[0])]

    expect_completions(ask, AFTER_DASHES)
    described = {"gpuaes-stream --decr": "--decrypt\tDecrypt",
                 "gpuaes-stream --recip": "--recipient\tEncrypt for RECIPIENT,",
                 "gpuaes-parts joi": "join\tCheck all parts and write the index"}
    for shown, text in zip(complete(described), described.values(), strict=True):
        assert shown[0].startswith(text)


def test_other_shells_are_refused():
    for program in PROGRAMS:
        result = run(f"gpuaes-{program}", "--completions", "tcsh", status=2)
        assert (result.error, result.hint) == ("unknown shell 'tcsh'", "the shells are bash, zsh, fish")
