#!/usr/bin/env bash
# `>>` appends, and a regular file as stdout is written from its offset.
# shellcheck source=../support/lib.sh
. "$(dirname "$0")/../support/lib.sh"

make_input 2000001 plain
reference <plain >cipher

printf 'before' >out
gs -b 64K <plain >>out
gs -b 64K <plain >>out
{ printf 'before'; cat cipher cipher; } >expected
same expected out "after >> twice"

{
  printf 'header'
  gs -b 64K <plain
  printf 'trailer'
} >out
{ printf 'header'; cat cipher; printf 'trailer'; } >expected
same expected out "between a header and a trailer"
