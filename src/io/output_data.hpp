// The contents of an output file, from its beginning.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "io/file_sink.hpp"

namespace gpuaes {

class OutputData : public FileSink {
 public:
  struct Rules {
    bool sparse = false;        // blocks of zeros become holes
    std::uint64_t bytes = 0;    // the approximate number expected; 0 if unknown
    std::uint64_t direct_from;  // the size from which on it is written directly to the disk, if possible
  };

  // `fd` is that of an empty file.
  OutputData(Fd fd, std::string name, const Rules& rules, Cancel& cancel);

  void expect(std::uint64_t size) override;
  bool limited_by_disk() const override;
  void write(std::span<const std::byte> bytes) override;
  void finish() override;

  // After the last write(): gives the file its size. IoError.
  void end();

 private:
  bool is_large() const;
  void begin_direct();
  void allocate(std::uint64_t size);
  void write_sparse(std::span<const std::byte> bytes);

  const Rules rules_;
  std::uint64_t expected_ = 0;   // bytes of space reserved
  std::uint64_t allocated_ = 0;  // bytes of the file, if it is written directly
  bool tried_direct_ = false;
  std::uint64_t flushed_ = 0;  // bytes whose write to disk was started
};

}  // namespace gpuaes
