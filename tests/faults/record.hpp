// Shared by both halves of the fault library: the one fault that this process is to meet, and the record of
// what was called and what was injected.
//
// FAULTS_RECORD names the record, a file of entries that scripts/faults creates and reads. It is mapped
// shared, so it survives any way to die. FAULTS_AT is NAME:N for the Nth call that the fault NAME can hit,
// NAME:N+ for that call and all later ones, or empty to count only.
#pragma once

#include <atomic>
#include <cstdint>

namespace faults {

// scripts/faults.d/record.py reads this layout.
struct Entry {
  char name[56];
  std::atomic<std::uint64_t> calls;     // that the fault can hit
  std::atomic<std::uint64_t> injected;  // that it did hit
  char where[128];                      // the first one: path, or descriptor, use and file
};
static_assert(sizeof(Entry) == 200);

// main() begins. Calls before that are not counted.
void begin();

// Whether the code at `address` is the program's own, and not a library's.
bool is_program(const void* address);

// Counts a call that the fault can hit. True if it hits this one. `descriptor` and `path`, where there is
// one, are for the record. Faults spare standard error from the second call on, or the program could not
// report the first.
bool hits(const char* name, int descriptor = -1, const char* path = nullptr);

// The next library's function: what the program would have called. Not dlsym(), which the library replaces.
void* find_next(const char* name);

}  // namespace faults
