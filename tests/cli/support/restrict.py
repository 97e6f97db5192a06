"""Runs a command that may not do something:

    python3 restrict.py CALL=ERROR... -- COMMAND...    system calls fail, such as linkat=EPERM or locks=524 (seccomp)
    python3 restrict.py make_reg -- COMMAND...         it may not give a file a name in any directory (Landlock)

restricted() in file_systems.py makes such a command. Exits with 77 where the kernel cannot do this."""

import ctypes
import errno
import fcntl
import os
import platform
import struct
import sys

libc = ctypes.CDLL(None, use_errno=True)

# Audit numbers of architectures, and the numbers of system calls there.
ARCHITECTURES = {
    "x86_64": (0xC000003E, {"linkat": 265, "renameat": 264, "renameat2": 316, "fsync": 74, "fchmod": 91, "fchown": 93,
                            "utimensat": 280, "locks": 72}),
    "aarch64": (0xC00000B7, {"linkat": 37, "renameat": 38, "renameat2": 276, "fsync": 82, "fchmod": 52, "fchown": 55,
                             "utimensat": 88, "locks": 25}),
}
SECOND_ARGUMENT = {"locks": fcntl.F_OFD_SETLK}  # of the calls that fail; other calls of fcntl() do not
LOAD, EQUAL, RETURN = 0x20, 0x15, 0x06  # instructions of BPF
ALLOW, FAIL = 0x7FFF0000, 0x00050000
SET_SECCOMP, FILTER, SET_NO_NEW_PRIVS = 22, 2, 38  # of prctl()
CREATE_RULESET, RESTRICT_SELF = 444, 446  # of Landlock, on each architecture
MAKE_REG = 1 << 8


def check(result):
    if result < 0:
        print(f"restrict.py: {os.strerror(ctypes.get_errno())}", file=sys.stderr)
        sys.exit(77)
    return result


def fail_calls(faults):
    architecture, numbers = ARCHITECTURES[platform.machine()]
    code = [(LOAD, 0, 0, 4), (EQUAL, 1, 0, architecture), (RETURN, 0, 0, ALLOW), (LOAD, 0, 0, 0)]
    for fault in faults:
        call, error = fault.split("=")
        fail = [(RETURN, 0, 0, FAIL | (int(error) if error.isdigit() else getattr(errno, error)))]
        if call in SECOND_ARGUMENT:
            fail = [(LOAD, 0, 0, 24), (EQUAL, 0, 1, SECOND_ARGUMENT[call]), *fail, (LOAD, 0, 0, 0)]
        code += [(EQUAL, 0, len(fail), numbers[call]), *fail]
    code.append((RETURN, 0, 0, ALLOW))
    instructions = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *each) for each in code))
    program = ctypes.create_string_buffer(struct.pack("HP", len(code), ctypes.addressof(instructions)))
    check(libc.prctl(SET_SECCOMP, FILTER, program, 0, 0))


def deny_names():
    ruleset = struct.pack("Q", MAKE_REG)
    fd = check(libc.syscall(CREATE_RULESET, ruleset, ctypes.c_size_t(len(ruleset)), 0))
    check(libc.syscall(RESTRICT_SELF, fd, 0))


if __name__ == "__main__":
    separator = sys.argv.index("--")
    restrictions, command = sys.argv[1:separator], sys.argv[separator + 1 :]
    check(libc.prctl(SET_NO_NEW_PRIVS, 1, 0, 0, 0))
    if "make_reg" in restrictions:
        deny_names()
    else:
        fail_calls(restrictions)
    os.execvp(command[0], command)
