#!/usr/bin/env bash
# A ring has no more chunks than a small file, and every mode works with such a ring and with many lanes.
# shellcheck source=../support/lib.sh
. "$(dirname "$0")/../support/lib.sh"

lanes=("cpu:9")
if has_cuda; then lanes+=("cuda:0:3" "cpu:3+cuda:0:2"); fi

# expect_ring CHUNKS WHAT
expect_ring() {
  local got
  got=$(perl -0ne 'print $1 if /"ring": \{"chunks": (\d+)/' stats)
  [ "$got" = "$1" ] || fail "$2: expected $1 chunks in the ring, got $got"
}

for size in 65537 100000 131072 131073 200000; do
  make_input "$size" plain
  chunks=$(((size + 65535) / 65536))
  for lane in "${lanes[@]}"; do
    what="$size bytes, $lane"
    for options in "-f sealed" "-f cobblestone" "-f raw --iv $iv"; do
      # shellcheck disable=SC2086 # words
      run() { "$program" -q -k "$key" $options -l "$lane" --stats stats "$@"; }
      expect_exit 0 run -b 64K plain -o out
      expect_ring "$chunks" "$what, $options"
      expect_exit 0 run -d -b 64K out -o opened
      same plain opened "$what, $options"
      expect_exit 0 run -b 1M plain -o out
      expect_ring 1 "$what, $options, one chunk"
      expect_exit 0 run -d -b 1M out -o opened
      expect_ring 1 "$what, $options, one chunk to decrypt"
      same plain opened "$what, $options, one chunk"
    done
    gsealed plain >sealed
    for range in 0:1 16383:2 40000:20000 "$((size - 1)):1"; do
      expect_exit 0 gsealed -d -l "$lane" --range "$range" sealed -o opened
      tail -c +$((${range%:*} + 1)) plain >rest
      head -c "${range#*:}" rest >expected
      same expected opened "$what: --range $range"
    done
    expect_exit 0 gsealed --test -l "$lane" sealed sealed sealed
    # The second segment is damaged, and lost.
    cp sealed damaged
    printf '\0\0\0\0' | dd of=damaged bs=1 seek=20000 conv=notrunc status=none
    expect_exit 4 gsealed -d -l "$lane" damaged -o opened
    expect_exit 4 gsealed -d --salvage -l "$lane" damaged -o opened
    { head -c 16384 plain && head -c 16384 /dev/zero && tail -c +32769 plain; } >rest
    same rest opened "$what: --salvage"
  done
done
