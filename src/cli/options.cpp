#include "cli/options.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>
#include <sstream>

#include "base/error.hpp"
#include "base/texts.hpp"
#include "base/utf8.hpp"
#include "cli/command_line.hpp"

namespace gpuaes {
namespace {

namespace po = boost::program_options;

// Beyond it a lane would not look up from its chunk for more than a second.
constexpr std::size_t max_size = std::size_t{1} << 30;

constexpr std::size_t max_label_bytes = 255;

constexpr std::uint64_t max_number = std::numeric_limits<std::uint64_t>::max();

// To add an option: its line here, its field in Options, its line in parse_options(), and in the man page.
po::options_description describe_options() {
  po::options_description options("Options");
  const auto text = [](const char* name) { return po::value<std::string>()->value_name(name); };
  options.add_options()                                              //
      ("encrypt,e", "encrypt (the default)")                         //
      ("decrypt,d", "decrypt; detects the sealed format")            //
      ("info", "tell what can be known of the input without a key")  //
      ("json", "--info: as JSON")                                    //
      ("range", text("OFFSET:LENGTH"),
       "decrypt this part of the plaintext alone, of a file; OFFSET: up to the end")     //
      ("salvage", "decrypt, with zeros in the place of what is damaged, and say where")  //
      ("test", "decrypt, and write nothing: is the input whole?")                        //
      ("key,k", po::value<std::vector<std::string>>()->value_name("FILE"),
       "key file, as gpuaes-keygen makes it, or identity; may be given several times")  //
      ("passphrase,p", "ask for a passphrase on the terminal")                          //
      ("passphrase-file", text("FILE"), "the passphrase is the first line of FILE")     //
      ("recipient,r", po::value<std::vector<std::string>>()->value_name("RECIPIENT"),
       "seal for a recipient, or for those in a file: -r @FILE; may be given several times")  //
      ("rekey", "give a sealed file new slots: for --new-key, -r, --new-passphrase")          //
      ("new-key", po::value<std::vector<std::string>>()->value_name("FILE"),
       "rekey: a key file; may be given several times")                                             //
      ("new-passphrase", "rekey: ask for the new passphrase")                                       //
      ("new-passphrase-file", text("FILE"), "rekey: the new passphrase is the first line of FILE")  //
      ("format,f", text("FORMAT"), "sealed (the default), cobblestone, openssl or raw")             //
      ("cipher,c", text("CIPHER"),
       "aes-128, aes-192, aes-256, kuznyechik; otherwise AES by the key's length")                       //
      ("iv", text("HEX"), "raw: the first counter block, 32 hexadecimal digits; kuznyechik: 16")         //
      ("context", text("HEX"), "cobblestone: data the message is bound to, in addition to its key")      //
      ("label", text("TEXT"), "sealed: bind the file to TEXT; decryption needs the same TEXT")           //
      ("iter", text("N"), "openssl: iterations of PBKDF2 (10000)")                                       //
      ("input,i", text("FILE"), "read FILE instead of standard input; - is standard input")              //
      ("output,o", text("FILE"), "write FILE, which appears only when complete; - is standard output")   //
      ("lanes,l", text("SPEC"), "auto, or cpu[:THREADS] and cuda[:DEVICE[:STREAMS]], joined by +")       //
      ("kernel", text("NAME"), "of CUDA lanes: bitslice (the default) or ttable, see the manual")        //
      ("chunk-size,b", text("SIZE"), "bytes of text a lane works on at a time; K, M and G are of 1024")  //
      ("progress,P", "show how far it is: bytes, time, rates, and which lanes work")                     //
      ("size", text("SIZE"), "how long the input will be, where it is no file: for -P")                  //
      ("force", "write to a terminal what else is refused: ciphertext, binary plaintext")                //
      ("verbose,v", "say what is being done")                                                            //
      ("quiet,q", "say nothing but errors")                                                              //
      ("stats", text("FILE"), "write figures of the run to FILE as JSON")                                //
      ("trace", text("FILE"), "write the run's timeline to FILE, for Perfetto to show")                  //
      ("list-lanes", "list the lanes of this machine")                                                   //
      ("version,V", "print the version")                                                                 //
      ("help,h", "print this");
  return options;
}

po::options_description describe_keygen_options() {
  po::options_description options("Options");
  options.add_options()  //
      ("output,o", po::value<std::string>()->value_name("FILE"),
       "write FILE, which must not be there yet, for its owner alone to read")  //
      ("x25519", "make an identity, and print its recipient")                   //
      ("recipient,y", po::value<std::string>()->value_name("FILE"),
       "print the recipient of the identity in FILE")  //
      ("version,V", "print the version")               //
      ("help,h", "print this");
  return options;
}

std::uint32_t parse_iterations(const std::string& text) {
  std::uint32_t number = 0;
  const char* const end = text.data() + text.size();
  const auto [at, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc{} || at != end) throw UsageError(fmt::format(text::bad_iterations, text));
  return number;
}

// A number with one of `units` behind it, which stand for 1024, 1024^2 and so on, or none. Nothing where it
// is something else, or more than `most`.
std::optional<std::uint64_t> parse_bytes(std::string_view text, std::string_view units, std::uint64_t most) {
  std::uint64_t number = 0;
  const char* const end = text.data() + text.size();
  const auto [unit, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc{} || end - unit > 1) return std::nullopt;
  const std::size_t at = unit == end ? 0 : units.find(*unit) + 1;
  if ((unit != end && at == 0) || number > most >> (10 * at)) return std::nullopt;
  return number << (10 * at);
}

std::optional<std::string> find_text(const po::variables_map& given, const char* name) {
  if (!given.contains(name)) return std::nullopt;
  return given[name].as<std::string>();
}

// Without it, and with "-": standard output.
std::optional<std::string> find_output(const po::variables_map& given) {
  std::optional<std::string> name = find_text(given, "output");
  return name == "-" ? std::nullopt : name;
}

std::optional<std::string> find_file(const po::variables_map& given, const char* name) {
  std::optional<std::string> file = find_text(given, name);
  if (file == "-") throw UsageError(fmt::format(text::not_for_dash, name), text::not_for_dash_hint);
  return file;
}

std::vector<std::string> find_texts(const po::variables_map& given, const char* name) {
  if (!given.contains(name)) return {};
  return given[name].as<std::vector<std::string>>();
}

void refuse_together(const po::variables_map& given, const char* a, const char* b) {
  if (given.contains(a) && given.contains(b)) throw UsageError(fmt::format(text::options_exclude, a, b));
}

// What says how to encrypt has nothing to say where nothing is encrypted.
void parse_rekey(const po::variables_map& given, Options& options) {
  const bool rekeys = given.contains("rekey");
  for (const char* name : {"new-key", "new-passphrase", "new-passphrase-file"})
    if (!rekeys && given.contains(name)) throw UsageError(fmt::format(text::goes_with, name, "rekey"));
  if (!rekeys) return;
  for (const char* name : {"encrypt", "decrypt", "cipher", "iv", "context", "iter", "lanes", "kernel",
                           "chunk-size", "stats", "trace", "test", "range", "salvage", "info"})
    refuse_together(given, "rekey", name);
  if (options.format.value_or("sealed") != "sealed") throw UsageError(text::rekey_is_for_sealed);
  refuse_together(given, "new-passphrase", "new-passphrase-file");
  options.new_key_files = find_texts(given, "new-key");
  options.ask_new_passphrase = given.contains("new-passphrase");
  options.new_passphrase_file = find_text(given, "new-passphrase-file");
  options.in_place = options.names_input() && !given.contains("output");
  if (options.action == Options::Action::filter) options.action = Options::Action::rekey;
}

// What is done with an input that was encrypted: to decrypt it is meant.
void parse_modes(const po::variables_map& given, Options& options) {
  options.test = given.contains("test");
  if (options.test) refuse_together(given, "test", "output");
  if (options.test) refuse_together(given, "test", "range");
  options.salvage = given.contains("salvage");
  if (options.salvage) refuse_together(given, "salvage", "range");
  if (const auto range = find_text(given, "range")) options.range = parse_range(*range);
  for (const char* mode : {"test", "range", "salvage"}) {
    if (!given.contains(mode)) continue;
    refuse_together(given, mode, "encrypt");
    options.decrypt = true;
  }
}

// Nothing that was given is passed over in silence.
void refuse_beside_info(const po::variables_map& given) {
  constexpr std::array<std::string_view, 7> understood{"info",    "json",    "input", "format",
                                                       "decrypt", "verbose", "quiet"};
  for (const auto& [name, value] : given)
    if (std::ranges::find(understood, name) == understood.end())
      throw UsageError(fmt::format(text::no_use_for_info, name), text::info_hint);
}

}  // namespace

Cipher parse_cipher(const std::string& name) {
  if (const std::optional<Cipher> cipher = find_cipher(name)) return *cipher;
  std::string names;
  for (const CipherInfo& each : ciphers) names.append(names.empty() ? "" : ", ").append(each.name);
  throw UsageError(fmt::format(text::unknown_cipher, name), fmt::format(text::ciphers_hint, names));
}

std::uint64_t parse_expected_size(const std::string& text) {
  if (const std::optional<std::uint64_t> bytes = parse_bytes(text, "KMGT", max_number)) return *bytes;
  throw UsageError(fmt::format(text::bad_size, text), text::size_hint);
}

std::size_t parse_size(const std::string& text) {
  const std::optional<std::uint64_t> size = parse_bytes(text, "KMG", max_size);
  if (size.value_or(0) == 0) throw UsageError(fmt::format(text::bad_size, text), text::chunk_size_hint);
  return static_cast<std::size_t>(*size);
}

ByteRange parse_range(const std::string& text) {
  const std::size_t colon = std::min(text.find(':'), text.size());
  const std::optional<std::uint64_t> offset = parse_bytes(text.substr(0, colon), "KMGT", max_number);
  const bool open = colon + 1 == text.size();
  const std::optional<std::uint64_t> length =
      open || colon == text.size() ? std::nullopt : parse_bytes(text.substr(colon + 1), "KMGT", max_number);
  if (!offset || (!open && !length)) throw UsageError(fmt::format(text::bad_range, text), text::range_hint);
  return {*offset, length};
}

std::string parse_label(const std::string& text) {
  if (text.empty() || text.size() > max_label_bytes)
    throw UsageError(fmt::format(text::label_length, text.size(), max_label_bytes));
  if (!is_utf8(text)) throw UsageError(text::label_not_utf8);
  return text;
}

Options parse_options(int argc, const char* const* argv) {
  const po::variables_map given = parse_command_line(argc, argv, describe_options()).given;
  Options options;
  if (given.contains("help"))
    options.action = Options::Action::help;
  else if (given.contains("version"))
    options.action = Options::Action::version;
  else if (given.contains("list-lanes"))
    options.action = Options::Action::list_lanes;
  else if (given.contains("info"))
    options.action = Options::Action::info;
  if (options.action == Options::Action::info) refuse_beside_info(given);
  options.json = given.contains("json");
  if (options.json && !given.contains("info")) throw UsageError(fmt::format(text::goes_with, "json", "info"));
  refuse_together(given, "encrypt", "decrypt");
  refuse_together(given, "verbose", "quiet");
  refuse_together(given, "passphrase", "passphrase-file");
  options.decrypt = given.contains("decrypt");
  parse_modes(given, options);
  options.key_files = find_texts(given, "key");
  options.ask_passphrase = given.contains("passphrase");
  options.passphrase_file = find_text(given, "passphrase-file");
  options.recipients = find_texts(given, "recipient");
  if (options.decrypt && !options.recipients.empty())
    throw UsageError(text::recipient_decrypts, text::identity_opens_hint);
  options.format = find_text(given, "format");
  if (const auto name = find_text(given, "cipher")) options.cipher = parse_cipher(*name);
  options.iv = find_text(given, "iv");
  options.context = find_text(given, "context");
  if (const auto label = find_text(given, "label")) options.label = parse_label(*label);
  if (const auto number = find_text(given, "iter")) options.iterations = parse_iterations(*number);
  options.input = find_text(given, "input").value_or(options.input);
  options.output = find_output(given);
  options.lanes = find_text(given, "lanes").value_or(options.lanes);
  options.kernel = find_text(given, "kernel").value_or(options.kernel);
  if (const auto size = find_text(given, "chunk-size")) options.chunk_bytes = parse_size(*size);
  options.stats = find_file(given, "stats");
  options.trace = find_file(given, "trace");
  options.progress = given.contains("progress");
  if (const auto size = find_text(given, "size")) options.size = parse_expected_size(*size);
  options.force = given.contains("force");
  parse_rekey(given, options);
  if (given.contains("verbose")) options.level = Messages::Level::verbose;
  if (given.contains("quiet")) options.level = Messages::Level::quiet;
  return options;
}

std::string help_text() {
  std::ostringstream text;
  text << "usage: gpuaes-stream [-d] -k FILE [options] < input > output\n\n"
       << describe_options() << "\ngpuaes-stream(1) tells more.\n";
  return text.str();
}

KeygenOptions parse_keygen_options(int argc, const char* const* argv) {
  const po::variables_map given = parse_command_line(argc, argv, describe_keygen_options()).given;
  KeygenOptions options;
  if (given.contains("help"))
    options.action = KeygenOptions::Action::help;
  else if (given.contains("version"))
    options.action = KeygenOptions::Action::version;
  else if (given.contains("recipient"))
    options.action = KeygenOptions::Action::show_recipient;
  else if (given.contains("x25519"))
    options.action = KeygenOptions::Action::generate_identity;
  refuse_together(given, "recipient", "x25519");
  refuse_together(given, "recipient", "output");
  options.output = find_output(given);
  options.identity = find_text(given, "recipient");
  return options;
}

std::string keygen_help_text() {
  std::ostringstream text;
  text << "usage: gpuaes-keygen [--x25519] [-o FILE]\n"
       << "       gpuaes-keygen -y FILE\n\n"
       << describe_keygen_options() << "\ngpuaes-keygen(1) tells more.\n";
  return text.str();
}

}  // namespace gpuaes
