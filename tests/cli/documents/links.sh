#!/usr/bin/env bash
# Links in documents, and references to manual pages and their sections, are valid; README.md stays short.
# shellcheck source=../support/lib.sh
. "$(dirname "$0")/../support/lib.sh"
need python3

python3 "$top/tests/scripts/documents.py" >faults || fail "expected documents without faults, got: $(<faults)"
