#!/usr/bin/env bash
# Formats of the contract that this version does not have are refused, and so is a command line without a format,
# with advice. To be removed when they come.
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"

for format in sealed cobblestone openssl; do expect_exit 2 "$program" -f "$format" -k "$key"; done
expect_exit 2 "$program" -k "$key"
expect_stderr '-f raw --iv'
expect_exit 2 "$program"
expect_exit 2 "$program" -d -k "$key"
expect_stderr '-f raw --iv'
expect_exit 2 gs -c kuznyechik
