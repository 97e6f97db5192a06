#include "terminal/messages.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <chrono>
#include <string_view>
#include <thread>

#include "base/rows.hpp"
#include "base/unicode.hpp"
#include "process/signals.hpp"

namespace gpuaes {
namespace {

// The words of a hint, with the options of the programs, and {} for Hint::text.
struct HintWords {
  Advice advice;
  std::string_view words;
};
constexpr auto hint_words = std::to_array<HintWords>({
    {Advice::text, "{}"},
    {Advice::check_download,
     "it is not encrypted, or is an incomplete or converted download; if it was encrypted with "
     "-f, use the same -f"},
    {Advice::check_key_and_context,
     "check -f, -k and --context; if they are right, the first 56 bytes of the input are damaged"},
    {Advice::decrypt_with_openssl,
     "-d -f openssl decrypts what openssl enc -aes-256-ctr -pbkdf2 wrote; for other ciphers, such as "
     "-aes-256-cbc, and another -md, use openssl enc -d"},
    {Advice::enter_passphrase,
     "use -p to enter the passphrase, or --passphrase-file FILE to read it from a file"},
    {Advice::list_lanes, "run gpuaes-stream --list-lanes to list the devices"},
    {Advice::list_slots,
     "the input was encrypted with other secrets, or its header is damaged; --info lists its {}"},
    {Advice::match_label,
     "--label must be the text the input was encrypted with, or omitted if there was none"},
    {Advice::name_any_secret, "name a key or identity file with -k, or use -p to enter a passphrase"},
    {Advice::name_identity_file, "name the identity file with -k"},
    {Advice::name_key_file, "name the key file with -k"},
    {Advice::name_passphrase_source,
     "there is no terminal for a prompt; use --passphrase-file or --passphrase-command"},
    {Advice::omit_cipher, "omit --cipher; the input names its cipher"},
    {Advice::omit_format, "omit --format; the input shows its format"},
    {Advice::omit_label, "omit --label only if you expect a file without one"},
    {Advice::print_recipient, "a recipient is the line that gpuaes-keygen -y prints for an identity"},
    {Advice::raise_file_limit, "allow more open files, for example with ulimit -n 1024"},
    {Advice::raise_memory_limit, "raise the memory limit of the service, container or shell (ulimit)"},
    {Advice::raise_thread_limit, "allow more processes and threads, for example with ulimit -u"},
    {Advice::recover_undamaged, "copy or download it again, or use --salvage to recover the undamaged parts"},
    {Advice::redirect_output, "redirect the output, name a file with -o, or use --force"},
    {Advice::repeat_key_option,
     "name each key or identity file with a -k of its own; in -k *.key, only the first file is a key"},
    {Advice::restore_identity,
     "restore it from a copy; a new one, from gpuaes-keygen --x25519 or --post-quantum, does "
     "not open existing files"},
    {Advice::seal_for_key_file, "use recipients, or -f sealed"},
    {Advice::try_several_keys,
     "to find the one that does, try several at once, with -k A -k B -v; --info lists the {}, "
     "and --header takes a copy of a damaged header"},
    {Advice::use_cpu_lanes, "use -l cpu, which works on every machine"},
    {Advice::use_smaller_chunks, "use a smaller --chunk-size"},
});
static_assert(has_row_for_each(hint_words, &HintWords::advice));

std::string words_of(const Hint& hint) {
  return fmt::format(fmt::runtime(row_of(hint_words, hint.advice).words), hint.text);
}

constexpr int fd = STDERR_FILENO;
constexpr std::chrono::milliseconds patience{100}, retry_after{1};

// Output from the background overwrites that of the foreground program, and SIGTTOU stops the writer if
// TOSTOP is set. Neither applies if the terminal is not our controlling terminal.
bool would_be_stopped() {
  struct termios settings {};
  return !in_foreground(fd) && tcgetattr(fd, &settings) == 0 && (settings.c_lflag & TOSTOP) != 0;
}

// If poll() reports room, a pipe has room for a whole line; so does a terminal, unless its buffer is almost
// full.
bool has_room(std::chrono::milliseconds time) {
  struct pollfd entry {
    fd, POLLOUT, 0
  };
  return poll(&entry, 1, static_cast<int>(time.count())) == 1;
}

// One write per line keeps the lines of several threads or programs apart. There is nowhere to report an
// error.
void write(const std::string& text) {
  [[maybe_unused]] const auto written = ::write(fd, text.data(), text.size());
}

// The thread that has the lock may be waiting for standard error indefinitely.
std::unique_lock<std::mutex> lock_soon(std::mutex& mutex) {
  const auto end = std::chrono::steady_clock::now() + patience;
  std::unique_lock lock(mutex, std::defer_lock);
  while (!lock.try_lock() && std::chrono::steady_clock::now() < end) std::this_thread::sleep_for(retry_after);
  return lock;
}

constexpr std::string_view spaces = " \t\n", punctuation = "'\":,)";

// How much of a word may be shown; all of it unless it is an identity, of age or of one of its plugins, which
// the user may have given as a file name or an option. The name of a plugin is shown.
std::size_t public_part(std::string_view word) {
  constexpr std::string_view anywhere = "-secret-key-", after_punctuation = "age-plugin-", separator = "-1";
  std::string lower(word);
  std::ranges::transform(word, lower.begin(), [](unsigned char c) { return std::tolower(c); });
  const std::size_t begin = lower.find(after_punctuation);
  const char before = begin == 0 || begin == std::string::npos ? ' ' : lower[begin - 1];
  const std::size_t data = lower.rfind(separator);  // of an identity: with a checksum of 6 characters
  const bool is_plugin = begin != std::string::npos && data != std::string::npos && data > begin &&
                         data + separator.size() + 6 <= lower.size() && before != '/' &&
                         std::isalnum(static_cast<unsigned char>(before)) == 0;
  if (is_plugin) return begin + after_punctuation.size();
  const std::size_t mark = lower.find(anywhere);
  return mark == std::string::npos ? word.size() : mark + anywhere.size();
}

std::string without_secrets(std::string_view text) {
  constexpr std::string_view pem_label_end = "PRIVATE KEY-----";
  const std::size_t pem = text.find(pem_label_end);
  if (pem != text.npos) text = text.substr(0, pem + pem_label_end.size());
  std::string shown;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t begin = std::min(text.find_first_not_of(spaces, at), text.size());
    const std::size_t end = std::min(text.find_first_of(spaces, begin), text.size());
    const std::string_view whole = text.substr(begin, end - begin);
    const std::string_view word = whole.substr(0, whole.find_last_not_of(punctuation) + 1);
    const std::size_t size = public_part(word);
    shown.append(text.substr(at, begin - at)).append(word.substr(0, size));
    shown.append(size < word.size() ? "..." : "").append(whole.substr(word.size()));
    at = end;
  }
  return shown;
}

// The text with the name of the file that it is about, unless that is empty.
std::string about(const std::string& name, const std::string& text) {
  return name.empty() ? text : fmt::format("{}: {}", name, text);
}

}  // namespace

