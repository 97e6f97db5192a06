// Errors that say what they are about.
#pragma once

#include <string>

#include "base/error.hpp"

namespace gpuaes {

// Returns `use()`, which uses a file. Puts what an error is about (see Error::within()) before its message.
// Only the output may end the program with SIGPIPE.
template <class Use>
auto name_subject(const std::string& subject, const Use& use) {
  try {
    return use();
  } catch (UsageError& error) {
    error.within(subject);
    throw;
  } catch (PipeClosed& error) {
    error.within(subject);
    throw IoError(error.what(), error.hint());
  } catch (IoError& error) {
    error.within(subject);
    throw;
  }
}

// Calls `action`. Puts the name of the input, unless it is empty, before an error in the input's data.
template <class Action>
void name_input(const std::string& name, const Action& action) {
  try {
    action();
  } catch (InputError& error) {
    error.within(name);
    throw;
  }
}

}  // namespace gpuaes
