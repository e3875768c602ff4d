// Two calls that stock Open MPI 4.1.4 gets wrong. `defects alltoall [PAIRS [CALLS]]`: the send and receive layouts
// differ (its modified Bruck packs the receive buffer with the send type). `defects allgather`: MPI_IN_PLACE with send
// counts that differ between ranks, which the standard says to ignore and the decision looks at. Prints how many
// elements are wrong; exit status 1 if any is.
#include <cstring>

#include "mpi_test.h"

namespace {

using namespace mpi_test;

int wrong_in_alltoall(int pairs, int calls) {
  const int rank = rank_in(MPI_COMM_WORLD), ranks = ranks_of(MPI_COMM_WORLD);
  MPI_Datatype apart = MPI_DATATYPE_NULL, vector = MPI_DATATYPE_NULL;
  MPI_Type_vector(2, 1, 2, MPI_INT, &vector);
  MPI_Type_create_resized(vector, 0, 4 * static_cast<MPI_Aint>(sizeof(int)), &apart);
  MPI_Type_commit(&apart);
  const auto block = 2 * static_cast<std::size_t>(pairs);  // ints
  std::vector<int> out(static_cast<std::size_t>(ranks) * block);
  for (std::size_t i = 0; i < out.size(); ++i) out[i] = value(rank, static_cast<int>(i / block), i % block);
  int wrong = 0;
  for (int call = 0; call < calls; ++call) {
    std::vector<int> in(out.size() * 2, -1);
    MPI_Alltoall(out.data(), 2 * pairs, MPI_INT, in.data(), pairs, apart, MPI_COMM_WORLD);
    for (std::size_t i = 0; i < in.size(); ++i) {
      const int wanted = i % 2 == 1 ? -1 : value(static_cast<int>(i / 2 / block), rank, i / 2 % block);
      wrong += in[i] != wanted;
    }
  }
  MPI_Type_free(&apart);
  MPI_Type_free(&vector);
  return wrong;
}

int wrong_in_allgather() {
  const int rank = rank_in(MPI_COMM_WORLD), ranks = ranks_of(MPI_COMM_WORLD);
  constexpr std::size_t k_block = 4000;
  std::vector<int> all(static_cast<std::size_t>(ranks) * k_block, -1);
  for (std::size_t i = 0; i < k_block; ++i) all[static_cast<std::size_t>(rank) * k_block + i] = value(rank, 0, i);
  MPI_Allgather(MPI_IN_PLACE, rank % 2 == 1 ? 0 : static_cast<int>(k_block), MPI_INT, all.data(), k_block, MPI_INT,
                MPI_COMM_WORLD);
  int wrong = 0;
  for (std::size_t i = 0; i < all.size(); ++i) wrong += all[i] != value(static_cast<int>(i / k_block), 0, i % k_block);
  return wrong;
}

}  // namespace

int main(int argc, char** argv) {
  mpi_test::Job job(&argc, &argv);
  const Counter served("coll_topo_calls");
  const int wrong = argc > 1 && std::strcmp(argv[1], "allgather") == 0
                        ? wrong_in_allgather()
                        : wrong_in_alltoall(argc > 2 ? std::stoi(argv[2]) : 1, argc > 3 ? std::stoi(argv[3]) : 1);
  if (wrong > 0) std::printf("rank %d: %d elements wrong\n", job.rank, wrong);
  if (job.rank == 0) std::printf("coll/topo served %llu\n", served.since_made());
  std::fflush(stdout);
  MPI_T_finalize();
  MPI_Finalize();
  return wrong > 0 ? 1 : 0;
}
