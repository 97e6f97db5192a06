# shellcheck shell=bash
# Functions for tests of files that are not in the page cache. Source it after lib.sh.

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

# expect_uncached FILE WHAT: at most a small part is in the page cache: a header, and what the kernel reads ahead of it.
expect_uncached() {
  local cached size
  cached=$(cached_bytes "$1") size=$(stat -c %s -- "$1")
  [ "$cached" -le $((size / 8)) ] || fail "$2: expected $1 not to be in the page cache, but $cached of $size bytes are"
}

# is_cached FILE: whether all of it is in the page cache.
is_cached() { [ "$(cached_bytes "$1")" -ge "$(stat -c %s -- "$1")" ]; }
