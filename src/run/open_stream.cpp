#include "run/open_stream.hpp"

#include <fmt/format.h>

#include <utility>

#include "base/text.hpp"
#include "format/sessions.hpp"
#include "io/armor.hpp"
#include "run/inputs.hpp"
#include "run/output_names.hpp"
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

// Without -f, the keys decide how to encrypt, and decryption detects an authenticated format.
const Format& choose_format(const StreamRequest& request, const Keyring& keyring, OpenedInput* input) {
  const FormatRequest& wanted = request.format;
  if (wanted.name) return find_format(*wanted.name);
  if (wanted.iv || wanted.context)
    throw UsageError(fmt::format("--{} requires -f {}", wanted.iv ? "iv" : "context",
                                 join(formats_that_accept(wanted.iv ? &Accepts::iv : &Accepts::context))));
  if (input == nullptr) return format_to_write(keyring);
  const Format& format = input->format(detect_authenticated_format);
  check_label(format, wanted.label);
  return format;
}

// Checks the options that open_session() does not check.
void check_format(const StreamRequest& request, const Format& format, bool armored) {
  const std::string mode = option_for(request.mode);
  if ((request.test || request.salvages()) && !format.authenticated)
    throw UsageError(fmt::format("the {} format is not authenticated, so {} cannot verify anything",
                                 format.name, request.test ? "--test" : mode),
                     list_hint("authenticated formats: {}", authenticated_formats()));
  if (request.selects() && !format.accepts.range)
    throw UsageError(fmt::format("the {} format does not support {}", format.name, mode),
                     list_hint("formats that support it: {}", formats_that_accept(&Accepts::range)));
  if (std::holds_alternative<IntoFile>(request.mode) && !format.authenticated)
    throw UsageError(fmt::format("the {} format does not support --into", format.name),
                     list_hint("formats that support it: {}", authenticated_formats()));
  if (request.format.armor && format.armor.empty())
    throw UsageError(fmt::format("the {} format does not support --armor", format.name),
                     list_hint("formats that support it: {}", formats_with_armor()));
  if (armored && !mode.empty())
    throw UnsuitableInput(fmt::format("{} does not work on armored input", mode),
                          "remove the armor first, with sed /^-----/d FILE | base64 -di");
}

// Adds a hint to an AuthError that has none.
template <class Action>
auto with_hint(const char* hint, const Action& action) {
  try {
    return action();
  } catch (AuthError& error) {
    if (error.hint().empty()) error.set_hint(hint);
    throw;
  }
}

// Whether ciphertext of this length may be in CBC mode, which pads plaintext to whole blocks.
bool fits_cbc(std::uint64_t body) {
  constexpr std::uint64_t block_bytes = 16;
  return body > 0 && body % block_bytes == 0;
}

constexpr char cbc_warning[] =
    "the length of the input fits openssl enc -aes-256-cbc, which only openssl decrypts, as it "
    "does files made with another -md than sha256; check the output";

constexpr char header_hint[] = "if the header is damaged, put back a copy of it (gpuaes-recipes(7))";

// For a directory, whose header is in a file that is easily restored.
constexpr char index_hint[] =
    "if the index is damaged, read the parts without it: cat DIR/head DIR/part.* | gpuaes-stream --salvage";

// If the input is in an unknown format, the hint depends on what was to be done with it.
const Format& choose_format_or_hint(const StreamRequest& request, const Keyring& keyring,
                                    OpenedInput* input) {
  try {
    return choose_format(request, keyring, input);
  } catch (UnknownFormat& error) {
    if (request.salvages() || request.header) error.set_hint(header_hint);
    if (request.only_part)
      error.set_hint(fmt::format("{} only decrypts; to encrypt a file in parts, use gpuaes-parts",
                                 option_for(request.mode)));
    throw;
  }
}

