#include "cli/hints.hpp"

#include <fmt/format.h>

namespace gpuaes {

std::string words_of(const Hint& hint) {
  switch (hint.advice) {
    case Advice::text:
      return hint.text;
    case Advice::check_download:
      return "it is not encrypted, or is an incomplete or converted download; if it was encrypted with -f, "
             "use "
             "the same -f";
    case Advice::check_key_and_context:
      return "check -f, -k and --context; if they are right, the first 56 bytes of the input are damaged";
    case Advice::copy_without_passphrase:
      return "copy the key to $XDG_RUNTIME_DIR, and remove the passphrase of the copy with ssh-keygen -p -f "
             "COPY, not that of the key itself";
    case Advice::cut_trailing_bytes:
      return fmt::format(
          "the first {0} bytes are a complete stream; decrypt only those, for example with head -c {0}",
          hint.text);
    case Advice::decrypt_with_openssl:
      return "-d -f openssl decrypts what openssl enc -aes-256-ctr -pbkdf2 wrote; for other ciphers, such as "
             "-aes-256-cbc, use openssl enc -d";
    case Advice::enter_passphrase:
      return "use -p to enter the passphrase, or --passphrase-file FILE to read it from a file";
    case Advice::list_lanes:
      return "run gpuaes-stream --list-lanes to list the devices";
    case Advice::list_slots:
      return fmt::format(
          "the input was encrypted with other secrets, or its header is damaged; --info lists its {}",
          hint.text);
    case Advice::match_label:
      return "--label must be the text the input was sealed with, or omitted if there was none";
    case Advice::name_any_secret:
      return "name a key or identity file with -k, or use -p to enter a passphrase";
    case Advice::name_identity_file:
      return "name the identity file with -k";
    case Advice::name_key_file:
      return "name the key file with -k";
    case Advice::name_passphrase_source:
      return "there is no terminal for a prompt; use --passphrase-file or --passphrase-command";
    case Advice::omit_cipher:
      return "omit --cipher; the input names its cipher";
    case Advice::omit_format:
      return "omit --format; the input shows its format";
    case Advice::omit_label:
      return "omit --label only if you expect a file without one";
    case Advice::print_recipient:
      return "a recipient is the line that gpuaes-keygen -y prints for an identity";
    case Advice::raise_file_limit:
      return "allow more open files, for example with ulimit -n 1024";
    case Advice::redirect_output:
      return "redirect the output, name a file with -o, or use --force";
    case Advice::repeat_key_option:
      return "name each key or identity file with a -k of its own; in -k *.key, only the first file is a key";
    case Advice::restore_identity:
      return "restore it from a copy; a new one, from gpuaes-keygen --x25519 or --post-quantum, does not "
             "open "
             "existing files";
    case Advice::seal_for_key_file:
      return "use recipients, or -f sealed";
    case Advice::try_several_keys:
      return fmt::format(
          "to find the one that does, try several at once, with -k A -k B -v; --info lists the {}",
          hint.text);
    case Advice::use_cpu_lanes:
      return "use -l cpu, which works on every machine";
    case Advice::use_smaller_chunks:
      return "use a smaller --chunk-size";
  }
  return {};
}

}  // namespace gpuaes
