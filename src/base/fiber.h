// A body of code that may stop in the middle and go on later, on a stack of its own: for code that waits, called by
// code that must not.
#pragma once

#include <cstddef>
#include <memory>

namespace colltopo {

class Fiber {
 public:
  /// Throws std::bad_alloc.
  Fiber();
  /// Only when the body is over, or has never run.
  ~Fiber();
  Fiber(const Fiber&) = delete;
  Fiber& operator=(const Fiber&) = delete;

  /// The first, or the one before it is over. Takes no memory; `body` lets no exception out. Nothing runs yet.
  void set(void (*body)(void*), void* context) noexcept;
  /// Runs the body until it pauses or ends; true: it is over. Any thread may, one at a time.
  bool resume();
  /// From within the body, and not inside a catch: back to whoever resumed it.
  void pause();

  static constexpr std::size_t k_stack_bytes = std::size_t{1} << 20;  // of which a system gives what is touched

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace colltopo
