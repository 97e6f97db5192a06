#include "run/inputs.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <span>

#include "io/fd_source_sink.hpp"

namespace gpuaes {
namespace {

struct Counts {
  std::uint64_t done = 0, failed = 0;
  Exit worst = Exit::ok;

  // Exit::usage is for errors that concern all inputs.
  void fail(const Error& error) {
    ++failed;
    worst = std::max(worst, error.exit() == Exit::usage ? Exit::io : error.exit());
  }
};

// "2,998".
std::string with_commas(std::uint64_t number) {
  const std::string digits = fmt::format("{}", number);
  std::string text;
  for (std::size_t at = 0; at < digits.size(); ++at) {
    if (at > 0 && (digits.size() - at) % 3 == 0) text += ',';
    text += digits[at];
  }
  return text;
}

// "2,998 of 3,000 files encrypted, 2 failed".
std::string summary(const Counts& counts, const std::string& verb) {
  const std::uint64_t all = counts.done + counts.failed;
  std::string text = with_commas(counts.done);
  if (counts.done < all) text += fmt::format(" of {}", with_commas(all));
  text += fmt::format(" file{} {}", all == 1 ? "" : "s", verb);
  if (counts.failed > 0) text += fmt::format(", {} failed", with_commas(counts.failed));
  return text;
}

}  // namespace

void name_input(const std::string& name, const std::function<void()>& action) {
  try {
    action();
  } catch (InputError& error) {
    error.within(name);
    throw;
  }
}

void for_each_input(const std::vector<InputRequest>& inputs, const Messages& messages, Cancel& cancel,
                    const InputWork& work) {
  std::unique_ptr<FdSink> output;  // opened only for text, since it may be the output of the run
  const bool several = inputs.size() > 1 || !work.verb.empty();
  Counts counts;
  for (const InputRequest& input : inputs) {
    const std::string shown = several || input.is_named() ? shown_name(input.name) : "";
    std::string text;
    try {
      name_input(shown, [&] { text = work.run(input, messages.for_input(shown, several)); });
      ++counts.done;
    } catch (const UsageError&) {
      throw;
    } catch (const Error& error) {
      if (!several) throw;
      cancel.withdraw_failure();
      messages.error(error);
      counts.fail(error);
      if (work.describe_failure) text = work.describe_failure(input, error);
    }
    if (text.empty()) continue;
    if (!output) output = open_standard_sink(STDOUT_FILENO, cancel);
    output->write(std::as_bytes(std::span(text)));
  }
  if (output) output->finish();
  if (work.at_end) work.at_end();
  if (!work.verb.empty()) messages.note(summary(counts, work.verb));
  if (counts.worst != Exit::ok) throw Failed{counts.worst};
}

}  // namespace gpuaes
