// What a signal does to the process itself: those that a failed write brings, and the one to end by.
#pragma once

namespace gpuaes {

// From now on a write to a pipe that nobody reads, or beyond a limit on file sizes, fails as any other,
// instead of ending the process with something half written. Returns whether SIGPIPE was ignored already.
bool ignore_write_signals();

// Ends the process by `signal`, with its default action. Call it when all has been unwound and wiped.
[[noreturn]] void die_by(int signal);

}  // namespace gpuaes
