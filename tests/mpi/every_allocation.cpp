// Every allocation of a communicator's first calls fails once, on one rank: `every_allocation CALL RANK FROM` goes from
// the FROM-th on until one goes by that nobody makes, or a call fails (status 7: others may wait, so the job ends).
// Prints "k N ..." for each; a call that does not end in 10 s, or ends with wrong data, is named.
#include <dlfcn.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>

#include "mpi_test.h"
// After mpi.h.
#include <mpi-ext.h>

namespace {

long k = 0;
int own_rank = 0;

void end_with(const char* what, int status) {
  char line[100];
  const int length = std::snprintf(line, sizeof line, "k %ld rank %d %s\n", k, own_rank, what);
  if (write(1, line, static_cast<std::size_t>(length)) < 0) _exit(3);
  _exit(status);
}
void hangs(int) { end_with("HANGS", own_rank == 0 ? 9 : 7); }
void crashes(int) { end_with("CRASHES", 8); }

int run(const std::string& call, std::vector<int>& in, std::vector<int>& out, int ints, MPI_Comm comm) {
  const std::vector<int> counts(in.size(), ints);
  std::vector<int> places;
  for (std::size_t i = 0; i < in.size(); ++i) places.push_back(static_cast<int>(i) * ints);
  MPI_Request request = MPI_REQUEST_NULL;
  int rc = MPI_SUCCESS;
  if (call == "alltoall") return MPI_Alltoall(in.data(), ints, MPI_INT, out.data(), ints, MPI_INT, comm);
  if (call == "alltoallv")
    return MPI_Alltoallv(in.data(), counts.data(), places.data(), MPI_INT, out.data(), counts.data(), places.data(),
                         MPI_INT, comm);
  if (call == "ialltoall")
    rc = MPI_Ialltoall(in.data(), ints, MPI_INT, out.data(), ints, MPI_INT, comm, &request);
  else if (call == "ialltoallv")
    rc = MPI_Ialltoallv(in.data(), counts.data(), places.data(), MPI_INT, out.data(), counts.data(), places.data(),
                        MPI_INT, comm, &request);
  else
    rc = MPIX_Alltoall_init(in.data(), ints, MPI_INT, out.data(), ints, MPI_INT, comm, MPI_INFO_NULL, &request);
  if (rc == MPI_SUCCESS && call == "alltoall_init") rc = MPI_Start(&request);
  if (rc == MPI_SUCCESS) rc = MPI_Wait(&request, MPI_STATUS_IGNORE);
  if (rc == MPI_SUCCESS && call == "alltoall_init") MPI_Request_free(&request);
  return rc;
}

}  // namespace

int main(int argc, char** argv) {
  mpi_test::Job job(&argc, &argv);
  if (argc < 4) return 2;
  const auto fail = reinterpret_cast<long (*)(long)>(dlsym(RTLD_DEFAULT, "failing_allocation"));
  if (fail == nullptr) return 2;
  own_rank = job.rank;
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  for (const int signal : {SIGSEGV, SIGABRT, SIGBUS, SIGFPE}) std::signal(signal, crashes);
  std::signal(SIGALRM, hangs);
  bool goes_on = true;
  for (k = std::atol(argv[3]); goes_on; ++k) {
    MPI_Comm comm = MPI_COMM_NULL;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    const int ints = 16;
    std::vector<int> in(static_cast<std::size_t>(job.ranks * ints)), out(in.size());
    alarm(job.rank == std::atoi(argv[2]) ? 10 : 14);
    long made = 0;
    if (job.rank == std::atoi(argv[2])) fail(k);
    int rc = MPI_SUCCESS;
    for (int round = 0; rc == MPI_SUCCESS && round < 2; ++round) {
      for (std::size_t i = 0; i < in.size(); ++i)
        in[i] = mpi_test::value(job.rank, static_cast<int>(i) / ints, i % ints) + round;
      rc = run(argv[1], in, out, ints, comm);
      for (std::size_t i = 0; rc == MPI_SUCCESS && i < out.size(); ++i)
        if (out[i] != mpi_test::value(static_cast<int>(i) / ints, job.rank, i % ints) + round) end_with("WRONG", 6);
    }
    if (job.rank == std::atoi(argv[2])) made = fail(0);
    if (rc != MPI_SUCCESS) end_with("fails", 7);
    MPI_Bcast(&made, 1, MPI_LONG, std::atoi(argv[2]), MPI_COMM_WORLD);
    goes_on = made >= k;
    MPI_Comm_free(&comm);
    alarm(0);
  }
  if (job.rank == 0) std::printf("done before %ld\n", k);
  std::fflush(stdout);
  MPI_T_finalize();
  MPI_Finalize();
  return 0;
}
