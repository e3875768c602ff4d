// Memory of messages that were given up after an error. Rank 2 sends more than rank 0 has room for, so rank 0's
// alltoall fails while rank 1's long message is on its way into rank 0's packed buffer: that must stay until the
// message is over. Rank 1 is held up in the middle of it by a page of its own that it may not read at first, so
// messages must go in pieces through shared memory, as they do without single copies. Prints "rank 0 lives" and aborts
// the job.
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>

#include "mpi_test.h"

namespace {

using namespace mpi_test;

// Of a block: packed, far above what malloc takes from its heap, and no whole number of the parts that messages go in,
// so that a longer one has a longer last part.
constexpr int k_ints = (6 << 20) + 1000;

int class_of(int code) {
  int error_class = MPI_SUCCESS;
  MPI_Error_class(code, &error_class);
  return error_class;
}

char* held_page = nullptr;
std::size_t page_bytes = 0;

void go_on_later(int, siginfo_t*, void*) {
  usleep(1500000);
  if (mprotect(held_page, page_bytes, PROT_READ | PROT_WRITE) != 0) _exit(139);
}

void hold_at(int* place) {
  page_bytes = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  held_page = reinterpret_cast<char*>(reinterpret_cast<std::uintptr_t>(place) / page_bytes * page_bytes);
  struct sigaction action {};
  action.sa_sigaction = go_on_later;
  action.sa_flags = SA_SIGINFO;
  sigaction(SIGSEGV, &action, nullptr);
  mprotect(held_page, page_bytes, PROT_NONE);
}

// Messages go on while a rank is in MPI.
void stay_in_mpi(double seconds) {
  const double end = MPI_Wtime() + seconds;
  int found = 0;
  while (MPI_Wtime() < end) MPI_Iprobe(MPI_ANY_SOURCE, 7, MPI_COMM_WORLD, &found, MPI_STATUS_IGNORE);
}

}  // namespace

int main(int argc, char** argv) {
  mpi_test::Job job(&argc, &argv);
  // In segments, so that rank 0 sees the error at once: else it first waits for what it sends to rank 1.
  MPI_Comm comm = with_settings(MPI_COMM_WORLD, {"alltoall_algorithm", "linear", "segment_bytes", "16M"});
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  MPI_Datatype every_second = MPI_DATATYPE_NULL;
  MPI_Type_create_resized(MPI_INT, 0, 2 * static_cast<MPI_Aint>(sizeof(int)), &every_second);
  MPI_Type_commit(&every_second);
  const auto ranks = static_cast<std::size_t>(job.ranks);
  std::vector<int> out(ranks * (2 * k_ints + 2000), 1), in(out.size(), 0);
  {
    std::vector<int> few(ranks), received(ranks);
    const Counter served("coll_topo_calls");
    MPI_Alltoall(few.data(), 1, MPI_INT, received.data(), 1, MPI_INT, comm);
    if (served.exists()) expect(served.since_made() == 1, "alltoall served here");
  }
  MPI_Barrier(MPI_COMM_WORLD);
  if (job.rank == 0) {
    const int code = MPI_Alltoall(out.data(), k_ints, every_second, in.data(), k_ints, every_second, comm);
    expect(class_of(code) == MPI_ERR_TRUNCATE, "MPI_ERR_TRUNCATE, not class %d", class_of(code));
    stay_in_mpi(3);
    if (failures == 0) std::printf("rank 0 lives\n");
    std::fflush(stdout);
    MPI_Abort(MPI_COMM_WORLD, 1);  // the others wait for rank 0 for ever
  }
  if (job.rank == 2) {
    usleep(400000);
    MPI_Alltoall(out.data(), k_ints + 1000, MPI_INT, in.data(), k_ints + 1000, MPI_INT, comm);
  } else {
    hold_at(out.data() + k_ints / 2);
    MPI_Alltoall(out.data(), k_ints, MPI_INT, in.data(), k_ints, MPI_INT, comm);
  }
  stay_in_mpi(20);  // rank 0 ends the job
  return 1;
}
