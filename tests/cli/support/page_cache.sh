# shellcheck shell=bash disable=SC2154,SC2094 # sourced after lib.sh; files are only read
# Functions for tests of files that are not in the page cache.

# evict FILE...: removes files from the page cache, as far as their file system allows.
evict() {
  local file
  sync -- "$@"
  for file; do dd if="$file" iflag=nocache count=0 status=none; done
}

# cached_bytes FILE: prints how much of a file is in the page cache, in whole pages.
cached_bytes() {
  python3 - "$1" <<'PYTHON'
import ctypes
import mmap
import os
import sys

libc = ctypes.CDLL(None, use_errno=True)
libc.mmap.restype = ctypes.c_void_p
libc.mmap.argtypes = (ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long)
libc.mincore.argtypes = (ctypes.c_void_p, ctypes.c_size_t, ctypes.c_char_p)
fd = os.open(sys.argv[1], os.O_RDONLY)
size = os.fstat(fd).st_size
pages = ctypes.create_string_buffer(-(-size // mmap.PAGESIZE))
address = libc.mmap(None, size, mmap.PROT_READ, mmap.MAP_SHARED, fd, 0)
if libc.mincore(address, size, pages) != 0:
    sys.exit(os.strerror(ctypes.get_errno()))
print(sum(page & 1 for page in pages.raw) * mmap.PAGESIZE)
PYTHON
}

# has_direct_reads FILE: whether the file is on a disk, and its file system has direct reads and allows eviction.
has_direct_reads() {
  [ $(($(stat -c %d -- "$1") >> 8 & 0xfff)) != 0 ] || return 1
  dd if="$1" of=/dev/null iflag=direct bs=4096 count=1 status=none 2>/dev/null || return 1
  evict "$1"
  [ "$(cached_bytes "$1")" = 0 ]
}

# expect_uncached FILE WHAT: at most a small part of it is in the page cache: a header, and the kernel's readahead.
expect_uncached() {
  local cached size
  cached=$(cached_bytes "$1") size=$(stat -c %s -- "$1")
  [ "$cached" -le $((size / 8)) ] || fail "$2: expected $1 not to be in the page cache, but $cached of $size bytes are"
}

# keeps_cache STATUS FILE COMMAND...: the command reads FILE, and does not change whether it is in the page cache.
keeps_cache() {
  local status=$1 file=$2
  shift 2
  evict "$file"
  expect_exit "$status" "$@"
  expect_uncached "$file" "$*"
  # Other programs may empty the page cache at the same time.
  for _ in 1 2 3; do
    cat "$file" >/dev/null
    expect_exit "$status" "$@"
    if [ "$(cached_bytes "$file")" -ge "$(stat -c %s -- "$file")" ]; then return; fi
  done
  fail "$*: expected $file to be in the page cache, but only $(cached_bytes "$file") bytes of it are"
}

# uncached STATUS FILE EXPECTED COMMAND...: the command, run while FILE is not in the page cache, exits with STATUS and
# writes the bytes of EXPECTED.
uncached() {
  local status=$1 file=$2 expected=$3
  shift 3
  evict "$file"
  expect_exit "$status" "$@"
  same "$expected" "$work/stdout" "$*"
}

# check_opening FILE PLAIN OPTION...: opens FILE in every way while it is not in the page cache.
check_opening() {
  local file=$1 plain=$2 i
  shift 2
  uncached 0 "$file" "$plain" gsealed -d "$@" -i "$file"
  uncached 0 "$file" "$plain" gsealed -d "$@" <"$file"
  uncached 0 "$file" /dev/null gsealed --test "$@" -i "$file"
  uncached 0 "$file" "$plain" gsealed --salvage "$@" -i "$file"
  head -c 230000 "$plain" | tail -c 200000 >"$work/range"
  uncached 0 "$file" "$work/range" gsealed -d "$@" --range 30000:200000 -i "$file"
  for i in 0 1 2; do
    evict "$file"
    expect_exit 0 gsealed -d "$@" --part "$i/3" -i "$file"
    cat "$work/stdout"
  done >"$work/together"
  same "$plain" "$work/together" "--part of $file, $*"
}

# check_cache_of_opening FILE OPTION...: opens FILE in every way, which does not change whether it is in the page cache.
check_cache_of_opening() {
  local file=$1
  shift
  keeps_cache 0 "$file" gsealed -d "$@" -i "$file"
  keeps_cache 0 "$file" gsealed --test "$@" -i "$file"
  keeps_cache 0 "$file" gsealed -d "$@" --range 1000000: -i "$file"
  keeps_cache 0 "$file" gsealed -d "$@" --part 1/2 -i "$file"
}
