// Work on several threads, for all code but the runtimes.
#pragma once

#include <cstddef>
#include <functional>

namespace msprof {

// Returns the number of cores, limited to `most`; at least 1.
std::size_t core_count(std::size_t most);

// Calls `work` for each item below `count`, in ascending order, on at most `threads` threads.
// Passes the number of the thread, below `threads`, for data of which each thread has its own; 0 is
// the calling thread. If the system provides fewer threads, those do all the work. Starts no item
// after an exception, and rethrows the one that a single thread would have thrown.
void in_parallel(std::size_t count, std::size_t threads,
                 const std::function<void(std::size_t item, std::size_t thread)>& work);

// Runs both functions at the same time; rethrows the exception of `first` if both throw. If one
// throws, the other may not start.
void in_parallel(const std::function<void()>& first, const std::function<void()>& second);

}  // namespace msprof
