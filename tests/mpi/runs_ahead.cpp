// Programs that MPI does not promise to be right, and that are with Open MPI's own small calls: a rank of a call with a
// root goes on before others have come to it, and they come when it has. Ranks that met in such a call would wait for
// ever. By calls that block, that do not, and by both in turn.
#include "mpi_test.h"

namespace {

using namespace mpi_test;

constexpr int k_rounds = 100;

enum class Form { blocks, waits, both };

bool waits_in(Form form, int round) { return form == Form::waits || (form == Form::both && round % 2 == 1); }

void root_goes_on(MPI_Comm comm, Form form) {
  const int ranks = ranks_of(comm), rank = rank_in(comm);
  for (int round = 0; round < k_rounds; ++round) {
    int number = rank == 0 ? value(0, 0, round) : -1, go = 0;
    if (rank > 0) MPI_Recv(&go, 1, MPI_INT, 0, 0, comm, MPI_STATUS_IGNORE);
    if (waits_in(form, round)) {
      MPI_Request request = MPI_REQUEST_NULL;
      MPI_Ibcast(&number, 1, MPI_INT, 0, comm, &request);
      MPI_Wait(&request, MPI_STATUS_IGNORE);
    } else {
      MPI_Bcast(&number, 1, MPI_INT, 0, comm);
    }
    expect(number == value(0, 0, round), "the root's number of round %d, not %d", round, number);
    for (int peer = 1; rank == 0 && peer < ranks; ++peer) MPI_Send(&go, 1, MPI_INT, peer, 0, comm);
  }
}

void others_go_on(MPI_Comm comm, Form form) {
  const int ranks = ranks_of(comm), rank = rank_in(comm);
  std::vector<int> all(static_cast<std::size_t>(ranks));
  for (int round = 0; round < k_rounds; ++round) {
    const int own = value(rank, 0, round);
    int go = 0;
    for (int peer = 1; rank == 0 && peer < ranks; ++peer) MPI_Recv(&go, 1, MPI_INT, peer, 0, comm, MPI_STATUS_IGNORE);
    if (waits_in(form, round)) {
      MPI_Request request = MPI_REQUEST_NULL;
      MPI_Igather(&own, 1, MPI_INT, all.data(), 1, MPI_INT, 0, comm, &request);
      MPI_Wait(&request, MPI_STATUS_IGNORE);
    } else {
      MPI_Gather(&own, 1, MPI_INT, all.data(), 1, MPI_INT, 0, comm);
    }
    for (int peer = 0; rank == 0 && peer < ranks; ++peer)
      expect(all[static_cast<std::size_t>(peer)] == value(peer, 0, round), "rank %d's number of round %d", peer, round);
    if (rank > 0) MPI_Send(&go, 1, MPI_INT, 0, 0, comm);
  }
}

}  // namespace

int main(int argc, char** argv) {
  Job job(&argc, &argv);
  for (const Form form : {Form::blocks, Form::waits, Form::both}) {
    for (const auto& program : {root_goes_on, others_go_on}) {
      MPI_Comm comm = MPI_COMM_NULL;
      MPI_Comm_dup(MPI_COMM_WORLD, &comm);
      program(comm, form);
      MPI_Comm_free(&comm);
    }
    root_goes_on(MPI_COMM_WORLD, form);
  }
  return job.verdict();
}
