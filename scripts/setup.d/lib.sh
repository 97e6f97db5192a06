# shellcheck shell=bash
# For scripts that install packages and build: help, logs, and the CUDA toolkit and GPU of this machine.

name=${0##*/}

say() { printf '%s: %s\n' "$name" "$*"; }

fail() {
    printf '%s: error: %s\n' "$name" "$*" >&2
    exit 1
}

# Prints the comment at the top of the script if the only argument is --help or -h.
help_option() { # arguments...
    if [[ $* == --help || $* == -h ]]; then
        sed -n '2,/^[^#]/s/^# \{0,1\}//p' "$0"
        exit
    fi
}

# Runs a command with its output in a log file.
logged() { # log file, command...
    { mkdir -p -- "${1%/*}" && : >"$1"; } 2>/dev/null ||
        fail "cannot write $1: free some space, or make its folder writable"
    "${@:2}" >"$1" 2>&1 </dev/null
}

# Ends the script after a logged command failed, with lines of the log.
explain() { # log file, what failed
    grep -m 1 -A 4 -E 'CMake Error|error:' "$1" >&2 || tail -n 5 -- "$1" >&2
    fail "$2 (log: $1)"
}

# Sets nvcc to the CUDA compiler that the build uses, or to nothing: from CUDACXX, PATH or CUDA's usual folder.
find_nvcc() {
    local usual=${CUDA_PATH:-/usr/local/cuda}/bin/nvcc
    if ! nvcc=$(command -v "${CUDACXX:-nvcc}"); then
        [[ -z ${CUDACXX:-} ]] ||
            fail "CUDACXX is set to $CUDACXX, which was not found: set it to nvcc of a CUDA toolkit, or unset it"
        [[ ! -x $usual ]] || nvcc=$usual
    fi
    [[ -z $nvcc ]] || export CUDACXX=$nvcc
}

cuda_version() { # nvcc
    "$1" --version | sed -n 's/.* release \([0-9.]*\),.*/\1/p'
}

# Sets gpu to the name of the first GPU that the driver finds, or to nothing.
find_gpu() {
    # shellcheck disable=SC2034 # the scripts that source this file use it
    gpu=$(nvidia-smi -L 2>/dev/null | sed -n '1s/^GPU 0: \(.*\) (UUID.*/\1/p') || gpu=""
}
