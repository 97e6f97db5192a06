// An input to decrypt, perhaps armored.
#pragma once

#include <memory>

#include "format/format.hpp"
#include "format/header_reader.hpp"
#include "format/parts/directory.hpp"
#include "io/source_sink.hpp"

namespace gpuaes {

// Returns a reader for the header at the beginning of `source`, which must outlive it. In a directory, the
// header is followed by the index.
HeaderReader header_reader(Source& source, PartsDirectory* directory = nullptr);

// An input to decrypt. If it begins with armor (of the named format, unless that is null), the header and the
// body are what the armor encodes.
class OpenedInput {
  std::unique_ptr<Source> pasted_;
  Source& source_;
  const Format* armored_format_ = nullptr;
  std::unique_ptr<Source> armor_;

 public:
  // Reads from `source`, which must outlive it and has not been read yet.
  OpenedInput(Source& source, PartsDirectory* directory, const Format* named = nullptr);

  HeaderReader header;

  bool is_armored() const { return armor_ != nullptr; }
  Source& body() { return armor_ ? *armor_ : source_; }  // once the header has been taken

  // The format of the armor, or else what `detect` detects.
  const Format& format(const Format& (*detect)(HeaderReader& input)) {
    return armored_format_ != nullptr ? *armored_format_ : detect(header);
  }
};

}  // namespace gpuaes
