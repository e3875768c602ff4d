// Communicators of every origin: duplicates, subsets, non-blocking duplicates, spawned jobs merged into one, and info
// keys that choose for one communicator only.
#include <cstring>

#include "mpi_test.h"

namespace {

using namespace mpi_test;

// An alltoall and an allreduce, checked; `calls` is how many of them coll/topo must have served.
void exchange(MPI_Comm comm, const char* which) {
  const int rank = rank_in(comm), ranks = ranks_of(comm);
  constexpr std::size_t k_block = 3;
  std::vector<int> out(static_cast<std::size_t>(ranks) * k_block), in(out.size());
  for (std::size_t i = 0; i < out.size(); ++i) out[i] = value(rank, static_cast<int>(i / k_block), i % k_block);
  MPI_Alltoall(out.data(), k_block, MPI_INT, in.data(), k_block, MPI_INT, comm);
  for (std::size_t i = 0; i < in.size(); ++i) {
    const int wanted = value(static_cast<int>(i / k_block), rank, i % k_block);
    expect(in[i] == wanted, "%s: element %zu to be %d, not %d", which, i, wanted, in[i]);
  }
  int sum = 0;
  MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, comm);
  expect(sum == ranks * (ranks - 1) / 2, "%s: ranks to add up to %d, not %d", which, ranks * (ranks - 1) / 2, sum);
}

const std::vector<std::string> k_served = {"alltoall_algorithm", "linear", "allreduce_algorithm", "ring"};

void duplicates_and_subsets() {
  MPI_Comm base = with_settings(MPI_COMM_WORLD, k_served);
  const int rank = rank_in(base);
  for (int round = 0; round < 20; ++round) {
    MPI_Comm part = MPI_COMM_NULL;
    MPI_Comm_split(base, rank % 2, -rank, &part);
    exchange(part, "split");
    MPI_Comm_free(&part);
  }
  MPI_Comm shared = MPI_COMM_NULL;
  MPI_Info info = MPI_INFO_NULL;
  MPI_Info_create(&info);
  MPI_Info_set(info, "coll_topo_alltoall_algorithm", "pairwise");
  MPI_Comm_split_type(base, MPI_COMM_TYPE_SHARED, 0, info, &shared);
  MPI_Info_free(&info);
  const Counter pairwise("coll_topo_calls_pairwise");
  exchange(shared, "split by shared memory");
  expect(pairwise.since_made() == (ranks_of(shared) > 1 ? 1u : 0u), "the info key of split_type heeded, not %llu calls",
         pairwise.since_made());
  MPI_Comm_free(&shared);
  MPI_Comm_free(&base);
}

// Making a communicator must not communicate through the component: it would block inside MPI_Test.
void nonblocking_duplicate() {
  MPI_Comm duplicate = MPI_COMM_NULL;
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Comm_idup(MPI_COMM_WORLD, &duplicate, &request);
  for (int done = 0; done == 0;) MPI_Test(&request, &done, MPI_STATUS_IGNORE);
  exchange(duplicate, "idup");
  MPI_Comm_free(&duplicate);
}

// Many communicators alive at once, used in turns.
void many_at_once() {
  std::vector<MPI_Comm> comms(30);
  for (MPI_Comm& comm : comms) comm = with_settings(MPI_COMM_WORLD, k_served);
  const Counter served("coll_topo_calls");
  for (int round = 0; round < 3; ++round) {
    for (const MPI_Comm comm : comms) exchange(comm, "one of many");
  }
  const unsigned long long wanted = ranks_of(MPI_COMM_WORLD) > 1 ? comms.size() * 6 : 0;
  expect(served.since_made() == wanted, "%llu calls served, not %llu", wanted, served.since_made());
  for (MPI_Comm& comm : comms) MPI_Comm_free(&comm);
}

void info_keys_choose_for_one_communicator() {
  if (ranks_of(MPI_COMM_WORLD) < 2) return;
  for (const char* algorithm : {"linear", "pairwise", "tra"}) {
    const Counter by_it(std::string("coll_topo_calls_") + algorithm);
    MPI_Comm comm = with_settings(MPI_COMM_WORLD, {"alltoall_algorithm", algorithm, "allreduce_algorithm", "fallback"});
    const Counter left("coll_topo_fallbacks");
    exchange(comm, algorithm);
    expect(by_it.since_made() == 1, "one call by %s, not %llu", algorithm, by_it.since_made());
    expect(left.since_made() == 1, "one call left to the next component, not %llu", left.since_made());
    MPI_Comm_free(&comm);
  }
}

void spawned_ranks_join(char* program) {
  char argument[] = "child";
  char* arguments[] = {argument, nullptr};
  MPI_Comm children = MPI_COMM_NULL, merged = MPI_COMM_NULL;
  MPI_Comm_spawn(program, arguments, 2, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &children, MPI_ERRCODES_IGNORE);
  MPI_Intercomm_merge(children, 0, &merged);
  expect(ranks_of(merged) == ranks_of(MPI_COMM_WORLD) + 2, "two ranks more");
  MPI_Comm chosen = with_settings(merged, k_served);
  const Counter served("coll_topo_calls");
  exchange(chosen, "merged with spawned ranks");
  expect(served.since_made() == 2, "2 calls served, not %llu", served.since_made());
  MPI_Comm_free(&chosen);
  MPI_Comm_free(&merged);
  MPI_Comm_disconnect(&children);
}

void join_parents(MPI_Comm parents) {
  MPI_Comm merged = MPI_COMM_NULL;
  MPI_Intercomm_merge(parents, 1, &merged);
  MPI_Comm chosen = with_settings(merged, k_served);
  const Counter served("coll_topo_calls");
  exchange(chosen, "merged with parents");
  expect(served.since_made() == 2, "2 calls served, not %llu", served.since_made());
  MPI_Comm_free(&chosen);
  MPI_Comm_free(&merged);
  MPI_Comm_disconnect(&parents);
}

}  // namespace

int main(int argc, char** argv) {
  mpi_test::Job job(&argc, &argv);
  MPI_Comm parents = MPI_COMM_NULL;
  MPI_Comm_get_parent(&parents);
  if (parents != MPI_COMM_NULL) {
    join_parents(parents);
    return job.verdict();
  }
  duplicates_and_subsets();
  nonblocking_duplicate();
  many_at_once();
  info_keys_choose_for_one_communicator();
  spawned_ranks_join(argv[0]);
  return job.verdict();
}
