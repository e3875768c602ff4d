// A job whose rules change on disk goes on with the new ones, and what it remembers of the old ones is forgotten: calls
// that were declined are served, and calls of no bytes are still done at once.
#include <unistd.h>

#include <cstdio>
#include <fstream>

#include "mpi_test.h"

namespace {

using namespace mpi_test;

constexpr int k_most_calls = 4000;  // of 2 ms and more each; watch is 1 s

/// alltoall by `alltoall`, bcast by `bcast`, at every size; in one step.
void write_rules(const std::string& path, const std::string& alltoall, const std::string& bcast) {
  const auto all = [](const std::string& algorithm) {
    return R"([{"rules": [{"msg_size_max": "inf", "alg": ")" + algorithm + R"("}]}])";
  };
  std::ofstream(path + ".new") << R"({"rule_file_version": 3, "collectives": {"alltoall": )" << all(alltoall)
                               << R"(, "bcast": )" << all(bcast) << "}}";
  std::rename((path + ".new").c_str(), path.c_str());
}

std::string path_of_rank_0() {
  char path[256] = {};
  std::snprintf(path, sizeof(path), "/tmp/colltopo_replaced_%d.json", static_cast<int>(getpid()));
  MPI_Bcast(path, sizeof(path), MPI_CHAR, 0, MPI_COMM_WORLD);
  return path;
}

void bcast(MPI_Comm comm, int count, MPI_Datatype type) {
  int data[4] = {};
  if (rank_in(comm) == 0) data[0] = 7;
  MPI_Bcast(data, count, type, 0, comm);
  if (type == MPI_INT) expect(data[0] == 7, "rank 0's value, not %d", data[0]);
}

void alltoall(MPI_Comm comm, int count, MPI_Datatype type) {
  const auto ranks = static_cast<std::size_t>(ranks_of(comm));
  std::vector<int> out(ranks), in(ranks);
  for (std::size_t to = 0; to < ranks; ++to) out[to] = value(rank_in(comm), static_cast<int>(to), 0);
  MPI_Alltoall(out.data(), count, type, in.data(), count, type, comm);
  if (type != MPI_INT) return;
  for (std::size_t from = 0; from < ranks; ++from)
    expect(in[from] == value(static_cast<int>(from), rank_in(comm), 0), "rank %zu's value, not %d", from, in[from]);
}

void new_rules_are_heeded_and_what_was_declined_is_forgotten() {
  const std::string path = path_of_rank_0();
  const bool writes = rank_in(MPI_COMM_WORLD) == 0;
  if (writes) write_rules(path, "linear", "fallback");
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Comm comm = with_settings(MPI_COMM_WORLD, {"rules", path, "watch", "1"});
  const Counter left("coll_topo_fallbacks"), pairwise("coll_topo_calls_pairwise"), binomial("coll_topo_calls_binomial");
  bcast(comm, 1, MPI_INT);
  bcast(comm, 1, MPI_INT);
  expect(left.since_made() == 2, "two calls left to the next component, not %llu", left.since_made());

  if (writes) write_rules(path, "pairwise", "binomial");
  // All ranks go over to the new rules after the same call.
  for (int call = 0; call < k_most_calls && pairwise.since_made() == 0; ++call) {
    alltoall(comm, 1, MPI_INT);
    usleep(2000);
  }
  expect(pairwise.since_made() > 0, "the new rules to be heeded");
  // MPI itself ends a broadcast of no elements, but these are three.
  MPI_Datatype nothing = MPI_DATATYPE_NULL;
  MPI_Type_contiguous(0, MPI_INT, &nothing);
  MPI_Type_commit(&nothing);
  bcast(comm, 3, nothing);
  alltoall(comm, 1, nothing);
  expect(left.since_made() == 2, "calls of no bytes to be done at once, not left: %llu", left.since_made());
  bcast(comm, 1, MPI_INT);
  expect(binomial.since_made() == 1 && left.since_made() == 2, "the broadcast that was declined to be served");
  MPI_Type_free(&nothing);
  MPI_Comm_free(&comm);
  if (writes) std::remove(path.c_str());
}

// Ranks that pass calls on without asking look all the same, and after the same call.
void new_rules_are_heeded_where_no_call_is_served() {
  const std::string path = path_of_rank_0();
  const bool writes = rank_in(MPI_COMM_WORLD) == 0;
  if (writes) write_rules(path, "fallback", "fallback");
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Comm comm = with_settings(MPI_COMM_WORLD, {"rules", path, "watch", "1"});
  const Counter left("coll_topo_fallbacks"), pairwise("coll_topo_calls_pairwise");
  alltoall(comm, 1, MPI_INT);
  bcast(comm, 1, MPI_INT);
  if (writes) write_rules(path, "pairwise", "binomial");
  for (int call = 0; call < k_most_calls && pairwise.since_made() == 0; ++call) {
    alltoall(comm, 1, MPI_INT);
    usleep(2000);
  }
  expect(pairwise.since_made() == 1, "the new rules to be heeded");
  int passed = static_cast<int>(left.since_made()), least = 0, most = 0;
  MPI_Allreduce(&passed, &least, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
  MPI_Allreduce(&passed, &most, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  expect(least == most, "as many calls left on all ranks, not %d to %d", least, most);
  MPI_Comm_free(&comm);
  if (writes) std::remove(path.c_str());
}

}  // namespace

int main(int argc, char** argv) {
  mpi_test::Job job(&argc, &argv);
  new_rules_are_heeded_and_what_was_declined_is_forgotten();
  new_rules_are_heeded_where_no_call_is_served();
  return job.verdict();
}