// The cause of any error may be damage to the header.
std::unique_ptr<Session> open_session_to_salvage(const Format& format, SessionRequest request) {
  const char* const damage_hint = request.index_first ? index_hint : header_hint;
  try {
    return open_session(format, std::move(request));
  } catch (UnsuitableInput&) {
    throw;
  } catch (AuthError& error) {
    error.set_hint(damage_hint);
    throw;
  } catch (InputError& error) {
    error.set_hint(header_hint);
    throw;
  }
}

// Whether any segment of a body that begins at byte `at` of the file is authentic.
bool opens_segment(const Session& session, const FdSource& file, std::uint64_t at) {
  const std::uint64_t body_bytes = file.size().value() - at;
  Secret in(session.unit_in()), out(session.unit_out());
  for (std::uint64_t offset = 0; offset < body_bytes; offset += in.size()) {
    const auto part = in.bytes().first(std::min<std::uint64_t>(in.size(), body_bytes - offset));
    file.read_at(at + offset, part);
    const bool last = offset + in.size() >= body_bytes;
    const Outcome outcome =
        run_piece(session, {offset, part, out.bytes().first(session.output_size(part.size(), last)), last});
    if (outcome.released > 0 || !outcome.error) return true;
  }
  return false;
}

// Takes the header from the input, and describes damage to it that does not prevent decryption.
std::unique_ptr<Session> open_session_of(const StreamRequest& stream, const Format& format,
                                         SessionRequest request, const Endpoints& endpoints,
                                         std::string& header_damage) {
  request.index_first = endpoints.directory.has_value();
  if (!stream.salvages()) return open_session(format, std::move(request));
  request.salvage = [&header_damage](const std::string& damage) { header_damage = damage; };
  if (endpoints.source.size())
    request.opens_segment = [&endpoints, &input = *request.input](const Session& session) {
      return opens_segment(session, endpoints.source, input.taken());
    };
  return open_session_to_salvage(format, std::move(request));
}

std::unique_ptr<SharedOutput> make_shared_output(const StreamMode& mode, const Context& context) {
  const auto* const into = std::get_if<IntoFile>(&mode);
  if (into == nullptr) return nullptr;
  const Messages& messages = context.messages;
  return SharedOutput::make(
      into->name, uncached_plaintext_bytes(), context.cancel,
      {.note = [&messages](const std::string& text) { messages.note(text); }, .warn = messages.warner()});
}

// For the AuthError of a damaged body.
const char* damage_hint_for(const StreamRequest& request, const Endpoints& endpoints, bool armored) {
  if (request.salvages()) return endpoints.directory ? index_hint : "";
  return request.test || armored
             ? copy_again_hint
             : "copy or download it again, or use --salvage to recover the undamaged parts";
}

const char* verb_for(const StreamRequest& request) {
  if (request.test) return "verified";
  if (request.salvages()) return "recovered";
  return request.decrypt ? "decrypted" : "encrypted";
}

// Makes the stream of each mode. `shared` is its sink if other processes write it, too.
struct MakeStream {
  StreamParts& parts;
  bool decrypts;
  SharedOutput* shared;
  const Messages& messages;

  using Made = std::unique_ptr<OpenStream>;
  Made operator()(const WholeInput&) const { return make_whole_stream(std::move(parts), decrypts); }
  Made operator()(const Selection& selection) const {
    return std::make_unique<RangeStream>(selection, std::move(parts));
  }
  Made operator()(const IntoFile& into) const {
    return std::make_unique<SharedStream>(into.share, std::move(parts), *shared);
  }
  Made operator()(const Salvage&) const {
    return std::make_unique<SalvageStream>(
        std::move(parts), [&printed = messages](const std::string& text) { printed.input_warning(text); });
  }
};

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

