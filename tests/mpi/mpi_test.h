// The vocabulary of the MPI tests: expectations that are counted on every rank, the MPI_T counters of coll/topo, and
// the values that ranks put into their buffers. A program's exit status is this rank's verdict: comparing verdicts with
// a collective would trust what is being tested.
#pragma once

#include <mpi.h>

#include <cstdarg>
#include <cstdio>
#include <string>
#include <vector>

namespace mpi_test {

inline int failures = 0;
inline int checks = 0;

__attribute__((format(printf, 2, 3))) inline void expect(bool fact, const char* format, ...) {
  ++checks;
  if (fact || ++failures > 5) return;
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  char line[400];
  std::va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(line, sizeof line, format, arguments);
  va_end(arguments);
  std::fprintf(stderr, "rank %d: expected %s\n", rank, line);
}

/// A counter of coll/topo, read as what was added since this object was made.
class Counter {
 public:
  explicit Counter(const std::string& name) {
    int index = -1;
    MPI_T_pvar_session_create(&session_);
    if (MPI_T_pvar_get_index(name.c_str(), MPI_T_PVAR_CLASS_COUNTER, &index) != MPI_SUCCESS) return;
    int count = 0;
    MPI_T_pvar_handle_alloc(session_, index, nullptr, &handle_, &count);
    start_ = read();
  }
  ~Counter() {
    if (exists()) MPI_T_pvar_handle_free(session_, &handle_);
    MPI_T_pvar_session_free(&session_);
  }
  Counter(const Counter&) = delete;
  Counter& operator=(const Counter&) = delete;

  bool exists() const { return handle_ != MPI_T_PVAR_HANDLE_NULL; }
  unsigned long long since_made() const { return read() - start_; }

 private:
  unsigned long long read() const {
    unsigned long long value = 0;
    if (exists()) MPI_T_pvar_read(session_, handle_, &value);
    return value;
  }
  MPI_T_pvar_session session_ = MPI_T_PVAR_SESSION_NULL;
  MPI_T_pvar_handle handle_ = MPI_T_PVAR_HANDLE_NULL;
  unsigned long long start_ = 0;
};

/// MPI and MPI_T from construction to verdict().
class Job {
 public:
  Job(int* argc, char*** argv, int level = MPI_THREAD_SINGLE) {
    MPI_T_init_thread(level, &provided);
    MPI_Init_thread(argc, argv, level, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  }
  /// The exit status. MPI_T ends first: Open MPI 4.1.4 crashes in MPI_T_finalize after MPI_Finalize.
  int verdict() const {
    expect(checks > 0, "some checks");
    if (failures > 0) std::fprintf(stderr, "rank %d of %d: %d of %d checks failed\n", rank, ranks, failures, checks);
    if (rank == 0 && failures == 0) std::printf("%d checks passed on rank 0 of %d\n", checks, ranks);
    std::fflush(stdout);
    MPI_T_finalize();
    MPI_Finalize();
    return failures > 0 ? 1 : 0;
  }

  int rank = 0;
  int ranks = 0;
  int provided = 0;
};

/// A duplicate of `comm` with info keys coll_topo_NAME, given as name, value, name, value ...
inline MPI_Comm with_settings(MPI_Comm comm, const std::vector<std::string>& settings) {
  MPI_Info info = MPI_INFO_NULL;
  MPI_Info_create(&info);
  for (std::size_t i = 0; i + 1 < settings.size(); i += 2) {
    MPI_Info_set(info, ("coll_topo_" + settings[i]).c_str(), settings[i + 1].c_str());
  }
  MPI_Comm duplicate = MPI_COMM_NULL;
  MPI_Comm_dup_with_info(comm, info, &duplicate);
  MPI_Info_free(&info);
  return duplicate;
}

inline int rank_in(MPI_Comm comm) {
  int rank = 0;
  MPI_Comm_rank(comm, &rank);
  return rank;
}

inline int ranks_of(MPI_Comm comm) {
  int ranks = 0;
  MPI_Comm_size(comm, &ranks);
  return ranks;
}

/// What rank `from` has for rank `to` at place i: no two alike in a test's range, and small enough to add up in an int.
inline int value(int from, int to, std::size_t i) { return 1 + from * 131071 + to * 1021 + static_cast<int>(i % 997); }

}  // namespace mpi_test
