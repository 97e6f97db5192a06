// Headers apart from their files: --export-header writes one, --rekey replaces its slots or stanzas, and
// --header uses it instead of the input's own.
#pragma once

#include <string>

#include "cli/requests.hpp"
#include "format/format.hpp"
#include "format/header_reader.hpp"
#include "io/cancel.hpp"
#include "run/endpoints.hpp"
#include "terminal/messages.hpp"

namespace gpuaes {

// Writes the header of an input to the output. UsageError or AuthError if the keys of its format cannot be
// replaced.
void export_header(const ExportHeaderRequest& request, const Messages& messages);

// A reader for the header in the file `named`, followed by the rest of the input, whose own header is taken.
// It counts bytes as if they came from the input. UsageError if the format has no keys that can be replaced;
// AuthError if the headers show that they belong to different files; IoError.
HeaderReader read_separate_header(const NamedFile& named, const Format& format, OpenedInput& input,
                                  Cancel& cancel);

}  // namespace gpuaes
