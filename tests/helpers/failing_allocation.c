/* LD_PRELOAD: the k-th allocation that the library under test makes, of those since failing_allocation(k), fails once.
 * FAILING_LIBRARY is a part of its file's name. Its C++ run time lies inside it, so whoever calls malloc tells. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

void* __libc_malloc(size_t);
void* __libc_calloc(size_t, size_t);
void* __libc_realloc(void*, size_t);
void* __libc_memalign(size_t, size_t);

static atomic_long count, failing;

/* Returns how many there were; 0: none fails from now on. */
__attribute__((visibility("default"))) long failing_allocation(long k) {
  failing = 0;
  const long before = atomic_exchange(&count, 0);
  failing = k;
  return before;
}

static int fails(const void* caller) {
  static _Thread_local int inside;
  const char* library = getenv("FAILING_LIBRARY");
  Dl_info found;
  int answer = 0;

  if (failing == 0 || inside || library == NULL) {
    return 0;
  }
  inside = 1;
  if (dladdr(caller, &found) != 0 && strstr(found.dli_fname, library) != NULL) {
    answer = atomic_fetch_add(&count, 1) + 1 == failing;
  }
  inside = 0;
  return answer;
}

#define EXPORTED __attribute__((visibility("default")))
#define OR_FAIL(call) (fails(__builtin_return_address(0)) ? (errno = ENOMEM, (void*)NULL) : (call))
EXPORTED void* malloc(size_t bytes) { return OR_FAIL(__libc_malloc(bytes)); }
EXPORTED void* calloc(size_t number, size_t bytes) { return OR_FAIL(__libc_calloc(number, bytes)); }
EXPORTED void* realloc(void* memory, size_t bytes) { return OR_FAIL(__libc_realloc(memory, bytes)); }
EXPORTED void* aligned_alloc(size_t alignment, size_t bytes) { return OR_FAIL(__libc_memalign(alignment, bytes)); }
EXPORTED int posix_memalign(void** memory, size_t alignment, size_t bytes) {
  *memory = OR_FAIL(__libc_memalign(alignment, bytes));
  return *memory == NULL ? ENOMEM : 0;
}
