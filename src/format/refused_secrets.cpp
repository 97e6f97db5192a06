#include "format/refused_secrets.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.hpp"
#include "keys/ml_kem.hpp"

namespace gpuaes {
namespace {

// KeyError if there are slots that one of the identities might open with a newer libcrypto.
void refuse_unavailable(const SealedHeader& header, std::span<const Identity> identities) {
  std::vector<std::size_t> untried;  // numbers, as --info shows them
  for (std::size_t i = 0; i < header.slots.size(); ++i) {
    const auto might_open = [&](const Identity& identity) {
      return kem_of(header.slots[i].type) == identity.kem && !info(identity.kem).is_available();
    };
    if (std::ranges::any_of(identities, might_open)) untried.push_back(i + 1);
  }
  if (!untried.empty())
    throw KeyError(fmt::format("no slot opens the input, but slot{} {} could not be tried: {}",
                               untried.size() == 1 ? "" : "s", fmt::join(untried, ", "), lacks_ml_kem()),
                   lacks_ml_kem_hint);
}

// A kind of secret that can open a file.
struct SecretKind {
  SlotType slot;
  std::string_view name;
  bool given;
  std::string_view wrong, missing, missing_hint;  // messages
};

// The kinds for which the header has slots.
std::vector<SecretKind> kinds_of_slots(const SealedHeader& header, const SessionRequest& request) {
  const auto has_identity = [&request](Kem kem) {
    return std::ranges::find(request.identities, kem, &Identity::kem) != request.identities.end();
  };
  std::vector<SecretKind> kinds{
      {SlotType::key_file, "a key file", !request.keys.empty(), "none of the given keys opens the input",
       "the input was sealed with a key file, and none was given", "name the key file with -k"},
      {SlotType::x25519, "an X25519 identity", has_identity(Kem::x25519),
       "none of the given identities opens the input",
       "the input was sealed for an X25519 recipient, and no X25519 identity was given",
       "name the identity file with -k"},
      {SlotType::xwing, "a post-quantum identity", has_identity(Kem::xwing),
       "none of the given identities opens the input",
       "the input was sealed for a post-quantum recipient, and no post-quantum identity was given",
       "name the identity file with -k"},
      {SlotType::passphrase, "a passphrase", static_cast<bool>(request.passphrase),
       "the passphrase does not open the input", "the input was sealed with a passphrase, and none was given",
       "use -p to enter the passphrase"},
  };
  std::erase_if(kinds, [&header](const SecretKind& kind) { return !has_slot(header, kind.slot); });
  return kinds;
}

}  // namespace

void check_any_given(const SealedHeader& header, const SessionRequest& request) {
  if (!request.none_given) return;
  const std::vector<SecretKind> kinds = kinds_of_slots(header, request);
  if (kinds.empty()) return;
  if (kinds.size() > 1) {
    std::vector<std::string_view> names;
    for (const SecretKind& kind : std::span(kinds).first(kinds.size() - 1)) names.push_back(kind.name);
    throw UnsuitableInput(fmt::format("no key or passphrase was given; the input can be opened with {} or {}",
                                      fmt::join(names, ", "), kinds.back().name),
                          "name a key or identity file with -k, or use -p to enter a passphrase");
  }
  if (kinds[0].slot != SlotType::passphrase)
    throw UnsuitableInput(std::string(kinds[0].missing), std::string(kinds[0].missing_hint));
  if (!request.passphrase)
    throw UnsuitableInput(std::string(kinds[0].missing),
                          "there is no terminal for a prompt; use --passphrase-file or --passphrase-command");
}

void refuse_secrets(const SealedHeader& header, const SessionRequest& request) {
  refuse_unavailable(header, request.identities);
  const std::vector<SecretKind> present = kinds_of_slots(header, request);
  std::vector<SecretKind> tried = present;
  std::erase_if(tried, [](const SecretKind& kind) { return !kind.given; });
  if (!tried.empty())
    throw KeyError(
        std::string(tried.size() == 1 ? tried.front().wrong : "none of the given secrets opens the input"),
        "the input was sealed with other secrets, or its header is damaged; --info lists its slots");
  if (present.empty())
    throw KeyError("the input has only key slots that this version does not support",
                   "try a later version of gpuaes-stream");
  throw KeyError(std::string(present.front().missing), std::string(present.front().missing_hint));
}

}  // namespace gpuaes
