// MPI_T: every parameter of coll/topo is a control variable, and its performance variables count what was done.
#include <cstring>

#include "mpi_test.h"

namespace {

using namespace mpi_test;

void every_parameter_is_a_control_variable() {
  for (const char* name :
       {"priority", "alltoall_algorithm", "allgather_algorithm", "allreduce_algorithm", "reduce_scatter_algorithm",
        "bcast_algorithm", "reduce_algorithm", "alltoall_radix", "alltoall_intra_radix", "alltoall_inter_radix",
        "group", "topology", "segment_bytes", "verbose"}) {
    int index = -1;
    expect(MPI_T_cvar_get_index((std::string("coll_topo_") + name).c_str(), &index) == MPI_SUCCESS,
           "control variable coll_topo_%s", name);
  }
}

// A parameter written at run time is heeded by communicators made afterwards.
void a_written_parameter_is_heeded() {
  int index = -1, count = 0;
  MPI_T_cvar_handle handle = MPI_T_CVAR_HANDLE_NULL;
  expect(MPI_T_cvar_get_index("coll_topo_alltoall_algorithm", &index) == MPI_SUCCESS, "coll_topo_alltoall_algorithm");
  MPI_T_cvar_handle_alloc(index, nullptr, &handle, &count);
  char pairwise[64] = "pairwise", automatic[64] = "auto";
  expect(MPI_T_cvar_write(handle, pairwise) == MPI_SUCCESS, "coll_topo_alltoall_algorithm to be writable");

  const Counter by_pairwise("coll_topo_calls_pairwise");
  MPI_Comm comm = MPI_COMM_NULL;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  const auto ranks = static_cast<std::size_t>(ranks_of(comm));
  std::vector<int> out(ranks), in(ranks);
  for (std::size_t to = 0; to < ranks; ++to) out[to] = value(rank_in(comm), static_cast<int>(to), 0);
  MPI_Alltoall(out.data(), 1, MPI_INT, in.data(), 1, MPI_INT, comm);
  for (std::size_t from = 0; from < ranks; ++from) {
    expect(in[from] == value(static_cast<int>(from), rank_in(comm), 0), "rank %zu's value, not %d", from, in[from]);
  }
  expect(by_pairwise.since_made() == 1, "one call by pairwise, not %llu", by_pairwise.since_made());
  MPI_Comm_free(&comm);
  MPI_T_cvar_write(handle, automatic);
  MPI_T_cvar_handle_free(&handle);
}

void calls_messages_and_bytes_are_counted() {
  const Counter calls("coll_topo_calls"), bytes("coll_topo_bytes"), hits("coll_topo_plan_hits"),
      messages("coll_topo_messages"), sent("coll_topo_bytes_sent"), across("coll_topo_messages_between_nodes"),
      left("coll_topo_fallbacks"), linear("coll_topo_calls_linear");
  MPI_Comm comm = with_settings(MPI_COMM_WORLD, {"alltoall_algorithm", "linear", "allreduce_algorithm", "fallback"});
  const auto ranks = static_cast<unsigned long long>(ranks_of(comm));
  std::vector<double> out(static_cast<std::size_t>(ranks) * 10), in(out);
  constexpr unsigned long long k_calls = 5;
  for (unsigned long long call = 0; call < k_calls; ++call) {
    MPI_Alltoall(out.data(), 10, MPI_DOUBLE, in.data(), 10, MPI_DOUBLE, comm);
  }
  MPI_Allreduce(out.data(), in.data(), 1, MPI_DOUBLE, MPI_SUM, comm);
  expect(calls.since_made() == k_calls, "5 calls, not %llu", calls.since_made());
  expect(linear.since_made() == k_calls, "5 calls by linear, not %llu", linear.since_made());
  expect(hits.since_made() == k_calls - 1, "4 of 5 plans from the cache, not %llu", hits.since_made());
  expect(bytes.since_made() == k_calls * 80, "400 bytes in shards, not %llu", bytes.since_made());
  expect(messages.since_made() == k_calls * (ranks - 1), "a message to every other rank, not %llu in 5 calls",
         messages.since_made());
  expect(sent.since_made() == k_calls * (ranks - 1) * 80, "80 bytes in each, not %llu in all", sent.since_made());
  expect(across.since_made() == 0, "no message between nodes on one node, not %llu", across.since_made());
  expect(left.since_made() == 1, "one call left to the next component, not %llu", left.since_made());
  MPI_Comm_free(&comm);
}

// A call in place that is left to others, because it would be copied, says nothing of calls that are not in place.
void calls_in_place_decide_nothing_for_others() {
  MPI_Comm comm = with_settings(MPI_COMM_WORLD, {"alltoall_algorithm", "pairwise", "alltoallv_algorithm", "pairwise",
                                                 "alltoallw_algorithm", "pairwise"});
  const auto ranks = static_cast<std::size_t>(ranks_of(comm));
  constexpr int k_block = 1 << 20, k_calls = 3;
  std::vector<char> out(ranks * k_block), in(out);
  const std::vector<int> counts(ranks, k_block);
  const std::vector<MPI_Datatype> types(ranks, MPI_CHAR);
  std::vector<int> places(ranks);
  for (std::size_t rank = 0; rank < ranks; ++rank) places[rank] = static_cast<int>(rank) * k_block;
  const auto make_calls = [&](const void* from) {
    for (int call = 0; call < k_calls; ++call) {
      MPI_Alltoall(from, k_block, MPI_CHAR, in.data(), k_block, MPI_CHAR, comm);
      MPI_Alltoallv(from, counts.data(), places.data(), MPI_CHAR, in.data(), counts.data(), places.data(), MPI_CHAR,
                    comm);
      MPI_Alltoallw(from, counts.data(), places.data(), types.data(), in.data(), counts.data(), places.data(),
                    types.data(), comm);
    }
  };
  const Counter left("coll_topo_fallbacks");
  make_calls(MPI_IN_PLACE);
  expect(left.since_made() >= k_calls, "alltoalls in place to be left to others, not %llu", left.since_made());
  const Counter by_pairwise("coll_topo_calls_pairwise");
  make_calls(out.data());
  expect(by_pairwise.since_made() == 3 * k_calls, "all calls that are not in place by pairwise, not %llu of 9",
         by_pairwise.since_made());
  MPI_Comm_free(&comm);
}

}  // namespace

int main(int argc, char** argv) {
  mpi_test::Job job(&argc, &argv);
  every_parameter_is_a_control_variable();
  a_written_parameter_is_heeded();
  calls_messages_and_bytes_are_counted();
  calls_in_place_decide_nothing_for_others();
  return job.verdict();
}
