/* LD_PRELOAD: the k-th allocation that the library under test makes, of those since failing_allocation(k), fails once;
 * after failing_allocation(-k) so do all that follow it. FAILING_LIBRARY is a part of its file's name. Its C++ run time
 * lies inside it, so whoever calls malloc tells. */
#define _GNU_SOURCE
#include <errno.h>
#include <link.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

void* __libc_malloc(size_t);
void* __libc_calloc(size_t, size_t);
void* __libc_realloc(void*, size_t);
void* __libc_memalign(size_t, size_t);

static atomic_long count, failing;
static uintptr_t first, last; /* of the library's code */

static int find_library(struct dl_phdr_info* object, size_t size, void* name) {
  (void)size;
  if (strstr(object->dlpi_name, name) == NULL) {
    return 0;
  }
  for (int i = 0; i < object->dlpi_phnum; ++i) {
    if (object->dlpi_phdr[i].p_type == PT_LOAD && (object->dlpi_phdr[i].p_flags & PF_X) != 0) {
      first = object->dlpi_addr + object->dlpi_phdr[i].p_vaddr;
      last = first + object->dlpi_phdr[i].p_memsz;
    }
  }
  return 1;
}

/* Returns how many there were; 0: none fails from now on. Less than 0: there is no such library. */
__attribute__((visibility("default"))) long failing_allocation(long k) {
  failing = 0;
  const long before = atomic_exchange(&count, 0);
  char* name = getenv("FAILING_LIBRARY");
  if (last == 0 && (name == NULL || dl_iterate_phdr(find_library, name) == 0)) {
    return -1;
  }
  failing = k;
  return before;
}

static int fails(const void* caller) {
  const uintptr_t address = (uintptr_t)caller;
  const long k = failing;

  if (k == 0 || address < first || address >= last) {
    return 0;
  }
  const long number = atomic_fetch_add(&count, 1) + 1;
  return number == k || (k < 0 && number >= -k);
}

#define EXPORTED __attribute__((visibility("default")))
#define FAILS fails(__builtin_return_address(0))
#define OR_FAIL(call) (FAILS ? (errno = ENOMEM, (void*)NULL) : (call))
EXPORTED void* malloc(size_t bytes) { return OR_FAIL(__libc_malloc(bytes)); }
EXPORTED void* calloc(size_t number, size_t bytes) { return OR_FAIL(__libc_calloc(number, bytes)); }
EXPORTED void* realloc(void* memory, size_t bytes) { return OR_FAIL(__libc_realloc(memory, bytes)); }
EXPORTED void* aligned_alloc(size_t alignment, size_t bytes) { return OR_FAIL(__libc_memalign(alignment, bytes)); }
EXPORTED int posix_memalign(void** memory, size_t alignment, size_t bytes) {
  *memory = OR_FAIL(__libc_memalign(alignment, bytes));
  return *memory == NULL ? ENOMEM : 0;
}
EXPORTED char* strdup(const char* text) {
  const size_t bytes = strlen(text) + 1;
  char* copy = OR_FAIL(__libc_malloc(bytes));
  return copy == NULL ? NULL : memcpy(copy, text, bytes);
}
/* Stacks of turns. */
EXPORTED void* mmap(void* where, size_t bytes, int protection, int flags, int file, off_t offset) {
  if (FAILS) {
    errno = ENOMEM;
    return MAP_FAILED;
  }
  return (void*)syscall(SYS_mmap, where, bytes, protection, flags, file, offset);
}
