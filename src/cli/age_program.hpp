// What gpuage and gpuage-keygen have in common: errors and exit statuses as callers of age and age-keygen
// expect.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "base/error.hpp"
#include "terminal/messages.hpp"

namespace gpuaes {

// An error whose hint uses the options of age.
class AgeError : public Error {
 public:
  explicit AgeError(const std::string& message, const std::string& hint = {})
      : Error(Exit::io, message, hint) {}
};

// Calls `act`, as run_program() does, with messages that begin with the name by which the program was called.
// The exit status of every error is 1, or 2 with the usage if the flags cannot be parsed; -h prints the
// usage. Hints that name options of gpuaes-stream are left out.
int run_age_program(const char* const* argv, std::string_view default_name, const char* usage,
                    const std::function<void(Messages&)>& act);

// The version of age whose command line the program has, in the form that callers expect, and its own.
std::string age_version_text(const std::string& program);

}  // namespace gpuaes