void note_secrets(const StreamRequest& stream, const Keyring& keyring, const OutputRequest& output,
                  const Messages& messages) {
  if (stream.decrypt) return;
  const Format& format = stream.format.name ? find_format(*stream.format.name) : format_to_write(keyring);
  warn_of_ending(output.file, format, messages);
  if (keyring.has_recipient() && keyring.find(KeyKind::key_file) != nullptr)
    messages.detail("the output is a sealed file, because a key file is given; age cannot open it");
  if (stream.note_sealed)
    messages.note("the output is a sealed file, which age cannot open; add -f age for one that it can open");
  if (const char* const warning = writer_warning(keyring, false)) messages.warning(warning);
}

std::unique_ptr<OpenStream> open_stream(const StreamRequest& stream, const InputRequest& input,
                                        Keyring keyring, Endpoints& endpoints, const Context& context) {
  FdSource& file = endpoints.source;
  PartsDirectory* const directory = endpoints.directory ? &*endpoints.directory : nullptr;
  if (stream.decrypt)
    endpoints.encrypted = std::make_unique<OpenedInput>(file, directory, stream.format.name);
  OpenedInput* const encrypted = endpoints.encrypted.get();
  const bool armored = encrypted != nullptr && encrypted->is_armored();
  const Format& format = choose_format_or_hint(stream, keyring, encrypted);
  check_format(stream, format, armored);
  if (stream.format.armor) endpoints.output = make_armor_sink(format.armor, std::move(endpoints.output));
  SessionRequest request = make_request(std::move(keyring), input, stream.format, stream.decrypt, context);
  if (encrypted != nullptr) request.input = &encrypted->header;
  std::optional<HeaderReader> separate_header;
  if (stream.header) {
    if (stream.salvages() && !file.size())
      throw UsageError("--salvage with --header requires a seekable input", "copy the input to a file first");
    separate_header = read_separate_header(*stream.header, format, *encrypted, context.cancel);
    request.input = &*separate_header;
    request.separate_header = true;
  }
  std::string header_damage;
  std::unique_ptr<Session> session;
  name_input(stream.header ? stream.header->shown() : "", [&] {
    session = open_session_of(stream, format, std::move(request), endpoints, header_damage);
  });
  file.begin_here();
  if (!format.authenticated)
    context.messages.warning(
        fmt::format("the {} format is not authenticated; modifications will go undetected", format.name));
  if (endpoints.command) endpoints.command->start();  // after the prompt for a passphrase

  Source& whole = encrypted != nullptr ? encrypted->body() : file;
  std::optional<std::uint64_t> body_bytes = armored ? std::nullopt : file.size();
  const bool may_be_cbc = stream.decrypt && format.may_be_cbc;
  if (may_be_cbc && fits_cbc(body_bytes.value_or(0))) context.messages.warning(cbc_warning);
  const char* const damage_hint = damage_hint_for(stream, endpoints, armored);
  return with_hint(damage_hint, [&] {
    endpoints.parts = session->open_source(
        {.source = whole, .size = body_bytes, .directory = directory, .all = !stream.selects()});
    if (endpoints.parts && body_bytes) body_bytes = endpoints.parts->parallel_size();
    std::unique_ptr<SharedOutput> shared = make_shared_output(stream.mode, context);
    SharedOutput* const shared_sink = shared.get();
    if (shared) endpoints.output = std::move(shared);
    StreamParts parts{.source = endpoints.parts ? *endpoints.parts : whole,
                      .sink = *endpoints.output,
                      .session = std::move(session),
                      .verb = verb_for(stream),
                      .authenticated = format.authenticated,
                      .may_be_cbc = may_be_cbc && !body_bytes,
                      .watched = stream.decrypt ? nullptr : &file,
                      .from_command = endpoints.command != nullptr,
                      .header_bytes = encrypted != nullptr ? encrypted->header.taken() : 0,
                      .parts = endpoints.parts.get(),
                      .body_bytes = body_bytes,
                      .damage_hint = damage_hint,
                      .header_damage = header_damage};
    return std::visit(MakeStream{parts, stream.decrypt, shared_sink, context.messages}, stream.mode);
  });
}

}  // namespace gpuaes
