// Where the address space is limited, OpenBLAS may wait for ever: its start asks for memory of every thread that the
// machine has room for, again and again, before main(). This runs before that, and begins the program anew with one
// thread; threads that a method wants are made when it wants them.
#include <sys/resource.h>
#include <unistd.h>

#include <cstring>

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)

namespace {

constexpr int k_most_variables = 8192;
char threads_of_blas[] = "OPENBLAS_NUM_THREADS=1";

// Nothing of the program or of its libraries has been set up yet.
void begin_with_one_thread(int, char** arguments, char** environment) {
  static char* variables[k_most_variables + 2];
  rlimit space{};
  if (getrlimit(RLIMIT_AS, &space) != 0 || space.rlim_cur == RLIM_INFINITY) return;
  int number = 0;
  for (; environment[number] != nullptr; ++number) {
    if (number == k_most_variables || std::strcmp(environment[number], threads_of_blas) == 0) return;
    const bool is_other = std::strncmp(environment[number], threads_of_blas, std::strlen("OPENBLAS_NUM_THREADS=")) == 0;
    variables[number] = is_other ? threads_of_blas : environment[number];
  }
  variables[number] = threads_of_blas;
  execve("/proc/self/exe", arguments, variables);
}

__attribute__((section(".preinit_array"), used)) void (*const before_libraries)(int, char**,
                                                                                char**) = begin_with_one_thread;

}  // namespace

#endif
