// All that gpuaes-stream and gpuaes-keygen say on standard error beside help and progress, each hint beside
// its error. The voice: lower case, no full stop, one line. An error says what is wrong with what: the file,
// the byte. A hint says what to do next. Never a key, a passphrase or an identity is put into one; names of
// files and recipients may be. tests/scripts/texts.py holds them to that, and fmt::format() to their
// placeholders.
#pragma once

namespace gpuaes::text {

// The command line ----------------------------------------------------------------------------------
inline constexpr char too_many_words[] = "unexpected argument '{}'";
inline constexpr char option_takes_no_value[] = "option '{}' does not take a value";
inline constexpr char unknown_option[] = "unknown option '{}'";
inline constexpr char options_hint[] = "run with --help for a list of options";
inline constexpr char not_for_dash[] = "--{} requires a file name, not -";
inline constexpr char not_for_dash_hint[] =
    "use /dev/stdout or /dev/stderr for standard output or standard error";
inline constexpr char options_exclude[] = "--{} and --{} cannot be used together";
inline constexpr char goes_with[] = "--{} requires --{}";
inline constexpr char no_use_for_info[] = "--info cannot be used with --{}";
inline constexpr char info_hint[] = "--info accepts only --input, --format, --json, --verbose and --quiet";
inline constexpr char rekey_is_for_sealed[] = "--rekey works only with the sealed format";
inline constexpr char recipient_decrypts[] = "--recipient cannot be used with --decrypt";
inline constexpr char identity_opens_hint[] = "name the identity file with -k";
inline constexpr char bad_iterations[] = "--iter '{}' is not a number";
inline constexpr char iterations_out_of_range[] = "--iter {} is out of range; the limits are 1 and {}";
inline constexpr char unknown_cipher[] = "unknown cipher '{}'";
inline constexpr char ciphers_hint[] = "the ciphers are {}";
inline constexpr char bad_size[] = "invalid size '{}'";
inline constexpr char size_hint[] =
    "use a number of bytes, optionally followed by K, M, G or T (powers of 1024)";
inline constexpr char chunk_size_hint[] =
    "use a number of bytes from 1 to 1G, optionally followed by K, M or G (powers of 1024)";
inline constexpr char bad_range[] = "invalid range '{}'";
inline constexpr char range_hint[] =
    "use OFFSET:LENGTH, or OFFSET: for the rest of the plaintext, in bytes or with K, M, G or T (powers of "
    "1024)";
inline constexpr char same_as_output[] = "--{} and the output name the same file";
inline constexpr char same_outputs[] = "--trace and --stats name the same file";

// What a format is asked for ------------------------------------------------------------------------
inline constexpr char unknown_format[] = "unknown format '{}'";
inline constexpr char formats_hint[] = "the formats are {}";
inline constexpr char format_not_named[] = "--iv and --context require --format";
inline constexpr char name_format_hint[] = "{} takes --iv, {} takes --context";
inline constexpr char format_takes_none[] = "the {} format does not accept {}";
inline constexpr char formats_that_take_hint[] = "formats that accept it: {}";
inline constexpr char authenticates_nothing[] =
    "the {} format is not authenticated, so {} cannot verify anything";
inline constexpr char authenticated_formats_hint[] = "formats that are: {}";
inline constexpr char no_ranges[] = "the {} format does not support --range";
inline constexpr char formats_with_ranges_hint[] = "formats that do: {}";
inline constexpr char not_authenticated[] =
    "the {} format is not authenticated; modifications will go undetected";
inline constexpr char aes_alone[] = "{} format has AES alone, and not {}";
inline constexpr char formats_with_cipher_hint[] = "{} have it";
inline constexpr char other_cipher_of_format[] = "{} format has {}, and not {}";
inline constexpr char every_cipher_hint[] = "{} has all ciphers";
inline constexpr char no_suite[] = "{} cannot be used in an authenticated format";
inline constexpr char other_cipher[] = "the input was sealed with {}, not {}";
inline constexpr char other_cipher_hint[] = "omit --cipher; the input names its cipher";
inline constexpr char raw_needs_iv[] = "the raw format requires --iv";
inline constexpr char raw_needs_iv_hint[] =
    "give the first counter block in hexadecimal, and never use the same IV twice with one key";
inline constexpr char iv_length[] =
    "--iv has {} digits; the raw format with {} requires {} hexadecimal digits";
inline constexpr char bad_digit[] = "--{} contains a character that is not a hexadecimal digit";
inline constexpr char context_length[] =
    "--context has {} digits; it must have an even number of digits, at most {}";
inline constexpr char label_length[] = "--label has {} bytes; it must have 1 to {}";
inline constexpr char label_not_utf8[] = "--label is not valid UTF-8";
inline constexpr char no_jump[] = "--range requires a seekable input";
inline constexpr char no_jump_hint[] = "name a file with -i, or redirect standard input from a file";
inline constexpr char range_too_far[] = "the range extends past the end of the plaintext, which has {} bytes";
inline constexpr char range_too_far_hint[] = "--range OFFSET: decrypts to the end";

// Keys and passphrases ------------------------------------------------------------------------------
inline constexpr char no_secret[] = "no key or passphrase was given";
inline constexpr char no_secret_hint[] = "name a key file with -k, or use -p to enter a passphrase";
inline constexpr char no_new_secret[] = "--rekey requires a new key, recipient or passphrase";
inline constexpr char no_new_secret_hint[] = "use --new-key FILE, --recipient RECIPIENT or --new-passphrase";
inline constexpr char needs_key[] = "the {} format requires a key";
inline constexpr char needs_key_hint[] = "name a key file with -k";
inline constexpr char sealed_needs_secret[] = "the sealed format requires a key or a passphrase";
inline constexpr char sealed_needs_secret_hint[] = "name a key file with -k, or use -p to enter a passphrase";
inline constexpr char openssl_needs[] = "the openssl format requires a passphrase";
inline constexpr char openssl_needs_hint[] =
    "use -p to enter it, or --passphrase-file FILE to read it from a file";
inline constexpr char openssl_key[] = "the openssl format uses a passphrase, not a key file";
inline constexpr char openssl_key_hint[] = "use -f raw to encrypt with a key and an IV";
inline constexpr char key_as_name[] = "--key was given a key instead of a file name";
inline constexpr char key_as_name_hint[] =
    "other users may have seen this command line; make a new key with gpuaes-keygen and name its file";
inline constexpr char readable_by_others[] = "{0} is readable by other users; run chmod 600 {0}";
inline constexpr char stdin_readable_by_others[] = "the file on standard input is readable by other users";
inline constexpr char key_digit[] =
    "the key in {} contains a character that is not a hexadecimal digit among its {}";
inline constexpr char key_file_too_long[] = "the key in {} is longer than {} bytes";
inline constexpr char key_file_length[] = "the key in {} has an invalid length of {} bytes";
inline constexpr char key_hint[] = "a key is 16, 24 or 32 raw bytes, or 32, 48 or 64 hexadecimal digits";
inline constexpr char key_length[] = "{} requires a key of {} bytes; the key in {} has {}";
inline constexpr char sealed_key[] = "the sealed format requires a key of {} bytes; the key in {} has {}";
inline constexpr char cobblestone_key[] =
    "the cobblestone format requires a key of 16 or 32 bytes; the key in {} has {}";
inline constexpr char empty_passphrase[] = "the passphrase from {} is empty";
inline constexpr char passphrase_too_long[] = "the passphrase from {} is longer than {} bytes";
inline constexpr char passphrase_hint[] = "a passphrase ends at the first newline";
inline constexpr char passphrases_differ[] = "the passphrases do not match";
inline constexpr char tty_hint[] =
    "if there is no terminal, use --passphrase-file to read the passphrase from a file";
inline constexpr char same_inputs[] = "{} and {} are both read from {}";
inline constexpr char same_inputs_hint[] = "use a different file for one of them";
inline constexpr char too_many[] =
    "the sealed format allows at most {} keys, recipients and passphrases in total";
inline constexpr char mixed_slots[] = "a passphrase cannot be combined with recipients";
inline constexpr char mixed_slots_hint[] =
    "anyone can seal for a recipient, so such a file would not show that its writer knew the passphrase";
inline constexpr char key_and_recipient[] =
    "sealing for both a key and a recipient; whoever holds the identity could forge a file that the key "
    "opens";
inline constexpr char sealed_for_recipient[] =
    "the input was sealed for a recipient; that the new key or passphrase opens it does not show who wrote "
    "it";
inline constexpr char no_random_bytes[] = "cannot get random bytes from the system: {}";

// Recipients and identities -------------------------------------------------------------------------
inline constexpr char identity_as_name[] = "an identity was given instead of the name of its file";
inline constexpr char identity_as_name_hint[] =
    "other users may have seen this command line; make a new identity with gpuaes-keygen --x25519";
inline constexpr char recipient_as_name[] = "a recipient was given instead of a file name";
inline constexpr char recipient_as_name_hint[] = "use -r for recipients and -k for identity files";
inline constexpr char recipient_in_key_file[] = "{} contains a recipient, not a key";
inline constexpr char recipient_in_key_file_hint[] =
    "use -r @FILE to seal for the recipients in a file, or -k to name the identity file that opens";
inline constexpr char age_identity[] = "{} contains an age identity, which is not supported";
inline constexpr char age_identity_hint[] = "run gpuaes-keygen --x25519 to make an identity";
inline constexpr char identity_seals[] = "{} contains an identity, which can open files but not seal them";
inline constexpr char identity_seals_hint[] = "seal with -r for its recipient, which gpuaes-keygen -y prints";
inline constexpr char no_identity[] = "{} is not an identity file: it does not begin with {}1";
inline constexpr char bad_identity[] = "the identity in {} is invalid: {}";
inline constexpr char identity_hint[] =
    "an identity is the first line of the file that gpuaes-keygen --x25519 writes";
inline constexpr char behind_identity[] = "line {} of {} is neither blank nor a comment";
inline constexpr char one_identity_hint[] =
    "an identity file holds one identity; use -k several times for several files";
inline constexpr char recipient_is_identity[] = "{} is a secret identity, not a recipient";
inline constexpr char age_recipient[] = "{} is an age recipient, which is not supported";
inline constexpr char age_hint[] = "run gpuaes-keygen --x25519 to make an identity and print its recipient";
inline constexpr char recipient_prefix[] = "{} is not a recipient: it does not begin with gpuaes1";
inline constexpr char bad_recipient[] = "{} is not a valid recipient: {}";
inline constexpr char recipient_too_large[] =
    "{} is not a valid recipient: it is not the canonical form of a public key";
inline constexpr char recipient_hint[] =
    "a recipient is the line that gpuaes-keygen -y prints for an identity";
inline constexpr char recipient_of_all[] = "recipient {} is a low-order X25519 point";
inline constexpr char recipient_of_all_hint[] =
    "anyone can open a file that is sealed for it; ask for another recipient";
inline constexpr char fault_of_length[] = "it has {} characters instead of {}";
inline constexpr char fault_of_character[] = "it contains an invalid character";
inline constexpr char fault_of_case[] = "it mixes uppercase and lowercase letters";
inline constexpr char fault_of_checksum[] = "its checksum is wrong; check for typing errors";
inline constexpr char fault_of_padding[] = "its unused bits are not zero";
inline constexpr char fault_of_prefix[] = "its prefix is wrong";
inline constexpr char recipients_too_long[] =
    "{} is longer than {} bytes, which is too long for a recipients file";
inline constexpr char no_recipient[] = "{} contains no recipients";
inline constexpr char recipient_is_file[] = "-r {} is the name of a file, not a recipient";
inline constexpr char recipient_is_file_hint[] = "use -r @FILE to seal for the recipients in a file";
inline constexpr char recipient_unshown[] = "the argument of --recipient";
inline constexpr char line_of_file[] = "line {} of {}";

// Input and output ----------------------------------------------------------------------------------
inline constexpr char standard_input[] = "standard input";
inline constexpr char standard_output[] = "standard output";
inline constexpr char standard_error[] = "standard error";
inline constexpr char terminal[] = "the terminal";
inline constexpr char cannot_open[] = "cannot open {}: {}";
inline constexpr char cannot_read[] = "cannot read {}: {}";
inline constexpr char cannot_read_at[] = "cannot read {} at byte {}: {}";
inline constexpr char cannot_seek[] = "cannot seek in {}: {}";
inline constexpr char cannot_write[] = "cannot write {}: {}";
inline constexpr char cannot_write_after[] = "cannot write {} after byte {}: {}";
inline constexpr char no_room_hint[] = "free some space, or write to another file system";
inline constexpr char no_room_for_all_hint[] =
    "{} bytes are needed; free some space, or write to another file system";
inline constexpr char too_large_hint[] = "the file system or ulimit -f does not allow larger files";
inline constexpr char cannot_sync_directory[] = "cannot sync the directory of {}: {}";
inline constexpr char exists_hint[] = "existing files are never overwritten; choose another name";
inline constexpr char cannot_look_at[] = "cannot stat {}: {}";
inline constexpr char cannot_set_mode[] = "cannot set the mode of {}: {}";
inline constexpr char cannot_create_next_to[] = "cannot create a file next to {}: {}";
inline constexpr char cannot_replace[] = "cannot replace {}: {}";
inline constexpr char mount_point[] = "{} is a mount point and cannot be replaced";
inline constexpr char no_longer_regular[] = "{} is no longer a regular file and cannot be replaced";
inline constexpr char redirect_hint[] = "redirect the output with > to write the file in place";
inline constexpr char another_file_hint[] = "choose another file";
inline constexpr char access_lost[] = "could not keep the {} of {}; no additional access was granted";
inline constexpr char cannot_make_private[] = "cannot restrict {} to its owner: {}";
inline constexpr char not_private[] =
    "{} would be readable by other users, because its file system does not support permissions";
inline constexpr char not_private_hint[] = "choose a directory on another file system";
inline constexpr char cannot_rename_to[] = "cannot rename the output to {}: {}";
inline constexpr char cannot_read_settings[] = "cannot read the terminal settings of {}: {}";
inline constexpr char cannot_change_settings[] = "cannot change the terminal settings of {}: {}";
inline constexpr char shrank[] = "{} shrank while it was being read, from {} to {} bytes";
inline constexpr char ends_early[] = "the input ended before the size it had when it was opened";
inline constexpr char output_is_input[] = "{} cannot be both input and output";
inline constexpr char output_is_input_hint[] = "write to another file and rename it afterwards";
inline constexpr char reading_terminal[] =
    "reading {} from the terminal; press Ctrl-D at the beginning of a line to end it";
inline constexpr char ciphertext_to_terminal[] = "refusing to write ciphertext to a terminal";
inline constexpr char binary_to_terminal[] = "refusing to write binary plaintext to a terminal";
inline constexpr char to_terminal_hint[] = "redirect the output, name a file with -o, or use --force";
inline constexpr char not_replaceable[] = "{} is not a regular file and cannot be replaced";
inline constexpr char output_replaceable[] =
    "{} is also standard output or standard error and cannot be replaced";
inline constexpr char not_replaceable_hint[] = "name another file with -o, or use -o /dev/stdout";
inline constexpr char changed[] = "{} changed while it was being read";
inline constexpr char changed_hint[] = "the file was left as it is, with its old slots";
inline constexpr char trace_failed_hint[] = "the output is complete; only the trace is not";

// What an input begins with -------------------------------------------------------------------------
inline constexpr char in_file[] = "{} ({})";  // an error about the input, and the input's name
inline constexpr char empty_input[] = "the input is empty";
inline constexpr char unknown_input[] = "the input is not in a known format";
inline constexpr char not_openssl[] =
    "the input is not in the openssl format: it does not begin with 'Salted__'";
inline constexpr char not_sealed[] =
    "the input is not in the sealed format: it does not begin with 'gpuaes-stream/1' and a newline";
inline constexpr char unknown_input_hint[] = "formats that cannot be detected must be named with {}";
inline constexpr char must_be_named[] =
    "the input appears to be in the {} format, which is not authenticated and must be named";
inline constexpr char must_be_named_hint[] = "use -d -f {} to decrypt it; modifications will go undetected";
inline constexpr char cannot_rekey[] = "the input is not in the sealed format";
inline constexpr char cannot_rekey_hint[] = "only sealed files have slots that can be replaced";
inline constexpr char other_version[] = "the input uses a version of the sealed format other than 1";
inline constexpr char other_suite[] =
    "the input uses cipher suite {:02x}, which this version does not support";
inline constexpr char other_slot[] =
    "the input has a slot of type {:02x} at byte {}, which this version does not support";
inline constexpr char later_version_hint[] = "try a later version of gpuaes-stream";
inline constexpr char cut_header[] =
    "the input is truncated after byte {}, in its header; nothing was written";
inline constexpr char corrupt_header[] =
    "the input is corrupt at byte {}, in its header: {}; nothing was written";
inline constexpr char slot_count[] = "it has {} key slots; the limits are 1 and {}";
inline constexpr char slot_size[] = "a slot of type {:02x} has {} bytes instead of {}";
inline constexpr char slots_too_long[] = "the slots exceed their stated size";
inline constexpr char slots_too_short[] = "the slots do not fill their stated size";
inline constexpr char second_passphrase_slot[] = "there is a second passphrase slot";
inline constexpr char public_key_beside_passphrase[] =
    "there are slots for both a passphrase and a recipient";
inline constexpr char scrypt_refused[] = "the scrypt parameters log2 N = {}, r = {}, p = {} are not allowed";
inline constexpr char mac_differs[] = "the header or its MAC was modified";
inline constexpr char commitment_differs[] =
    "the input is corrupt at byte {}, in its header, or was sealed with a different label; nothing was "
    "written";
inline constexpr char commitment_differs_hint[] =
    "--label must be the text the input was sealed with, or omitted if there was none";

// Secrets that do not open it -----------------------------------------------------------------------
inline constexpr char cobblestone_differs[] = "this key and context do not open the input";
inline constexpr char cobblestone_differs_hint[] =
    "one of them is wrong, or the first 56 bytes of the input are damaged";
inline constexpr char no_key_opens[] = "none of the given keys opens the input";
inline constexpr char no_identity_opens[] = "none of the given identities opens the input";
inline constexpr char passphrase_does_not_open[] = "the passphrase does not open the input";
inline constexpr char neither_opens[] = "neither {} opens the input";
inline constexpr char nor[] = "{} nor {}";
inline constexpr char a_key[] = "a key";
inline constexpr char an_identity[] = "an identity";
inline constexpr char the_passphrase[] = "the passphrase";
inline constexpr char wrong_secret_hint[] = "it is wrong, or its slot in the header of the input is damaged";
inline constexpr char sealed_otherwise[] = "the input was not sealed {}";
inline constexpr char and_not[] = "{}, and not {}";
inline constexpr char with_key[] = "with a key file";
inline constexpr char for_recipient[] = "for a recipient";
inline constexpr char with_passphrase[] = "with a passphrase";
inline constexpr char with_key_hint[] = "it was sealed with a key file: name it with -k";
inline constexpr char for_recipient_hint[] = "it was sealed for a recipient: name the identity with -k";
inline constexpr char with_passphrase_hint[] = "it was sealed with a passphrase: -p asks for it";
inline constexpr char other_slots_hint[] = "it has slots of other types alone";

// Segments ------------------------------------------------------------------------------------------
inline constexpr char corrupt[] =
    "the input is corrupt at byte {}; {} bytes of plaintext before that were verified";
inline constexpr char corrupt_or_truncated[] =
    "the input is corrupt or truncated at byte {}; {} bytes of plaintext before that were verified";
inline constexpr char truncated[] =
    "the input is truncated after byte {}; {} bytes of plaintext before that were verified";
inline constexpr char salvage_hint[] = "use --salvage to recover the undamaged parts";
inline constexpr char range_lost[] = "the input is corrupt at byte {}; plaintext range {}:{} is lost";
inline constexpr char lost[] = "{} bytes of plaintext in {} range{}";
inline constexpr char truncated_and_lost[] = "{}, except for {}";
inline constexpr char corrupt_and_lost[] = "the input is corrupt; {} are lost";
inline constexpr char too_long[] =
    "the input is too long; the format allows at most 2^{} segments of 16384 bytes";

// Lanes, memory and the system ----------------------------------------------------------------------
inline constexpr char bad_lanes[] = "invalid lanes '{}'";
inline constexpr char lanes_hint[] =
    "use auto, or cpu[:THREADS], reference[:THREADS] and cuda[:DEVICE[:STREAMS]] joined by +, with at most "
    "{} threads and {} streams";
inline constexpr char unknown_kernel[] = "unknown kernel '{}'";
inline constexpr char kernels_hint[] = "the kernels are {}";
inline constexpr char without_cuda[] = "this program was built without CUDA";
inline constexpr char use_cpu_hint[] = "use -l cpu, which works on every machine";
inline constexpr char no_cuda_device[] = "no CUDA device is available: {}";
inline constexpr char none_there[] = "no device was found";
inline constexpr char no_such_device[] = "there is no CUDA device {}; this machine has {}";
inline constexpr char list_lanes_hint[] = "run gpuaes-stream --list-lanes to list the devices";
inline constexpr char cuda_aad_too_long[] = "cuda: the associated data of the job is too long";
inline constexpr char computes_wrongly[] = "{} computed wrong results for {} in its self-test";
inline constexpr char no_such_cipher[] = "libcrypto does not provide the cipher";
inline constexpr char no_code_for_cipher[] = "this lane does not support {}";
inline constexpr char nonce_length[] = "the length of the job's nonce does not fit its cipher";
inline constexpr char libcrypto_failed[] = "libcrypto: {}: {}";
inline constexpr char failed[] = "unknown reason";
inline constexpr char lane_gave_up[] = "lane {} failed; its work was reassigned: {}";
inline constexpr char chunk_too_large[] =
    "a chunk of {} MiB requires twice as much memory, but only {} MiB are available";
inline constexpr char no_ring_memory[] = "cannot allocate {} MiB of memory for the ring: {}";
inline constexpr char ring_too_large[] = "the ring would exceed the address space";
inline constexpr char smaller_chunks_hint[] = "use a smaller --chunk-size";
inline constexpr char out_of_memory[] = "out of memory";
inline constexpr char no_resources[] = "cannot get a resource from the system: {}";
inline constexpr char system_failure[] = "system error: {}";

// What -v tells -------------------------------------------------------------------------------------
inline constexpr char lanes_at_work[] = "lanes {}";
inline constexpr char lanes_and_reason[] = "lanes {} ({})";
inline constexpr char auto_pipe[] = "auto: the input is not a file; {} CPU lanes are faster than any pipe";
inline constexpr char auto_no_device[] = "auto: there is no CUDA device";
inline constexpr char auto_no_gain[] = "auto: with {} CPUs, CUDA is not faster";
inline constexpr char auto_too_small[] = "auto: with {} CPUs, CUDA is faster only from {:.1f} GB";
inline constexpr char auto_file[] =
    "auto: CUDA takes over once it is initialized; it is faster from {:.1f} GB";
inline constexpr char auto_gpu[] = "auto: the input is not a file; CUDA takes over after {:.1f} GB";
inline constexpr char take_over[] = "lanes {} take over";
inline constexpr char no_take_over[] = "the first lanes continue; the others could not open: {}";
inline constexpr char ring[] = "ring of {} chunks of {}, {} in total";
inline constexpr char summary[] = "{} bytes in, {} bytes out, {:.3f} s, {}/s";
inline constexpr char summary_of_lanes[] = "{}; {}:{} did {} chunks, {} bytes";

}  // namespace gpuaes::text
