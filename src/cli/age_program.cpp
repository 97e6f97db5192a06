#include "cli/age_program.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <filesystem>

#include "cli/go_flags.hpp"
#include "cli/program.hpp"
#include "cli/version.hpp"

namespace gpuaes {
namespace {

void print_usage(const std::string& usage) {
  Cancel cancel;
  print(usage, cancel, STDERR_FILENO);
}

}  // namespace

int run_age_program(const char* const* argv, const std::string& default_name, const std::string& usage,
                    const std::function<void(Messages&)>& act) {
  const std::string name = argv[0] != nullptr ? std::filesystem::path(argv[0]).filename().string() : "";
  return run_program(name.empty() ? default_name : name, [&](Messages& messages) {
    messages.set_level(Messages::Level::warnings);
    try {
      act(messages);
    } catch (const HelpRequested&) {
      print_usage(usage);
    } catch (const FlagError& error) {
      messages.error(error);
      print_usage(usage);
      throw Failed{Exit::usage};
    } catch (const AgeError&) {
      throw;
    } catch (const PipeClosed&) {
      throw;
    } catch (const Error& error) {
      throw Error(Exit::io, error.what());
    }
  });
}

std::string age_version_text(const std::string& program) {
  constexpr std::string_view age_version = "1.3.0";
  return fmt::format("{} ({} {})\n", age_version, program, version());
}

}  // namespace gpuaes
