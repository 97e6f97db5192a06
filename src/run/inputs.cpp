#include "run/inputs.hpp"

#include <unistd.h>

#include <algorithm>
#include <memory>
#include <span>

#include "io/fd_source_sink.hpp"

namespace gpuaes {

void name_input(const std::string& name, const std::function<void()>& action) {
  try {
    action();
  } catch (InputError& error) {
    error.within(name);
    throw;
  }
}

void for_each_input(const std::vector<InputRequest>& inputs, const Messages& messages, Cancel& cancel,
                    const RunInput& run, const DescribeFailure& describe_failure) {
  std::unique_ptr<FdSink> output;  // opened only for text, since it may be the output of the run
  const bool several = inputs.size() > 1;
  Exit worst = Exit::ok;
  for (const InputRequest& input : inputs) {
    const std::string shown = several || input.is_named() ? shown_name(input.name) : "";
    std::string text;
    try {
      name_input(shown, [&] { text = run(input, messages.for_input(shown, several)); });
    } catch (const UsageError&) {
      throw;
    } catch (const Error& error) {
      if (!several) throw;
      cancel.withdraw_failure();
      messages.error(error);
      worst = std::max(worst, error.exit());
      if (describe_failure) text = describe_failure(input, error);
    }
    if (text.empty()) continue;
    if (!output) output = open_standard_sink(STDOUT_FILENO, cancel);
    output->write(std::as_bytes(std::span(text)));
  }
  if (output) output->finish();
  if (worst != Exit::ok) throw Failed{worst};
}

}  // namespace gpuaes
