#!/usr/bin/env bash
# An invalid lane specification is a usage error.
# shellcheck source=../support/lib.sh
. "$(dirname "$0")/../support/lib.sh"

for lanes in foo '' + cpu: cpu+ +cpu cpu++cpu cpu:0 cpu:-1 cpu:+1 cpu:x cpu:1x cpu:1.5 cpu:0x1 'cpu: 1' cpu:1:2 cpu:1: \
  cpu:99999999999999999999 cpu,cuda cpux CPU cuda: cuda:x cuda:0:0 cuda:0:x cuda:-1 cuda:0: cuda:0:1:1 cuda:0:-1 \
  cuda:99999999999999999999 cpu+foo auto:1 auto+; do
  expect_exit 2 gs -l "$lanes"
done
expect_exit 2 gs -l foo
expect_error "invalid lane specification 'foo'" \
  'use auto, or cpu[:THREADS], reference[:THREADS] and cuda[:DEVICE[:STREAMS]] joined by +, with at most 1024 threads and 64 streams'
