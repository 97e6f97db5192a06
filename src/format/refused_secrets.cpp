#include "format/refused_secrets.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

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
void refuse_unavailable(const SealedHeader& header, const Keyring& keyring) {
  std::vector<std::size_t> untried;  // numbers, as --info shows them
  for (std::size_t i = 0; i < header.slots.size(); ++i) {
    const SlotKind* const kind = find_slot_kind(header.slots[i].type);
    const Kem* const kem = kind != nullptr ? kem_of(kind->key) : nullptr;
    if (kem != nullptr && !kem->is_available() && keyring.count(kind->key) > 0) untried.push_back(i + 1);
  }
  if (!untried.empty())
    throw KeyError(fmt::format("no slot opens the input, but slot{} {} could not be tried: {}",
                               untried.size() == 1 ? "" : "s", fmt::join(untried, ", "), lacks_ml_kem()),
                   lacks_ml_kem_hint);
}

std::vector<const SlotKind*> kinds_of_slots(const SealedHeader& header) {
  std::vector<const SlotKind*> kinds;
  for (const SlotKind& kind : slot_kinds())
    if (has_slot(header, kind.type)) kinds.push_back(&kind);
  return kinds;
}

}  // namespace

void check_any_given(const SealedHeader& header, const SessionRequest& request) {
  if (!request.keyring.none_given) return;
  const std::vector<const SlotKind*> kinds = kinds_of_slots(header);
  if (kinds.empty()) return;
  if (kinds.size() > 1) {
    std::vector<std::string_view> names;
    for (const SlotKind* kind : std::span(kinds).first(kinds.size() - 1)) names.push_back(kind->secret);
    throw UnsuitableInput(fmt::format("no key or passphrase was given; the input can be opened with {} or {}",
                                      fmt::join(names, ", "), kinds.back()->secret),
                          "name a key or identity file with -k, or use -p to enter a passphrase");
  }
  if (kinds[0]->key != KeyKind::passphrase)
    throw UnsuitableInput(std::string(kinds[0]->missing), std::string(kinds[0]->missing_hint));
  if (request.keyring.keys.empty())
    throw UnsuitableInput(std::string(kinds[0]->missing),
                          "there is no terminal for a prompt; use --passphrase-file or --passphrase-command");
}

void refuse_secrets(const SealedHeader& header, const SessionRequest& request) {
  refuse_unavailable(header, request.keyring);
  const std::vector<const SlotKind*> present = kinds_of_slots(header);
  std::vector<const SlotKind*> tried = present;
  std::erase_if(tried, [&](const SlotKind* kind) { return request.keyring.count(kind->key) == 0; });
  if (!tried.empty())
    throw KeyError(
        std::string(tried.size() == 1 ? tried.front()->wrong : "none of the given secrets opens the input"),
        "the input was sealed with other secrets, or its header is damaged; --info lists its slots");
  if (present.empty())
    throw KeyError("the input has only key slots that this version does not support",
                   "try a later version of gpuaes-stream");
  throw KeyError(std::string(present.front()->missing), std::string(present.front()->missing_hint));
}

}  // namespace gpuaes
