#include "run/rekey.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "base/texts.hpp"
#include "cli/progress.hpp"
#include "format/header_reader.hpp"
#include "format/sealed.hpp"
#include "io/control.hpp"
#include "io/fd.hpp"
#include "io/output_file.hpp"
#include "run/endpoints.hpp"
#include "run/inputs.hpp"
#include "run/secrets.hpp"

namespace gpuaes {
namespace {

constexpr std::size_t copy_bytes = 1 << 20;

// Before it is opened, which for a FIFO might wait. Who has it open for writing would go on writing to a file
// without a name.
void check_replaceable(const std::string& name) {
  struct stat status {};
  if (stat(name.c_str(), &status) != 0) return;  // to open it says why
  if (!S_ISREG(status.st_mode))
    throw UsageError(fmt::format(text::not_replaceable, name), text::not_replaceable_hint);
  struct stat standard {};
  for (const int fd : {STDOUT_FILENO, STDERR_FILENO})
    if (fstat(fd, &standard) == 0 && is_same_file(standard, status))
      throw UsageError(fmt::format(text::output_replaceable, name), text::not_replaceable_hint);
}

// What somebody else made of the file meanwhile must not be lost.
void check_unchanged(const std::string& name, const struct stat& before) {
  struct stat now {};
  if (stat(name.c_str(), &now) != 0) throw io_error(text::cannot_look_at, name, errno);
  // Not st_mtim, which whoever changes a file may set.
  const bool same_time =
      now.st_ctim.tv_sec == before.st_ctim.tv_sec && now.st_ctim.tv_nsec == before.st_ctim.tv_nsec;
  if (!is_same_file(now, before) || now.st_size != before.st_size || !same_time)
    throw IoError(fmt::format(text::changed, name), text::changed_hint);
}

OpenedHeader open_header(const Options& options, Secrets secrets, HeaderReader& input, Cancel& cancel) {
  if (!std::ranges::equal(input.peek(sealed_magic.size()), bytes_of(sealed_magic)))
    throw AuthError(text::cannot_rekey, text::cannot_rekey_hint);
  SessionRequest request;
  request.decrypt = true;
  request.keys = std::move(secrets.keys);
  request.identities = std::move(secrets.identities);
  request.passphrase = std::move(secrets.passphrase);
  request.label = options.label;
  request.input = &input;
  request.check = [&cancel] { cancel.check(); };
  return open_sealed_header(request);
}

std::vector<std::byte> make_header(const OpenedHeader& opened, const Secrets& secrets, Cancel& cancel) {
  std::optional<Secret> passphrase;
  if (secrets.passphrase) passphrase = secrets.passphrase();
  std::vector<std::byte> header = make_sealed_header(
      opened.cipher, opened.file_key, {secrets.keys, secrets.recipients, passphrase ? &*passphrase : nullptr},
      [&cancel] { cancel.check(); });
  append(header, opened.message_header);
  return header;
}

// The new slots open what anyone who had the file key may have written.
void warn_about_writer(const OpenedHeader& opened, const Secrets& new_secrets, const Messages& messages) {
  const bool has_key = !new_secrets.keys.empty();
  if (opened.has_recipient && (has_key || new_secrets.passphrase))
    messages.warning(text::sealed_for_recipient);
  else if (has_key && !new_secrets.recipients.empty())
    messages.warning(text::key_and_recipient);
}

void copy_rest(FdSource& source, Sink& sink, std::atomic<std::uint64_t>& copied) {
  std::vector<std::byte> buffer(copy_bytes);
  while (const std::size_t count = source.read(buffer)) {
    sink.write(std::span(buffer).first(count));
    copied += count;
  }
}

}  // namespace

void run_rekey(const Options& options, const Messages& messages) {
  if (options.in_place) check_replaceable(options.input);

  Cancel cancel;
  const Control control(cancel);
  const Messages::CancelledCheck cancelled_check(messages, [&cancel] { return cancel.requested(); });
  Progress progress(control, messages, options.progress && options.level != Messages::Level::quiet);
  refuse_same_inputs(options);
  Secrets old_secrets = read_secrets(options, messages, cancel);
  const Secrets new_secrets = read_new_secrets(options, messages, cancel);
  check_slots_for(new_secrets.keys, new_secrets.recipients, static_cast<bool>(new_secrets.passphrase));
  FdSource source = open_source(options.input, cancel);
  std::vector<struct stat> in_use;
  for (const Secrets* secrets : {&std::as_const(old_secrets), &new_secrets})
    in_use.insert(in_use.end(), secrets->files.begin(), secrets->files.end());
  if (!options.in_place) in_use.push_back(source.status());
  const std::unique_ptr<Sink> sink =
      open_sink(options.in_place ? std::optional(options.input) : options.output,
                {.terminal = options.force ? SinkRules::Terminal::everything : SinkRules::Terminal::nothing,
                 .in_use = in_use,
                 .hint = options.in_place ? text::not_replaceable_hint : text::redirect_hint,
                 .before_rename =
                     [&] {
                       if (options.in_place) check_unchanged(options.input, source.status());
                     },
                 .warn = [&messages](const std::string& text) { messages.warning(text); }},
                cancel);
  say_if_terminal(source, messages);

  HeaderReader input([&source](std::span<std::byte> out) { return source.read(out); });
  const OpenedHeader opened = open_header(options, std::move(old_secrets), input, cancel);
  warn_about_writer(opened, new_secrets, messages);
  const std::vector<std::byte> header = make_header(opened, new_secrets, cancel);
  source.begin_here();
  if (source.shared_size() > 0) sink->expect(header.size() + source.shared_size());
  std::atomic<std::uint64_t> copied = input.taken();
  const std::optional<std::uint64_t> size = expected_size(options, input.taken(), source.size());
  const Progress::Watch watch(progress, size, [&copied] { return Progress::Position{copied, {}}; });
  sink->write(header);
  copy_rest(source, *sink, copied);
  sink->finish();
}

}  // namespace gpuaes
