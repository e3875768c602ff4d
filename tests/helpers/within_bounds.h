// What a reader may cost: 10 s and 1 GiB for 1 MB of input. It runs in a process of its own, which the system ends at
// either bound.
#pragma once

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <exception>
#include <functional>
#include <string>

#include "base/sanitizers.h"
#include "colltopo/error.h"

namespace colltopo {

struct Bounds {
  unsigned seconds = 10;
  rlim_t bytes = rlim_t{1} << 30;
};

#if defined(COLLTOPO_SANITIZES_ADDRESS) || defined(COLLTOPO_SANITIZES_THREADS)
inline constexpr bool k_limits_memory = false;  // the sanitizers' own is more
#else
inline constexpr bool k_limits_memory = true;
#endif
/// Than the build that the bounds are of: a sanitizer looks at every access.
inline constexpr unsigned k_times_slower = k_limits_memory ? 1 : 10;

/// "taken", the message of the Error, or how the process ended: "std::bad_alloc", "signal 14" at the bound of time.
inline std::string within_bounds(const std::function<void()>& read, const Bounds& bounds = {}) {
  std::array<int, 2> ends{};
  if (pipe(ends.data()) != 0) return "no pipe";
  const pid_t child = fork();
  if (child == 0) {
    const rlim_t most_seconds = bounds.seconds * k_times_slower;
    const rlimit memory{bounds.bytes, bounds.bytes}, seconds{most_seconds, most_seconds + 1};
    if (k_limits_memory) setrlimit(RLIMIT_AS, &memory);
    setrlimit(RLIMIT_CPU, &seconds);  // the machine may be busy with others
    std::string answer = "taken";
    try {
      read();
    } catch (const Error& error) {
      answer = error.what();
    } catch (const std::exception& error) {
      answer = std::string("another exception: ") + error.what();
    }
    answer.resize(std::min<std::size_t>(answer.size(), 4000));  // what a pipe holds without a reader
    _exit(write(ends[1], answer.data(), answer.size()) < 0 ? 1 : 0);
  }
  close(ends[1]);
  int status = 0;
  waitpid(child, &status, 0);
  std::array<char, 4096> text{};
  const ssize_t got = ::read(ends[0], text.data(), text.size());
  close(ends[0]);
  if (WIFSIGNALED(status)) return "signal " + std::to_string(WTERMSIG(status));
  return {text.data(), static_cast<std::size_t>(got < 0 ? 0 : got)};
}

/// `count` times the text.
inline std::string repeated(const std::string& text, std::size_t count) {
  std::string all;
  all.reserve(text.size() * count);
  while (count-- > 0) all += text;
  return all;
}

}  // namespace colltopo
