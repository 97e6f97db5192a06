// All that gpuaes-stream and gpuaes-keygen say on standard error beside help and progress, each hint beside
// its error. The voice: lower case, no full stop, one line. An error says what is wrong with what: the file,
// the byte. A hint says what to do next. Never a key, a passphrase or an identity is put into one; names of
// files and recipients may be. tests/scripts/texts.py holds them to that, and fmt::format() to their
// placeholders.
#pragma once

namespace gpuaes::text {

// The command line ----------------------------------------------------------------------------------
inline constexpr char too_many_words[] = "the command line has more words than are understood";
inline constexpr char option_takes_no_value[] = "option '{}' takes no value";
inline constexpr char unknown_option[] = "option '{}' is not known";
inline constexpr char options_hint[] = "-h lists the options";
inline constexpr char not_for_dash[] = "--{} requires the name of a file, not -";
inline constexpr char not_for_dash_hint[] =
    "use /dev/stdout or /dev/stderr for standard output or standard error";
inline constexpr char options_exclude[] = "--{} and --{} exclude each other";
inline constexpr char goes_with[] = "--{} goes with --{}";
inline constexpr char no_use_for_info[] = "--info has no use for --{}";
inline constexpr char info_hint[] = "it takes -i and -f, and --json";
inline constexpr char rekey_is_for_sealed[] = "--rekey is for the sealed format, and others have no slots";
inline constexpr char recipient_decrypts[] = "--recipient seals, and excludes --decrypt";
inline constexpr char identity_opens_hint[] = "-k names the identity that opens";
inline constexpr char bad_iterations[] = "--iter '{}' is no number of iterations";
inline constexpr char iterations_out_of_range[] = "--iter is {}, and may be 1 to {}";
inline constexpr char unknown_cipher[] = "cipher '{}' is not known";
inline constexpr char ciphers_hint[] = "ciphers are {}";
inline constexpr char bad_size[] = "size '{}' is not understood";
inline constexpr char size_hint[] = "a size is a number with K, M, G or T of 1024 behind it or nothing";
inline constexpr char chunk_size_hint[] =
    "a size is a number from 1 to 1G, with K, M or G of 1024 behind it or nothing";
inline constexpr char bad_range[] = "range '{}' is not understood";
inline constexpr char range_hint[] =
    "a range is OFFSET:LENGTH, or OFFSET: up to the end, in bytes, with K, M, G or T of 1024";
inline constexpr char same_as_output[] = "--{} names the file that the output goes to";
inline constexpr char same_outputs[] = "--trace and --stats name the same file";

// What a format is asked for ------------------------------------------------------------------------
inline constexpr char unknown_format[] = "format '{}' is not known";
inline constexpr char formats_hint[] = "formats are {}";
inline constexpr char format_not_named[] = "--{} requires --format";
inline constexpr char format_takes_none[] = "{} format takes no {}";
inline constexpr char formats_that_take_hint[] = "formats that take one: {}";
inline constexpr char authenticates_nothing[] = "{} format authenticates nothing that {} could verify";
inline constexpr char authenticated_formats_hint[] = "authenticated formats: {}";
inline constexpr char no_ranges[] = "{} format has no ranges";
inline constexpr char formats_with_ranges_hint[] = "formats with ranges: {}";
inline constexpr char not_authenticated[] =
    "{} format is not authenticated: nobody notices when its bytes are changed";
inline constexpr char cipher_of_format[] = "{} format does not support {}";
inline constexpr char formats_with_cipher_hint[] = "formats that support it: {}";
inline constexpr char no_suite[] = "no message can be sealed with {}";
inline constexpr char other_cipher[] = "the input is sealed with {}, and not with {}";
inline constexpr char other_cipher_hint[] = "without -c the cipher is the input's";
inline constexpr char raw_needs_iv[] =
    "raw format needs --iv, in hexadecimal what the first counter block begins with";
inline constexpr char raw_needs_iv_hint[] = "never use one IV twice with the same key";
inline constexpr char iv_length[] = "--iv has {} digits: raw format with {} needs {} hexadecimal digits";
inline constexpr char bad_digit[] = "--{} has a character that is no hexadecimal digit";
inline constexpr char context_length[] =
    "--context has {} digits, and may be an even number of them, up to {}";
inline constexpr char label_length[] = "--label has {} bytes; it must have 1 to {}";
inline constexpr char label_not_utf8[] = "--label is not valid UTF-8";
inline constexpr char no_jump[] = "--range cannot jump in this input, which is no file and no block device";
inline constexpr char no_jump_hint[] = "name a file with -i, or redirect it to standard input";
inline constexpr char range_too_far[] = "the range goes beyond the end of the plaintext, which has {} bytes";
inline constexpr char range_too_far_hint[] = "--range OFFSET: goes up to the end";

// Keys and passphrases ------------------------------------------------------------------------------
inline constexpr char no_secret[] = "there is neither a key nor a passphrase";
inline constexpr char no_secret_hint[] = "-k names a key file, -p asks for a passphrase";
inline constexpr char no_new_secret[] = "there is nothing to rekey for";
inline constexpr char no_new_secret_hint[] =
    "--new-key names a key file, -r a recipient, --new-passphrase asks for a passphrase";
inline constexpr char needs_key[] = "{} format needs a key";
inline constexpr char needs_key_hint[] = "name a key file with -k";
inline constexpr char sealed_needs_secret[] = "sealed format needs a key or a passphrase";
inline constexpr char sealed_needs_secret_hint[] = "name a key file with -k, or -p asks for a passphrase";
inline constexpr char openssl_needs[] = "openssl format needs a passphrase";
inline constexpr char openssl_needs_hint[] = "-p asks for it, --passphrase-file FILE reads it from a file";
inline constexpr char openssl_key[] = "openssl format takes a passphrase, and no key file";
inline constexpr char openssl_key_hint[] = "-f raw takes a key and an IV";
inline constexpr char key_as_name[] = "a key is given where the name of a file should be";
inline constexpr char key_as_name_hint[] = "gpuaes-keygen makes a key file";
inline constexpr char readable_by_others[] = "{} can be read by others than its owner: chmod 600 mends that";
inline constexpr char key_digit[] =
    "the key in {} has a character that is not a hexadecimal digit among its {}";
inline constexpr char key_file_too_long[] = "the key in {} has more than {} bytes";
inline constexpr char key_file_length[] = "the key in {} has an unusable length of {} bytes";
inline constexpr char key_hint[] = "a key is 16, 24 or 32 raw bytes, or 32, 48 or 64 hexadecimal digits";
inline constexpr char key_length[] = "{} needs a key of {} bytes, and {} has {}";
inline constexpr char sealed_key[] = "sealed format needs a key of {} bytes, and {} has {}";
inline constexpr char cobblestone_key[] = "cobblestone format needs a key of 16 or 32 bytes, and {} has {}";
inline constexpr char empty_passphrase[] = "the passphrase from {} is empty";
inline constexpr char passphrase_too_long[] = "the passphrase from {} has more than {} bytes";
inline constexpr char passphrase_hint[] = "a passphrase is what stands before the first line feed";
inline constexpr char passphrases_differ[] = "the two passphrases differ";
inline constexpr char tty_hint[] = "without a terminal, --passphrase-file reads the passphrase from a file";
inline constexpr char same_inputs[] = "{} and {} are both read from {}";
inline constexpr char same_inputs_hint[] = "use another file for one of them; -i names the input file";
inline constexpr char too_many[] = "sealed format has at most {} keys, recipients and the passphrase counted";
inline constexpr char mixed_slots[] = "a file is not sealed with a passphrase and for a recipient at once";
inline constexpr char mixed_slots_hint[] =
    "anybody can write for a recipient, and would speak for whoever knows the passphrase";
inline constexpr char key_and_recipient[] =
    "sealing for a key and a recipient: anyone with the identity can make a file that the key opens";
inline constexpr char sealed_for_recipient[] =
    "input was sealed for a recipient: that it opens with the new key or passphrase does not show who wrote "
    "it";
inline constexpr char no_random_bytes[] = "the system gives no random bytes: {}";

// Recipients and identities -------------------------------------------------------------------------
inline constexpr char identity_as_name[] = "an identity is given where the name of its file should be";
inline constexpr char identity_as_name_hint[] =
    "whoever saw this command line can open what is sealed for it: make another one";
inline constexpr char recipient_as_name[] = "a recipient is given where the name of a file should be";
inline constexpr char recipient_as_name_hint[] = "-r takes recipients, and -k the file of an identity";
inline constexpr char recipient_in_key_file[] = "{} has a recipient, and no key";
inline constexpr char recipient_in_key_file_hint[] =
    "-r @FILE seals for the recipients in a file, and -k takes the identity that opens";
inline constexpr char age_identity[] = "{} has an identity of age, which has another format";
inline constexpr char age_identity_hint[] = "gpuaes-keygen --x25519 makes an identity";
inline constexpr char identity_seals[] = "{} has an identity, which opens files and seals none";
inline constexpr char identity_seals_hint[] = "-r seals for its recipient, which gpuaes-keygen -y prints";
inline constexpr char no_identity[] = "{} has no identity: it does not begin with {}1";
inline constexpr char bad_identity[] = "the identity in {} is none: {}";
inline constexpr char identity_hint[] =
    "an identity is the first line of the file that gpuaes-keygen --x25519 makes";
inline constexpr char behind_identity[] = "line {} of {}, behind its identity, is no comment";
inline constexpr char one_identity_hint[] = "a file has one identity, and -k may be given several times";
inline constexpr char recipient_is_identity[] = "{} is an identity, which is secret, and no recipient";
inline constexpr char age_recipient[] = "{} is a recipient of age, which has another format";
inline constexpr char age_hint[] = "gpuaes-keygen --x25519 makes an identity, and prints its recipient";
inline constexpr char recipient_prefix[] = "{} is no recipient: it does not begin with gpuaes1";
inline constexpr char bad_recipient[] = "{} is no recipient: {}";
inline constexpr char recipient_too_large[] = "{} is no recipient: its number is too large for a public key";
inline constexpr char recipient_hint[] =
    "a recipient is the line that gpuaes-keygen -y prints of an identity";
inline constexpr char recipient_of_all[] = "recipient {} is a key with which everybody shares the same";
inline constexpr char recipient_of_all_hint[] =
    "nobody has its identity: somebody made it to read what is sealed for it";
inline constexpr char fault_of_length[] = "it has {} characters, and not {}";
inline constexpr char fault_of_character[] = "it has a character that none of them has";
inline constexpr char fault_of_case[] = "it has capitals and small letters";
inline constexpr char fault_of_checksum[] = "its checksum is wrong, so it was mistyped or damaged";
inline constexpr char fault_of_padding[] = "its last bits are not zero";
inline constexpr char fault_of_prefix[] = "it begins otherwise";
inline constexpr char recipients_too_long[] = "{} has more than {} bytes, and is no file of recipients";
inline constexpr char no_recipient[] = "{} has no recipient";
inline constexpr char recipient_is_file[] = "-r {} is a file, and no recipient";
inline constexpr char recipient_is_file_hint[] =
    "-r @FILE takes a file of recipients, and gpuaes-keygen -y prints the one of an identity";
inline constexpr char recipient_unshown[] = "what -r is given";
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
inline constexpr char no_room_hint[] = "make room there, or write to another place";
inline constexpr char no_room_for_all_hint[] =
    "it takes {} bytes: make room there, or write to another place";
inline constexpr char too_large_hint[] = "its file system, or ulimit -f, allows no larger file";
inline constexpr char cannot_sync_directory[] = "cannot sync the directory of {}: {}";
inline constexpr char exists_hint[] = "an existing file is never overwritten: choose another name";
inline constexpr char cannot_look_at[] = "cannot look at {}: {}";
inline constexpr char cannot_set_mode[] = "cannot set the mode of {}: {}";
inline constexpr char cannot_create_next_to[] = "cannot create a file next to {}: {}";
inline constexpr char cannot_replace[] = "cannot replace {}: {}";
inline constexpr char mount_point[] = "{} is a mount point and cannot be replaced";
inline constexpr char no_longer_regular[] = "{} is no longer a regular file and cannot be replaced";
inline constexpr char redirect_hint[] = "redirect the output with > instead; that writes the file in place";
inline constexpr char another_file_hint[] = "choose another file";
inline constexpr char access_lost[] = "could not keep the {} of {}; no one gains access";
inline constexpr char cannot_make_private[] = "cannot restrict {} to its owner: {}";
inline constexpr char not_private[] = "other users could read {}: its file system cannot keep them out";
inline constexpr char not_private_hint[] = "choose a directory on another file system";
inline constexpr char cannot_rename_to[] = "cannot rename the output to {}: {}";
inline constexpr char cannot_read_settings[] = "cannot read the settings of {}: {}";
inline constexpr char cannot_change_settings[] = "cannot change the settings of {}: {}";
inline constexpr char shrank[] = "{} shrank while it was read: from {} bytes to {}";
inline constexpr char ends_early[] = "the input ends before the size that it had when it was opened";
inline constexpr char output_is_input[] = "{} is being read, it cannot be the output";
inline constexpr char output_is_input_hint[] = "write to another file, and rename it when all is well";
inline constexpr char reading_terminal[] =
    "reading {} from the terminal: ^D at the beginning of a line ends it";
inline constexpr char ciphertext_to_terminal[] = "ciphertext is not written to a terminal";
inline constexpr char binary_to_terminal[] = "binary plaintext is not written to a terminal";
inline constexpr char to_terminal_hint[] = "redirect the output, name a file with -o, or insist with --force";
inline constexpr char not_replaceable[] = "{} is no regular file, and cannot be replaced";
inline constexpr char output_replaceable[] = "{} is standard output or error too, and cannot be replaced";
inline constexpr char not_replaceable_hint[] = "-o names a file to write instead, or -o /dev/stdout";
inline constexpr char changed[] = "{} was changed while it was read";
inline constexpr char changed_hint[] = "it is as it was changed, and has its old slots";
inline constexpr char trace_failed_hint[] = "the output is whole, only the trace is not";

// What an input begins with -------------------------------------------------------------------------
inline constexpr char in_file[] = "{} ({})";  // an error about the input, and the input's name
inline constexpr char empty_input[] = "input is empty, and so of no known format";
inline constexpr char unknown_input[] = "input is of no known format, by the bytes that it begins with";
inline constexpr char not_openssl[] = "input is not in openssl format: it does not begin with 'Salted__'";
inline constexpr char not_sealed[] =
    "input is not in sealed format: it does not begin with 'gpuaes-stream/1' and a line feed";
inline constexpr char unknown_input_hint[] = "formats that must be named with -f: {}";
inline constexpr char must_be_named[] =
    "input appears to be in {} format, which is not authenticated and must be named";
inline constexpr char must_be_named_hint[] = "decrypt it with -d -f {}, which does not detect modification";
inline constexpr char cannot_rekey[] = "input is not in sealed format, by the bytes that it begins with";
inline constexpr char cannot_rekey_hint[] = "only sealed files have slots, which can be replaced";
inline constexpr char other_version[] =
    "input is of another version of the sealed format than 1, which is all this program reads";
inline constexpr char other_suite[] = "input has cipher suite {:02x}, which this version does not read";
inline constexpr char other_slot[] =
    "input has a slot of type {:02x} at byte {}, which this version does not read";
inline constexpr char later_version_hint[] = "a later version of gpuaes-stream may read it";
inline constexpr char cut_header[] = "input is truncated after byte {}, in its header; nothing was written";
inline constexpr char corrupt_header[] =
    "input is corrupt at byte {}, in its header: {}; nothing was written";
inline constexpr char slot_count[] = "{} key slots, where 1 to {} can be";
inline constexpr char slot_size[] = "a slot of type {:02x} has {} bytes, and not {}";
inline constexpr char slots_too_long[] = "its slots do not fit into their size";
inline constexpr char slots_too_short[] = "its slots do not fill their size";
inline constexpr char second_passphrase_slot[] = "a second passphrase slot";
inline constexpr char public_key_beside_passphrase[] = "a slot for a public key beside one for a passphrase";
inline constexpr char scrypt_refused[] = "scrypt with log2 N = {}, r = {}, p = {} is refused";
inline constexpr char mac_differs[] = "it was changed, or its MAC was";
inline constexpr char commitment_differs[] =
    "input is corrupt at byte {}, in its header, or was sealed with a different label; nothing was written";
inline constexpr char commitment_differs_hint[] =
    "--label must be the text that the input was sealed with, or absent if there was none";

// Secrets that do not open it -----------------------------------------------------------------------
inline constexpr char cobblestone_differs[] = "this key and context do not open the input";
inline constexpr char cobblestone_differs_hint[] =
    "one of them is wrong, or the first 56 bytes of the input are damaged";
inline constexpr char no_key_opens[] = "no key that was given opens the input";
inline constexpr char no_identity_opens[] = "no identity that was given opens the input";
inline constexpr char passphrase_does_not_open[] = "the passphrase does not open the input";
inline constexpr char neither_opens[] = "neither {} opens the input";
inline constexpr char nor[] = "{} nor {}";
inline constexpr char a_key[] = "a key";
inline constexpr char an_identity[] = "an identity";
inline constexpr char the_passphrase[] = "the passphrase";
inline constexpr char wrong_secret_hint[] =
    "it is the wrong one, or its slot in the input's header is damaged";
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
inline constexpr char corrupt[] = "input is corrupt at byte {}: {} bytes of plaintext before that are good";
inline constexpr char corrupt_or_truncated[] =
    "input is corrupt or truncated at byte {}: {} bytes of plaintext before that are good";
inline constexpr char truncated[] =
    "input is truncated after byte {}: {} bytes of plaintext before that are good";
inline constexpr char salvage_hint[] = "--salvage keeps what is good";
inline constexpr char range_lost[] = "input is corrupt at byte {}: plaintext range {}:{} is lost";
inline constexpr char lost[] = "{} bytes of plaintext in {} range{}";
inline constexpr char truncated_and_lost[] = "{}, but for {}";
inline constexpr char corrupt_and_lost[] = "input is corrupt: {} are lost";
inline constexpr char too_long[] = "input is too long: a message has at most 2^{} segments of 16384 bytes";

// Lanes, memory and the system ----------------------------------------------------------------------
inline constexpr char bad_lanes[] = "lanes '{}' are not understood";
inline constexpr char lanes_hint[] =
    "lanes are auto, or cpu[:THREADS], reference[:THREADS] and cuda[:DEVICE[:STREAMS]] joined by +, with at "
    "most {} threads and {} streams";
inline constexpr char unknown_kernel[] = "kernel '{}' is not known";
inline constexpr char kernels_hint[] = "kernels are {}";
inline constexpr char without_cuda[] = "this program was built without CUDA";
inline constexpr char use_cpu_hint[] = "-l cpu works everywhere";
inline constexpr char no_cuda_device[] = "no CUDA device can be used: {}";
inline constexpr char none_there[] = "none is there";
inline constexpr char no_such_device[] = "there is no CUDA device {}: this machine has {}";
inline constexpr char list_lanes_hint[] = "gpuaes-stream --list-lanes lists them";
inline constexpr char cuda_aad_too_long[] = "cuda: more associated data than a job may have";
inline constexpr char computes_wrongly[] = "{} computes {} wrongly";
inline constexpr char no_such_cipher[] = "libcrypto: no such cipher";
inline constexpr char no_code_for_cipher[] = "this lane does not support {}";
inline constexpr char cipher_of_lane[] = "{} lanes do not support {}";
inline constexpr char lanes_with_cipher_hint[] = "lanes that support it: {}";
inline constexpr char nonce_length[] = "a job's nonce is not as long as its cipher takes";
inline constexpr char libcrypto_failed[] = "libcrypto: {}: {}";
inline constexpr char failed[] = "failed";
inline constexpr char lane_gave_up[] = "lane {} gave up, others do its work: {}";
inline constexpr char chunk_too_large[] = "a chunk of {} MiB takes twice as much memory, and {} MiB are free";
inline constexpr char no_ring_memory[] = "cannot get {} MiB of memory for the ring: {}";
inline constexpr char ring_too_large[] = "the ring would be larger than the address space";
inline constexpr char smaller_chunks_hint[] = "a smaller --chunk-size needs less";
inline constexpr char out_of_memory[] = "out of memory";
inline constexpr char no_resources[] = "the system does not give what is needed, a thread perhaps: {}";
inline constexpr char system_failure[] = "system failure: {}";

// What -v tells -------------------------------------------------------------------------------------
inline constexpr char lanes_at_work[] = "lanes {}";
inline constexpr char lanes_and_reason[] = "lanes {} ({})";
inline constexpr char auto_pipe[] = "auto: the input is no file, {} CPU lanes outrun any pipe";
inline constexpr char auto_no_device[] = "auto: there is no CUDA device";
inline constexpr char auto_no_cipher[] = "auto: CUDA lanes do not support {}";
inline constexpr char auto_no_gain[] = "auto: with {} CPUs CUDA gains nothing";
inline constexpr char auto_too_small[] = "auto: with {} CPUs CUDA pays from {:.1f} GB on";
inline constexpr char auto_file[] = "auto: CUDA takes over when it is open, it pays from {:.1f} GB on";
inline constexpr char auto_gpu[] = "auto: the input is no file, CUDA takes over if {:.1f} GB of it have come";
inline constexpr char take_over[] = "lanes {} take over";
inline constexpr char no_take_over[] = "no other lanes take over: {}";
inline constexpr char ring[] = "ring {} chunks of {}, {} in all";
inline constexpr char summary[] = "{} bytes in, {} bytes out, {:.3f} s, {}/s";
inline constexpr char summary_of_lanes[] = "{}; {}:{} did {} chunks, {} bytes";

}  // namespace gpuaes::text
