#include "failing.h"

#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <new>

namespace colltopo::memory {

bool armed = false;
long allocations = 0, failing = 0;

namespace {
bool fails() { return armed && ++allocations == failing; }
}  // namespace

}  // namespace colltopo::memory

using colltopo::memory::fails;

void* operator new(std::size_t bytes) {
  void* const memory = fails() ? nullptr : std::malloc(bytes == 0 ? 1 : bytes);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}
void* operator new(std::size_t bytes, std::align_val_t alignment) {
  const auto whole = static_cast<std::size_t>(alignment);
  void* const memory = fails() ? nullptr : std::aligned_alloc(whole, (bytes + whole - 1) / whole * whole);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept { std::free(memory); }
// Stacks of turns.
extern "C" void* mmap(void* where, std::size_t bytes, int protection, int flags, int file, off_t offset) noexcept {
  if (fails()) {
    errno = ENOMEM;
    return MAP_FAILED;
  }
  return reinterpret_cast<void*>(syscall(SYS_mmap, where, bytes, protection, flags, file, offset));
}
