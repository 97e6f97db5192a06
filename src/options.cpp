#include "options.hpp"

#include <fmt/format.h>

#include <charconv>
#include <sstream>

#include "command_line.hpp"
#include "error.hpp"

namespace gpuaes {
namespace {

namespace po = boost::program_options;

// Beyond it a lane would not look up from its chunk for more than a second.
constexpr std::size_t most_size = std::size_t{1} << 30;

// To add an option: its line here, its field in Options, its line in parse_options(), and in the man page.
po::options_description describe_options() {
  po::options_description options("Options");
  const auto text = [](const char* name) { return po::value<std::string>()->value_name(name); };
  options.add_options()                                       //
      ("encrypt,e", "encrypt (the default)")                  //
      ("decrypt,d", "decrypt; finds out sealed and openssl")  //
      ("key,k", po::value<std::vector<std::string>>()->value_name("FILE"),
       "key file, as gpuaes-keygen makes it; may be given several times")                //
      ("passphrase,p", "ask for a passphrase on the terminal")                           //
      ("passphrase-file", text("FILE"), "the passphrase is the first line of FILE")      //
      ("format,f", text("FORMAT"), "sealed (the default), cobblestone, openssl or raw")  //
      ("cipher,c", text("CIPHER"),
       "aes-128, aes-192, aes-256, kuznyechik; otherwise AES by the key's length")                       //
      ("iv", text("HEX"), "raw: the first counter block, 32 hexadecimal digits; kuznyechik: 16")         //
      ("context", text("HEX"), "cobblestone: what the message is bound to beside its key")               //
      ("iter", text("N"), "openssl: iterations of PBKDF2 (10000)")                                       //
      ("input,i", text("FILE"), "read FILE instead of standard input")                                   //
      ("output,o", text("FILE"), "write FILE, which appears only when all is well")                      //
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
      ("version,V", "print the version")                                        //
      ("help,h", "print this");
  return options;
}

std::uint32_t parse_iterations(const std::string& text) {
  std::uint32_t number = 0;
  const char* const end = text.data() + text.size();
  const auto [at, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc{} || at != end)
    throw UsageError(fmt::format("--iter '{}' is no number of iterations", text));
  return number;
}

// A number with K, M, G or T of 1024 behind it or nothing; nothing for all else, and beyond 64 bits.
std::optional<std::uint64_t> find_bytes(std::string_view text) {
  std::uint64_t number = 0;
  const char* const end = text.data() + text.size();
  const auto [unit, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc{} || end - unit > 1) return std::nullopt;
  const std::size_t at = unit == end ? 0 : std::string_view("KMGT").find(*unit) + 1;
  if ((unit != end && at == 0) || number > UINT64_MAX >> (10 * at)) return std::nullopt;
  return number << (10 * at);
}

std::optional<std::string> find_text(const po::variables_map& given, const char* name) {
  if (!given.contains(name)) return std::nullopt;
  return given[name].as<std::string>();
}

void refuse_together(const po::variables_map& given, const char* a, const char* b) {
  if (given.contains(a) && given.contains(b))
    throw UsageError(fmt::format("--{} and --{} exclude each other", a, b));
}

}  // namespace

Cipher parse_cipher(const std::string& name) {
  if (const std::optional<Cipher> cipher = find_cipher(name)) return *cipher;
  std::string names;
  for (const CipherInfo& each : ciphers) names.append(names.empty() ? "" : ", ").append(each.name);
  throw UsageError(fmt::format("cipher '{}' is not known", name), "ciphers are " + names);
}

std::uint64_t parse_expected_size(const std::string& text) {
  if (const std::optional<std::uint64_t> bytes = find_bytes(text)) return *bytes;
  throw UsageError(fmt::format("size '{}' is not understood", text),
                   "a size is a number with K, M, G or T of 1024 behind it or nothing");
}

std::size_t parse_size(const std::string& text) {
  const std::uint64_t bytes = find_bytes(text).value_or(0);
  if (bytes > 0 && bytes <= most_size) return bytes;
  throw UsageError(fmt::format("size '{}' is not understood", text),
                   "a size is a number from 1 to 1G, with K, M or G of 1024 behind it or nothing");
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
  refuse_together(given, "encrypt", "decrypt");
  refuse_together(given, "verbose", "quiet");
  refuse_together(given, "passphrase", "passphrase-file");
  options.decrypt = given.contains("decrypt");
  if (given.contains("key")) options.key_files = given["key"].as<std::vector<std::string>>();
  options.ask_passphrase = given.contains("passphrase");
  options.passphrase_file = find_text(given, "passphrase-file");
  options.format = find_text(given, "format");
  if (const auto name = find_text(given, "cipher")) options.cipher = parse_cipher(*name);
  options.iv = find_text(given, "iv");
  options.context = find_text(given, "context");
  if (const auto number = find_text(given, "iter")) options.iterations = parse_iterations(*number);
  options.input = find_text(given, "input");
  options.output = find_text(given, "output");
  options.lanes = find_text(given, "lanes").value_or(options.lanes);
  options.kernel = find_text(given, "kernel").value_or(options.kernel);
  if (const auto size = find_text(given, "chunk-size")) options.chunk_bytes = parse_size(*size);
  options.stats = find_text(given, "stats");
  options.trace = find_text(given, "trace");
  options.progress = given.contains("progress");
  if (const auto size = find_text(given, "size")) options.size = parse_expected_size(*size);
  options.force = given.contains("force");
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
  options.output = find_text(given, "output");
  return options;
}

std::string keygen_help_text() {
  std::ostringstream text;
  text << "usage: gpuaes-keygen [-o FILE]\n\n"
       << describe_keygen_options() << "\ngpuaes-keygen(1) tells more.\n";
  return text.str();
}

}  // namespace gpuaes
