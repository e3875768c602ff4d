// Memory of programs that time calls.
#pragma once

#include <malloc.h>

namespace colltopo {

/// What is freed stays with the process from now on. Open MPI's reductions take and free a vector of memory in each
/// call; where that happens to be at the end of the heap, the kernel has it back every time, and the call takes 6 to 15
/// times as long: an accident of what was allocated before it, which any program may or may not meet.
inline void keep_freed_memory() {
  constexpr int k_most = 1 << 25;  // bytes, of a block in the heap, which is the most that glibc takes
  mallopt(M_MMAP_THRESHOLD, k_most);
  mallopt(M_TRIM_THRESHOLD, 1 << 30);
}

}  // namespace colltopo
