// Errors for secrets that do not open a sealed file.
#pragma once

#include "format/format.hpp"
#include "format/sealed.hpp"

namespace gpuaes {

// UnsuitableInput if the user named no secret, unless the input needs only a passphrase that can be asked
// for.
void check_any_given(const SealedHeader& header, const SessionRequest& request);

// Throws KeyError: names the secrets that were tried or, if there were none, the kind that is missing.
[[noreturn]] void refuse_secrets(const SealedHeader& header, const SessionRequest& request);

}  // namespace gpuaes
