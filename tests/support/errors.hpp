// Errors that a call throws, as a value or as text.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/error.hpp"
#include "io/cancel.hpp"

namespace gpuaes {

// The error of type E that `call` throws, or nothing if it returns. Does not catch other types.
template <class E, class Call>
std::optional<E> error_of(Call&& call) {
  try {
    std::forward<Call>(call)();
  } catch (const E& error) {
    return error;
  }
  return std::nullopt;
}

// The error that `call` throws, as "TYPE: MESSAGE" or "cancelled: SIGNAL"; empty if it returns.
template <class Call>
std::string failure_of(Call&& call) {
  try {
    std::forward<Call>(call)();
  } catch (const LaneError& error) {
    return std::string("lane: ") + error.what();
  } catch (const PipeClosed& error) {
    return std::string("pipe closed: ") + error.what();
  } catch (const IoError& error) {
    return std::string("io: ") + error.what();
  } catch (const UsageError& error) {
    return std::string("usage: ") + error.what();
  } catch (const KeyError& error) {
    return std::string("key: ") + error.what();
  } catch (const AuthError& error) {
    return std::string("auth: ") + error.what();
  } catch (const VersionError& error) {
    return std::string("version: ") + error.what();
  } catch (const Cancelled& cancelled) {
    return "cancelled: " + std::to_string(cancelled.signal);
  }
  return {};
}

inline bool contains(std::string_view text, std::string_view part) {
  return text.find(part) != text.npos;
}

}  // namespace gpuaes
