// Fibers by ucontext: POSIX has had it, glibc and musl's libucontext have it, and it costs two system calls per switch,
// which the first call of a communicator does not notice.

#include "base/fiber.h"

#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#include <bit>
#include <cstdint>
#include <new>

#include "base/sanitizers.h"

// Sanitizers want to know which stack they are on.
#if defined(COLLTOPO_SANITIZES_ADDRESS)
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif
#if defined(COLLTOPO_SANITIZES_THREADS)
#include <sanitizer/tsan_interface.h>
#endif

namespace colltopo {

namespace {

std::size_t page_bytes() { return static_cast<std::size_t>(sysconf(_SC_PAGESIZE)); }

/// Memory with a page at its end that nobody may touch.
class Stack {
 public:
  Stack() : bytes_(Fiber::k_stack_bytes + page_bytes()) {
    memory_ = mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
    if (memory_ == MAP_FAILED) throw std::bad_alloc();
    mprotect(memory_, page_bytes(), PROT_NONE);
  }
  ~Stack() { munmap(memory_, bytes_); }
  Stack(const Stack&) = delete;
  Stack& operator=(const Stack&) = delete;

  void* first() const { return static_cast<char*>(memory_) + page_bytes(); }

 private:
  std::size_t bytes_;
  void* memory_;
};

}  // namespace

struct Fiber::State {
#if defined(COLLTOPO_SANITIZES_THREADS)
  ~State() {
    if (tsan != nullptr) __tsan_destroy_fiber(tsan);
  }
#endif

  // makecontext hands on ints.
  static void enter(unsigned high, unsigned low) {
    auto* const state = std::bit_cast<State*>(static_cast<std::uintptr_t>(std::uint64_t{high} << 32 | low));
    state->arrived(nullptr);
    state->body(state->context);
    state->over = true;
    state->leave(true);
  }
  void switch_in() {
#if defined(COLLTOPO_SANITIZES_ADDRESS)
    void* own = nullptr;
    __sanitizer_start_switch_fiber(&own, stack.first(), k_stack_bytes);
#endif
#if defined(COLLTOPO_SANITIZES_THREADS)
    thread = __tsan_get_current_fiber();
    __tsan_switch_to_fiber(tsan, 0);
#endif
    swapcontext(&outside, &inside);
#if defined(COLLTOPO_SANITIZES_ADDRESS)
    __sanitizer_finish_switch_fiber(own, nullptr, nullptr);
#endif
  }
  void arrived([[maybe_unused]] void* own) {
#if defined(COLLTOPO_SANITIZES_ADDRESS)
    __sanitizer_finish_switch_fiber(own, &outside_stack, &outside_bytes);
#endif
  }
  void leave([[maybe_unused]] bool for_ever) {
    [[maybe_unused]] void* own = nullptr;
#if defined(COLLTOPO_SANITIZES_ADDRESS)
    __sanitizer_start_switch_fiber(for_ever ? nullptr : &own, outside_stack, outside_bytes);
#endif
#if defined(COLLTOPO_SANITIZES_THREADS)
    __tsan_switch_to_fiber(thread, 0);
#endif
    swapcontext(&inside, &outside);
    arrived(own);
  }

  /// What a body before left behind on the stack is nothing to the next.
  void forget_frames() {
#if defined(COLLTOPO_SANITIZES_ADDRESS)
    __asan_unpoison_memory_region(stack.first(), k_stack_bytes);
#endif
#if defined(COLLTOPO_SANITIZES_THREADS)
    if (tsan != nullptr) __tsan_destroy_fiber(tsan);
    tsan = __tsan_create_fiber(0);
#endif
  }

  void (*body)(void*) = nullptr;
  void* context = nullptr;
  Stack stack;
  ucontext_t inside{}, outside{};
  bool over = false;
#if defined(COLLTOPO_SANITIZES_ADDRESS)
  const void* outside_stack = nullptr;
  std::size_t outside_bytes = 0;
#endif
#if defined(COLLTOPO_SANITIZES_THREADS)
  void* tsan = nullptr;
  void* thread = nullptr;
#endif
};

Fiber::Fiber() : state_(std::make_unique<State>()) {}

Fiber::~Fiber() = default;

void Fiber::set(void (*body)(void*), void* context) noexcept {
  state_->body = body;
  state_->context = context;
  state_->over = false;
  state_->forget_frames();
  getcontext(&state_->inside);
  state_->inside.uc_stack.ss_sp = state_->stack.first();
  state_->inside.uc_stack.ss_size = k_stack_bytes;
  state_->inside.uc_link = nullptr;
  const std::uint64_t address = reinterpret_cast<std::uintptr_t>(state_.get());
  makecontext(&state_->inside, reinterpret_cast<void (*)()>(State::enter), 2, static_cast<unsigned>(address >> 32),
              static_cast<unsigned>(address));
}

bool Fiber::resume() {
  state_->switch_in();
  return state_->over;
}

void Fiber::pause() { state_->leave(false); }

}  // namespace colltopo
