#include "run/open_stream.hpp"

#include <fmt/format.h>

#include <utility>

#include "base/subject.hpp"
#include "base/text.hpp"
#include "io/armor.hpp"
#include "run/range_stream.hpp"
#include "run/salvage_stream.hpp"
#include "run/separate_header.hpp"

namespace gpuaes {
namespace {

class WholeStream : public OpenStream {
 public:
  WholeStream(StreamParts parts, bool decrypts) : OpenStream(std::move(parts)), decrypts_(decrypts) {}

  std::uint64_t bytes_out(std::uint64_t body) const override { return session().header().size() + body; }
  std::uint64_t plain_bytes(std::uint64_t in, std::uint64_t out) const override {
    return decrypts_ ? out : in;
  }

 private:
  // Space is reserved only for ciphertext: the file system may store plaintext in less space.
  void write_header() override {
    const std::span<const std::byte> header = session().header();
    const std::uint64_t parallel_size = source().parallel_size();
    if (!decrypts_ && parallel_size > 0)
      sink().expect(header.size() + session().output_size(parallel_size, true));
    sink().write(header);
  }

  bool decrypts_;
};

// Without -f, the keys decide how to encrypt, and decryption detects an authenticated format. If the input is
// in an unknown format, the hint depends on what was to be done with it.
const Format& choose_format(const StreamRequest& request, const Keyring& keyring, OpenedInput* input) try {
  const FormatRequest& wanted = request.format;
  if (wanted.named != nullptr) return *wanted.named;
  if (wanted.iv || wanted.context)
    throw UsageError(fmt::format("--{} requires -f {}", wanted.iv ? "iv" : "context",
                                 join(formats_that_accept(wanted.iv ? &Accepts::iv : &Accepts::context))));
  if (input == nullptr) return format_to_write(keyring);
  const Format& format = input->format(detect_authenticated_format);
  check_label(format, wanted.label);
  return format;
} catch (UnknownFormat& error) {
  if (request.salvages() || request.header) error.set_hint(header_hint);
  if (request.only_part)
    error.set_hint(fmt::format("{} only decrypts; to encrypt a file in parts, use gpuaes-parts",
                               option_for(request.mode)));
  throw;
}

// Whether ciphertext of this length may be in CBC mode, which pads plaintext to whole blocks.
bool fits_cbc(std::uint64_t body) {
  constexpr std::uint64_t block_bytes = 16;
  return body > 0 && body % block_bytes == 0;
}

constexpr char cbc_warning[] =
    "the length of the input fits openssl enc -aes-256-cbc, which only openssl decrypts, as it "
    "does files made with another -md than sha256; check the output";

OpenedInput* open_encrypted(const StreamRequest& stream, Endpoints& endpoints) {
  if (!stream.decrypt) return nullptr;
  PartsDirectory* const directory = endpoints.directory ? &*endpoints.directory : nullptr;
  endpoints.encrypted = std::make_unique<OpenedInput>(endpoints.source, directory, stream.format.named);
  return endpoints.encrypted.get();
}

std::unique_ptr<OpenStream> open_mode(const WholeInput&, StreamOpening& opening) {
  return make_whole_stream(opening.parts(opening.session()), opening.stream.decrypt);
}

}  // namespace

Workload OpenStream::workload(std::optional<std::size_t> chunk_bytes) {
  return {.parallel_bytes = source().parallel_size(),
          .cipher = session().cipher(),
          .authenticated = parts_.authenticated,
          .cuda = info(Backend::cuda).supports(session().cipher(), session().rules()),
          .chunk_bytes = chunk_bytes};
}

std::uint64_t OpenStream::header_bytes() const {
  return parts_.header_bytes + (parts_.parts != nullptr ? parts_.parts->framing_bytes() : 0);
}

std::optional<std::uint64_t> OpenStream::expected_bytes() const {
  const std::uint64_t body = body_bytes().value_or(0);
  return body > 0 ? std::optional(header_bytes() + body) : std::nullopt;
}

void OpenStream::run(const std::function<void()>& run_pipeline) {
  write_header();
  if (!is_done()) with_hint(parts_.damage_hint, run_pipeline);
  if (parts_.watched != nullptr) input_warning_ = parts_.watched->modification();
  sink().finish();
}

std::string OpenStream::input_warning(std::uint64_t body) const {
  if (parts_.from_command && body == 0) return "the command printed nothing, so an empty file was encrypted";
  return parts_.may_be_cbc && fits_cbc(body) ? cbc_warning : input_warning_;
}

std::unique_ptr<OpenStream> make_whole_stream(StreamParts parts, bool decrypts) {
  return std::make_unique<WholeStream>(std::move(parts), decrypts);
}

StreamOpening::StreamOpening(const StreamRequest& requested, const InputRequest& input, Keyring keyring,
                             Endpoints& ends, const Context& of_run)
    : stream(requested),
      endpoints(ends),
      context(of_run),
      option(option_for(stream.mode)),
      format(choose_format(stream, keyring, open_encrypted(stream, endpoints))),
      request_(make_request(std::move(keyring), input, stream.format, stream.decrypt, context)) {
  if (stream.test) require_authentication("--test");
  if (stream.format.armor) require(!format.armor.empty(), "--armor", formats_with_armor());
}

void StreamOpening::require_authentication(const std::string& verifier) const {
  if (!format.authenticated)
    throw UsageError(fmt::format("the {} format is not authenticated, so {} cannot verify anything",
                                 format.name, verifier),
                     list_hint("authenticated formats: {}", authenticated_formats()));
}

void StreamOpening::require(bool supported, const std::string& what,
                            const std::vector<std::string_view>& formats) const {
  if (!supported)
    throw UsageError(fmt::format("the {} format does not support {}", format.name, what),
                     list_hint("formats that support it: {}", formats));
}

std::unique_ptr<Session> StreamOpening::session(const OpenSession& open) {
  if (is_armored() && !option.empty())
    throw UnsuitableInput(fmt::format("{} does not work on armored input", option),
                          "remove the armor first, with sed /^-----/d FILE | base64 -di");
  if (stream.format.armor) endpoints.output = make_armor_sink(format.armor, std::move(endpoints.output));
  if (encrypted() != nullptr) request_.input = &encrypted()->header;
  request_.index_first = endpoints.directory.has_value();
  std::optional<HeaderReader> separate_header;
  if (stream.header) {
    separate_header = read_separate_header(*stream.header, format, *encrypted(), context.cancel);
    request_.input = &*separate_header;
    request_.separate_header = true;
  }
  std::unique_ptr<Session> session;
  try {
    name_input(stream.header ? stream.header->shown() : "",
               [&] { session = open(format, std::move(request_)); });
  } catch (AuthError& error) {
    error.set_hint(stream.header ? Hint(copy_again_hint) : damage_hint(error.hint()));
    throw;
  }
  endpoints.source.begin_here();
  if (!format.authenticated)
    context.messages.warning(
        fmt::format("the {} format is not authenticated; modifications will go undetected", format.name));
  if (endpoints.command) endpoints.command->start();  // after the prompt for a passphrase
  return session;
}

Hint StreamOpening::damage_hint(const Hint& hint) const {
  return hint.advice == Advice::recover_undamaged && (stream.test || is_armored()) ? copy_again_hint : hint;
}

StreamParts StreamOpening::parts(std::unique_ptr<Session> session, const Hint& for_damage) {
  const Hint hint = damage_hint(for_damage);
  FdSource& file = endpoints.source;
  Source& whole = encrypted() != nullptr ? encrypted()->body() : file;
  std::optional<std::uint64_t> body_bytes = is_armored() ? std::nullopt : file.size();
  const bool may_be_cbc = stream.decrypt && format.may_be_cbc;
  if (may_be_cbc && fits_cbc(body_bytes.value_or(0))) context.messages.warning(cbc_warning);
  endpoints.parts = with_hint(hint, [&] {
    return session->open_source({.source = whole,
                                 .size = body_bytes,
                                 .directory = endpoints.directory ? &*endpoints.directory : nullptr,
                                 .all = !stream.selects()});
  });
  if (endpoints.parts && body_bytes) body_bytes = endpoints.parts->parallel_size();
  return {.source = endpoints.parts ? *endpoints.parts : whole,
          .sink = *endpoints.output,
          .session = std::move(session),
          .verb = stream.test      ? "verified"
                  : stream.decrypt ? "decrypted"
                                   : "encrypted",
          .authenticated = format.authenticated,
          .may_be_cbc = may_be_cbc && !body_bytes,
          .watched = stream.decrypt ? nullptr : &file,
          .from_command = endpoints.command != nullptr,
          .header_bytes = encrypted() != nullptr ? encrypted()->header.taken() : 0,
          .parts = endpoints.parts.get(),
          .body_bytes = body_bytes,
          .damage_hint = hint};
}

std::unique_ptr<OpenStream> open_stream(const StreamRequest& stream, const InputRequest& input,
                                        Keyring keyring, Endpoints& endpoints, const Context& context) {
  StreamOpening opening(stream, input, std::move(keyring), endpoints, context);
  return std::visit([&](const auto& mode) { return open_mode(mode, opening); }, stream.mode);
}

}  // namespace gpuaes
