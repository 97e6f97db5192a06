#include "run/open_stream.hpp"

#include <fmt/format.h>

#include <utility>

#include "base/text.hpp"
#include "base/texts.hpp"
#include "pipeline/pipeline.hpp"
#include "run/range_stream.hpp"
#include "run/salvage_stream.hpp"

namespace gpuaes {
namespace {

// All of an input, to encrypt or to decrypt.
class WholeStream : public OpenStream {
 public:
  WholeStream(StreamParts whole, bool decrypts) : OpenStream(std::move(whole)), decrypts_(decrypts) {}

  std::uint64_t bytes_out(std::uint64_t body) const override { return session().header().size() + body; }

 private:
  // Ciphertext has a known size; the file system may store plaintext in less room.
  void begin() override {
    const std::span<const std::byte> header = session().header();
    const std::uint64_t shared_size = source().shared_size();
    if (!decrypts_ && shared_size > 0)
      sink().expect(header.size() + session().output_size(shared_size, true));
    sink().write(header);
  }

  bool decrypts_;
};

// Without -f: sealed; to decrypt, the authenticated format that the input begins with.
const Format& choose_format(const Options& options, HeaderReader& input) {
  if (options.format) return find_format(*options.format);
  if (options.iv || options.context)
    throw UsageError(fmt::format(text::format_not_named, options.iv ? "iv" : "context"),
                     list_hint(text::formats_that_take_hint,
                               formats_that_accept(options.iv ? &Accepts::iv : &Accepts::context)));
  return options.decrypt ? detect_authenticated_format(input) : default_format();
}

// Everything that options ask of a format, other than what open_session() checks.
void check_format(const Options& options, const Format& format) {
  if ((options.test || options.salvage) && !format.authenticated)
    throw UsageError(
        fmt::format(text::authenticates_nothing, format.name, options.test ? "--test" : "--salvage"),
        list_hint(text::authenticated_formats_hint, authenticated_formats()));
  if (options.range && !format.accepts.range)
    throw UsageError(fmt::format(text::no_ranges, format.name),
                     list_hint(text::formats_with_ranges_hint, formats_that_accept(&Accepts::range)));
}

template <class Action>
auto with_hint(const char* hint, const Action& action) {
  try {
    return action();
  } catch (const AuthError& error) {
    if (*hint == '\0') throw;
    throw AuthError(error.what(), hint);
  }
}

}  // namespace

RunShape OpenStream::shape(std::optional<std::size_t> chunk_bytes) {
  return {.shared_bytes = source().shared_size(),
          .authenticated = whole_.authenticated,
          .cipher = session().cipher(),
          .chunk_bytes = chunk_bytes};
}

LaneSetup OpenStream::lane_setup(const Ring& ring) {
  return gpuaes::lane_setup(ring, source(), session());
}

void OpenStream::move(const std::function<void()>& move_body) {
  begin();
  with_hint(whole_.damage_hint, move_body);
  sink().finish();
}

std::unique_ptr<OpenStream> open_stream(const Options& options, Secrets secrets, Endpoints& endpoints,
                                        const Messages& messages, Cancel& cancel) {
  FdSource& source = endpoints.source;
  HeaderReader input = header_reader(source);
  const Format& format = choose_format(options, input);
  check_format(options, format);
  const char* const warning = writer_warning(secrets, false);
  std::unique_ptr<Session> session =
      open_session(format, session_request(options, std::move(secrets), input, cancel));
  source.begin_here();
  if (!format.authenticated) messages.warning(fmt::format(text::not_authenticated, format.name));
  if (warning != nullptr) messages.warning(warning);

  StreamParts whole{.source = source,
                    .sink = *endpoints.output,
                    .session = std::move(session),
                    .authenticated = format.authenticated,
                    .header_bytes = input.taken(),
                    .body_bytes = source.size(),
                    .damage_hint = options.test ? "" : text::salvage_hint};
  if (options.range)
    return with_hint(whole.damage_hint,
                     [&] { return std::make_unique<RangeStream>(*options.range, std::move(whole)); });
  if (options.salvage)
    return std::make_unique<SalvageStream>(std::move(whole),
                                           [&messages](const std::string& text) { messages.warning(text); });
  return std::make_unique<WholeStream>(std::move(whole), options.decrypt);
}

}  // namespace gpuaes
