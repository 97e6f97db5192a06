#include "format/removed_slots.hpp"

#include <algorithm>
#include <cstddef>
#include <map>
#include <set>
#include <string>

#include "base/error.hpp"
#include "keys/recipient.hpp"

namespace gpuaes {
namespace {

// A key to try on old slots.
struct Opener {
  const Key* key;
  std::size_t new_slots;  // how many of them are for this key
};

// Identities show which slots are for their recipients. A new recipient without its identity shows nothing.
std::vector<Opener> openers_of(const Keyring& old_keys, const Keyring& new_keys) {
  std::vector<Opener> openers;
  for (const Key& key : new_keys.keys)
    if (!is_asymmetric(key.kind) || is_ssh(key.kind)) openers.push_back({&key, 1});
  std::set<PublicBytes> recipients;
  for (const Key& identity : old_keys.keys) {
    const bool is_tried = is_asymmetric(identity.kind) && !is_ssh(identity.kind) && !identity.plugin;
    if (!is_tried || new_keys.count(identity.kind) == 0) continue;
    const PublicBytes recipient = recipient_of(identity).public_key;
    const auto new_slots = std::ranges::count(new_keys.keys, recipient, &Key::public_key);
    if (recipients.insert(recipient).second)
      openers.push_back({&identity, static_cast<std::size_t>(new_slots)});
  }
  return openers;
}

// Whether the slot is for a new key; none if no opener shows it.
std::optional<bool> is_kept(const OldSlot& slot, const std::vector<Opener>& openers, const StopCheck& check) {
  for (const Opener& opener : openers) {
    if (opener.key->kind != slot.key) continue;
    if (check) check();
    try {
      if (slot.opens(*opener.key)) return opener.new_slots > 0;
    } catch (const AuthError&) {  // malformed, so no key opens it
    } catch (const IoError&) {    // too little memory for scrypt
      return true;
    }
  }
  return std::nullopt;
}

// The new slots of an old slot's kind that are not known to be for an opener.
std::size_t count_unrecognized(const OldSlot& old, const std::vector<SlotDescription>& now,
                               const std::vector<Opener>& openers) {
  auto count =
      static_cast<std::size_t>(std::ranges::count(now, old.description.kind, &SlotDescription::kind));
  for (const Opener& opener : openers)
    if (opener.key->kind == old.key) count -= opener.new_slots;
  return count;
}

}  // namespace

std::vector<SlotDescription> removed_slots(const std::vector<OldSlot>& old,
                                           const std::vector<SlotDescription>& now, const Keyring& new_keys,
                                           const SessionRequest& request) {
  const std::vector<Opener> openers = openers_of(request.keyring, new_keys);
  std::map<std::string, std::size_t> unrecognized;  // old slots, by kind
  std::vector<SlotDescription> removed;
  for (const OldSlot& slot : old) {
    std::optional<bool> kept = is_kept(slot, openers, request.check);
    if (!kept) kept = ++unrecognized[slot.description.kind] <= count_unrecognized(slot, now, openers);
    if (!*kept) removed.push_back(slot.description);
  }
  return removed;
}

}  // namespace gpuaes
