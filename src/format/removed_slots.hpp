// For --rekey: which old slots or stanzas are certainly for no new key.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "format/format.hpp"
#include "keys/keyring.hpp"

namespace gpuaes {

struct OldSlot {
  SlotDescription description;
  std::optional<KeyKind> key;             // none for an unknown type
  std::function<bool(const Key&)> opens;  // for a key of that kind, or the recipient of an SSH key
};

// `now` are the new slots. Tries the new keys on the old slots, a passphrase too, and the identities of the
// request. Old slots that none of these opens may be for new recipients whose identities are not known: only
// those that exceed the number of such recipients, or stanzas of plugins, are certainly removed.
std::vector<SlotDescription> removed_slots(const std::vector<OldSlot>& old,
                                           const std::vector<SlotDescription>& now, const Keyring& new_keys,
                                           const SessionRequest& request);

}  // namespace gpuaes
