// Shared by both halves of the fault library: the fault to inject into this process, and the record of calls
// and injected faults.
//
// FAULTS_RECORD names the record, a file of entries that scripts/faults creates and reads. It is mapped
// shared, so it survives however the process ends. FAULTS_AT is NAME:N for the Nth call that the fault NAME
// can hit, NAME:N+ for that call and all later ones, or empty to only count calls.
#pragma once

#include <atomic>
#include <cstdint>

namespace faults {

// scripts/faults.d/execution.py reads this layout.
struct Entry {
  char name[56];
  std::atomic<std::uint64_t> calls;     // calls that the fault can hit
  std::atomic<std::uint64_t> injected;  // calls that it did hit
  char where[256];                      // what it hit first: path, or descriptor, use and file
};
static_assert(sizeof(Entry) == 328);

// Called when main() begins. Earlier calls are not counted.
void begin();

// Whether the code at `address` belongs to the program rather than a library.
bool is_program(const void* address);

// Counts a call that the fault can hit. True if it hits this one. `descriptor` and `path` are for the record.
// If a fault is repeated, only the first one can hit standard error, so the program can report it.
bool hits(const char* name, int descriptor = -1, const char* path = nullptr);

// The function that the program would have called without this library. Does not use dlsym(), because it is
// replaced.
void* find_next(const char* name);

}  // namespace faults
