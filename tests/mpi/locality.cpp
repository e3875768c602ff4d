// Who shares a node: messages between nodes are counted as such, groups of TRA2 follow nodes and the places inside
// them, and a TRA2 over nodes sends fewer messages across than every rank writing to every other.
#include "mpi_test.h"

namespace {

using namespace mpi_test;

void alltoall(MPI_Comm comm) {
  const auto ranks = static_cast<std::size_t>(ranks_of(comm));
  std::vector<int> out(ranks), in(ranks);
  for (std::size_t to = 0; to < ranks; ++to) out[to] = value(rank_in(comm), static_cast<int>(to), 0);
  MPI_Alltoall(out.data(), 1, MPI_INT, in.data(), 1, MPI_INT, comm);
  for (std::size_t from = 0; from < ranks; ++from) {
    expect(in[from] == value(static_cast<int>(from), rank_in(comm), 0), "rank %zu's value, not %d", from, in[from]);
  }
}

int ranks_on_this_node() {
  MPI_Comm node = MPI_COMM_NULL;
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
  const int ranks = ranks_of(node);
  MPI_Comm_free(&node);
  return ranks;
}

/// Messages to other nodes of one alltoall with these settings, by this rank.
unsigned long long messages_across(const std::vector<std::string>& settings) {
  const Counter served("coll_topo_calls"), across("coll_topo_messages_between_nodes"),
      bytes("coll_topo_bytes_between_nodes");
  MPI_Comm comm = with_settings(MPI_COMM_WORLD, settings);
  alltoall(comm);
  MPI_Comm_free(&comm);
  expect(served.since_made() == 1, "one call served, not %llu", served.since_made());
  expect((bytes.since_made() > 0) == (across.since_made() > 0), "bytes with messages: %llu and %llu",
         bytes.since_made(), across.since_made());
  return across.since_made();
}

}  // namespace

int main(int argc, char** argv) {
  mpi_test::Job job(&argc, &argv);
  const int local = ranks_on_this_node();
  const auto elsewhere = static_cast<unsigned long long>(job.ranks - local);
  const unsigned long long linear = messages_across({"alltoall_algorithm", "linear"});
  expect(linear == elsewhere, "a message to each of %llu ranks elsewhere, not %llu", elsewhere, linear);

  const unsigned long long grouped = messages_across({"alltoall_algorithm", "tra2", "alltoall_intra_radix", "2"});
  const auto other_nodes = static_cast<unsigned long long>(job.ranks / local - 1);
  expect(grouped <= other_nodes, "at most a message per other node with tra2, not %llu", grouped);
  for (const char* level : {"package", "numa", "l3"}) {
    messages_across({"alltoall_algorithm", "tra2", "group", level});
  }
  return job.verdict();
}
