// A user's buffer of any size that costs no memory as long as nobody writes it: benchmarks of the core move messages
// without their bytes.
#pragma once

#include <sys/mman.h>

#include <cstddef>
#include <functional>
#include <new>

namespace colltopo::bench {

class LazyBuffer {
 public:
  explicit LazyBuffer(std::size_t bytes) : bytes_(bytes > 0 ? bytes : 1) {
    begin_ = mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (begin_ == MAP_FAILED) throw std::bad_alloc();
    madvise(begin_, bytes_, MADV_NOHUGEPAGE);
  }
  ~LazyBuffer() { munmap(begin_, bytes_); }
  LazyBuffer(const LazyBuffer&) = delete;
  LazyBuffer& operator=(const LazyBuffer&) = delete;

  void* data() const { return begin_; }
  std::size_t size() const { return bytes_; }
  /// Whether an address lies in it.
  bool has(const void* address) const {
    const auto* const begin = static_cast<const std::byte*>(begin_);
    return !std::less<>()(address, begin_) && std::less<const void*>()(address, begin + bytes_);
  }
  /// Makes it memory, for measurements that its first touch would disturb.
  void touch() const {
    for (std::size_t i = 0; i < bytes_; i += 4096) static_cast<volatile std::byte*>(begin_)[i] = std::byte{0};
  }
  /// Gives back what was written: it reads as zeros again.
  void forget() const { madvise(begin_, bytes_, MADV_DONTNEED); }

 private:
  void* begin_ = nullptr;
  std::size_t bytes_ = 0;
};

}  // namespace colltopo::bench
