#!/usr/bin/env bash
# An invalid lane specification is a usage error.
# shellcheck source=../support/lib.sh
. "$(dirname "$0")/../support/lib.sh"

for lanes in foo '' + cpu: cpu+ +cpu cpu++cpu cpu:0 cpu:-1 cpu:+1 cpu:x cpu:1x cpu:1.5 cpu:0x1 'cpu: 1' cpu:1:2 cpu:1: \
  cpu:99999999999999999999 cpu,cuda cpux CPU cuda: cuda:x cuda:0:0 cuda:0:x cuda:-1 cuda:0: cuda:0:1:1 cuda:0:-1 \
  cuda:99999999999999999999 cpu+foo auto:1 auto+ auto: auto:low low-cpu auto:low-cpu+cpu; do
  expect_exit 2 gs -l "$lanes"
done
expect_exit 2 gs -l foo
expect_error "invalid lane specification 'foo'" \
  'use auto, auto:low-cpu, or cpu[:THREADS], reference[:THREADS] and cuda[:DEVICE[:STREAMS]] joined by +'

# The hint names the part that is wrong.
bad() { # SPEC HINT
  expect_exit 2 gs -l "$1"
  expect_error "invalid lane specification '$1'" "$2"
}
for lanes in cpu:0 cpu:1025 cuda+reference:x; do bad "$lanes" 'the number of threads must be from 1 to 1024'; done
for lanes in cuda:0:0 cuda:0:65; do bad "$lanes" 'the number of streams must be from 1 to 64'; done
bad cuda:10000 'the device number must be from 0 to 9999'
bad 2 'use cpu:2 or -T 2 to set the number of CPU threads'
