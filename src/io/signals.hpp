// What a signal does to the process itself: those that it ignores, and the one to end by.
#pragma once

namespace gpuaes {

// From now on a write to a pipe that nobody reads, or beyond a limit on file sizes, fails as any other,
// instead of ending the process with something half written. And SIGUSR1, which asks how far a run is, does
// not end what has not begun to run. Returns whether SIGPIPE was ignored already.
bool ignore_signals();

// Ends the process by `signal`, with its default action. Call it when all has been unwound and wiped.
[[noreturn]] void die_by(int signal);

}  // namespace gpuaes
