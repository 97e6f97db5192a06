// Shared by both halves of the fault library: the fault to inject into this process, and the record of calls
// and injected faults.
//
// FAULTS_RECORD names the record, a file of entries that scripts/faults creates and reads. It is mapped
// shared, so it survives however the process ends. FAULTS_AT is NAME:N for the Nth call that the fault NAME
// can hit, NAME:N+ for that call and all later ones, several of these separated by commas, or empty to only
// count calls.
#pragma once

#include <atomic>
#include <cstdint>

namespace faults {

// scripts/faults.d/execution.py reads this layout.
struct Entry {
  char name[56];
  std::atomic<std::uint64_t> calls;     // calls that the fault can hit
  std::atomic<std::uint64_t> injected;  // calls that it did hit
  // About the first call that it hit:
  std::uint64_t synced;  // number of files that were written and synced before
  std::int64_t target;   // which of those files it hit, or -1
  char where[256];       // what it hit: path, or descriptor, use and file
  char named[96];        // the names that files had been given, each followed by a comma
};
static_assert(sizeof(Entry) == 440);

// Called when main() begins. Earlier calls are not counted.
void begin();

// Whether the code at `address` belongs to the program rather than a library.
bool is_program(const void* address);

// Counts a call that the fault can hit. True if it hits this one. `descriptor` and `path` are for the record.
// If a fault is repeated, only the first one can hit standard error, so the program can report it.
bool hits(const char* name, int descriptor = -1, const char* path = nullptr);

// After a call that synced what was written to a file, or that gave a file a name. Hidden names do not count.
void note_synced(int descriptor);
void note_named(const char* path);

// The function that the program would have called without this library. Does not use dlsym(), because it is
// replaced.
void* find_next(const char* name);

}  // namespace faults
