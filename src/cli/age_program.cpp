#include "cli/age_program.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <functional>

#include "cli/go_flags.hpp"
#include "cli/program.hpp"
#include "io/fd_source_sink.hpp"
#include "terminal/prompt.hpp"
#include "terminal/version.hpp"

namespace gpuaes {
namespace {

void print_usage(const char* usage) {
  Cancel cancel;
  print(usage, cancel, STDERR_FILENO);
}

bool names_options(const Hint& hint) {
  return hint.advice != Advice::text || (' ' + hint.text).find(" -") != hint.text.npos;
}

void act_like_age(const char* usage, const std::function<void(Messages&)>& act, Messages& messages) {
  messages.set_level(Messages::Level::warnings);
  keep_other_input();
  try {
    act(messages);
  } catch (const UsageRequested& requested) {
    print_usage(usage);
    if (requested.exit != Exit::ok) throw Failed{requested.exit};
  } catch (const FlagError& error) {
    messages.error(error);
    print_usage(usage);
    throw Failed{Exit::usage};
  } catch (const AgeError&) {
    throw;
  } catch (const PipeClosed&) {
    throw;
  } catch (Error& error) {
    if (names_options(error.hint())) error.set_hint({});
    messages.error(error);
    throw Failed{Exit::io};
  }
}

}  // namespace

// Memory may be lacking, so nothing is allocated before run_program(): std::function holds a reference.
int run_age_program(const char* const* argv, std::string_view default_name, const char* usage,
                    const std::function<void(Messages&)>& act) {
  std::string_view name = argv[0] != nullptr ? argv[0] : "";
  name = name.substr(name.rfind('/') + 1);
  const auto act_on = [&](Messages& messages) { act_like_age(usage, act, messages); };
  return run_program(name.empty() ? default_name : name, std::ref(act_on));
}

std::string age_version_text(const std::string& program) {
  constexpr std::string_view age_version = "1.3.0";
  return fmt::format("{} ({} {})\n", age_version, program, version());
}

}  // namespace gpuaes