// The status line -------------------------------------------------------------------------------

std::optional<std::size_t> terminal_columns(int terminal) {
  if (isatty(terminal) == 0) return std::nullopt;
  struct winsize size {};
  const bool known = ioctl(terminal, TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
  return known ? size.ws_col : default_columns;
}

std::optional<std::size_t> StatusLine::columns() const {
  const std::optional<std::size_t> columns = terminal_columns(fd);
  return columns ? std::optional(*columns - 1) : std::nullopt;
}

// Spaces cover the rest of a longer previous line, up to the current width of the terminal.
std::string StatusLine::drawn(const std::string& text) const {
  const std::size_t covered = std::min(shown_, columns().value_or(0));
  return "\r" + text + std::string(covered - std::min(covered, text.size()), ' ');
}

std::string StatusLine::cleared() {
  const std::string clear = shown_ > 0 && in_foreground(fd) ? drawn("") + "\r" : "";
  shown_ = 0;
  return clear;
}

void StatusLine::draw(const std::string& text) {
  const std::unique_lock lock(mutex_, std::try_to_lock);
  if (!lock.owns_lock()) return;
  if (!in_foreground(fd))
    shown_ = 0;  // the program in the foreground may have overwritten it
  else if (has_room({})) {
    write(drawn(text));
    shown_ = text.size();
  }
}

void StatusLine::finish(const std::string& text) {
  const std::unique_lock lock = lock_soon(mutex_);
  if (!lock.owns_lock() || would_be_stopped() || !has_room(patience)) return;
  write(drawn(text) + "\n");
  shown_ = 0;
}

void StatusLine::try_print(const std::string& text) {
  const std::unique_lock lock = lock_soon(mutex_);
  if (lock.owns_lock() && !would_be_stopped() && has_room(patience)) write(cleared() + text + "\n");
}

void StatusLine::print(const std::string& text) {
  const std::lock_guard lock(mutex_);
  while (is_cancelled_ && !has_room(patience))
    if (is_cancelled_()) return;
  write(cleared() + text + "\n");
}

void StatusLine::set_cancelled_check(std::function<bool()> is_cancelled) {
  const std::lock_guard lock(mutex_);
  is_cancelled_ = std::move(is_cancelled);
}

// Messages ----------------------------------------------------------------------------------------

std::string Messages::line_of(const char* kind, const std::string& text) const {
  return program_ + ": " + kind + printable(without_secrets(text));
}

void Messages::print(const char* kind, const std::string& text) const {
  line_->print(line_of(kind, text));
}

void Messages::error(const std::string& text) const {
  print("error: ", text);
}

void Messages::error(const Error& error) const {
  std::string text = line_of("error: ", error.what());
  if (!error.hint().empty()) {
    const std::string hint = line_of("hint: ", words_of(error.hint()));
    const std::lock_guard lock(printed_->mutex);
    if (printed_->hints.insert(hint).second) text += "\n" + hint;
  }
  line_->print(text);
}

void Messages::warning(const std::string& text) const {
  if (level_ != Level::quiet) print("warning: ", text);
}

void Messages::input_warning(const std::string& text) const {
  warning(about(input_, text));
}

void Messages::note(const std::string& text) const {
  if (level_ >= Level::normal) print("", text);
}

void Messages::detail(const std::string& text) const {
  if (level_ >= Level::verbose) print("", about(one_of_several_, text));
}

void Messages::fine_detail(const std::string& text) const {
  if (level_ >= Level::very_verbose) print("", about(one_of_several_, text));
}

void Messages::report(const std::string& text) const {
  line_->try_print(program_ + ": " + printable(text));
}

}  // namespace gpuaes
