#!/usr/bin/env bash
# An invalid command line is a usage error: the program never guesses, and writes no output.
# shellcheck source=../support/lib.sh
. "$(dirname "$0")/../support/lib.sh"

make_input 100 plain
expect_exit 2 gs -e -d
expect_error '--encrypt and --decrypt cannot be used together'
expect_exit 2 gs --decrypt --encrypt
expect_exit 2 gs --no-such-option
expect_error "unknown option '--no-such-option'" 'run with --help for a list of options'
expect_exit 2 gs -X
expect_exit 2 gs -i plain stray
expect_exit 2 gs -d -- plain
for format in nonsense '' RAW raw2; do expect_exit 2 "$program" -f "$format" --iv "$iv" -k "$key"; done

# A repeated option with an argument.
expect_exit 2 gs -f raw
expect_exit 2 gs --iv "$iv"
expect_exit 2 gs -b 16 -b 16
expect_exit 2 gs -i plain -i plain
expect_exit 2 gs -o one -o two
expect_exit 2 gs -l cpu --lanes cpu
expect_exit 2 gs -c aes-256 -c aes-256
expect_exit 2 gs --stats one --stats two
expect_exit 2 gs --size 1 --size 2
expect_exit 2 gs --size

# An option without its value, and a value for an option that takes none.
for option in -f -i -o -b -l -c --stats --input --output; do expect_exit 2 gs "$option"; done
expect_exit 2 gs --decrypt=yes
expect_exit 2 gs -d=yes
expect_error "option '-d' does not take a value" 'run with --help for a list of options'
for option in --stats --trace; do
  expect_exit 2 gs "$option" -
  expect_error "$option requires a file name, not -" 'use /dev/stdout or /dev/stderr for standard output or standard error'
done
expect_exit 2 gs --size 1x
expect_error "invalid --size '1x'" 'use a whole number of bytes, optionally followed by K, M, G or T (powers of 1024)'
expect_files plain
