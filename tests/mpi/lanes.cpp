// Collectives over UCX endpoints of coll/topo's own: every element checked, on communicators made and freed in between,
// and the counters and this host's TCP connections looked at to see which way messages went.
//
//   mpi_lanes served|lent|partly ALLTOALL [PORT...]
//
// With served all messages must go over them, with lent none, with partly some do. ALLTOALL is the algorithm; PORT is
// the first of a lane's thousand, which must have connections.
#include <cstring>
#include <fstream>
#include <sstream>

#include "mpi_test.h"

namespace {

using namespace mpi_test;

std::string alltoall_algorithm;

std::vector<int> numbers(int rank, std::size_t count, int salt) {
  std::vector<int> all(count);
  for (std::size_t i = 0; i < count; ++i) all[i] = value(rank, salt, i);
  return all;
}

void expect_all(const char* what, const std::vector<int>& got, const std::vector<int>& wanted) {
  for (std::size_t i = 0; i < wanted.size(); ++i)
    expect(got[i] == wanted[i], "%s of %zu: element %zu to be %d, not %d", what, wanted.size(), i, wanted[i], got[i]);
}

void moves(MPI_Comm comm, std::size_t count) {
  const int rank = rank_in(comm), ranks = ranks_of(comm), block = static_cast<int>(count);
  std::vector<int> out, in(count * static_cast<std::size_t>(ranks)), wanted, gathered;
  for (int to = 0; to < ranks; ++to) {
    for (const int one : numbers(rank, count, to)) out.push_back(one);
    for (const int one : numbers(to, count, rank)) wanted.push_back(one);
    for (const int one : numbers(to, count, 0)) gathered.push_back(one);
  }
  MPI_Alltoall(out.data(), block, MPI_INT, in.data(), block, MPI_INT, comm);
  expect_all("alltoall", in, wanted);
  MPI_Allgather(numbers(rank, count, 0).data(), block, MPI_INT, in.data(), block, MPI_INT, comm);
  expect_all("allgather", in, gathered);
  for (const int root : {0, ranks - 1}) {
    std::vector<int> data = numbers(rank, count, 3);
    MPI_Bcast(data.data(), block, MPI_INT, root, comm);
    expect_all("bcast", data, numbers(root, count, 3));
  }
}

void reductions(MPI_Comm comm, std::size_t count) {
  const int rank = rank_in(comm), ranks = ranks_of(comm), block = static_cast<int>(count);
  const std::size_t all = count * static_cast<std::size_t>(ranks);
  std::vector<int> sum(all, 0), got(all);
  for (int from = 0; from < ranks; ++from)
    for (std::size_t i = 0; i < all; ++i) sum[i] += value(from, 0, i);
  const std::vector<int> mine = numbers(rank, all, 0);
  MPI_Allreduce(mine.data(), got.data(), static_cast<int>(all), MPI_INT, MPI_SUM, comm);
  expect_all("allreduce", got, sum);
  got = mine;
  MPI_Allreduce(MPI_IN_PLACE, got.data(), static_cast<int>(all), MPI_INT, MPI_SUM, comm);
  expect_all("allreduce in place", got, sum);
  std::vector<int> part(count);
  MPI_Reduce_scatter_block(mine.data(), part.data(), block, MPI_INT, MPI_SUM, comm);
  const auto first = sum.begin() + static_cast<std::ptrdiff_t>(count) * rank;
  expect_all("reduce_scatter_block", part, std::vector<int>(first, first + block));
  // In place at the root only: ranks differ in which plans they have.
  const int root = ranks - 1;
  for (const bool in_place : {false, true}) {
    got = mine;
    MPI_Reduce(in_place && rank == root ? MPI_IN_PLACE : mine.data(), got.data(), static_cast<int>(all), MPI_INT,
               MPI_SUM, root, comm);
    if (rank == root) expect_all("reduce", got, sum);
  }
}

MPI_Comm served(MPI_Comm comm, bool whole) {
  return with_settings(comm, {"alltoall_algorithm", whole ? alltoall_algorithm : "linear", "allgather_algorithm",
                              "ring", "reduce_scatter_algorithm", "ring", "allreduce_algorithm", "ring",
                              "bcast_algorithm", "binomial", "reduce_algorithm", "binomial"});
}

void exchange(MPI_Comm comm, const std::vector<std::size_t>& counts) {
  for (const std::size_t count : counts) {
    moves(comm, count);
    reductions(comm, count);
  }
}

// Communicators come and go, overlap, and are freed at different times by different ranks.
void communicators() {
  MPI_Comm whole = served(MPI_COMM_WORLD, true);
  exchange(whole, {1, 6000});
  for (int round = 0; round < 2; ++round) {
    MPI_Comm half = MPI_COMM_NULL;
    MPI_Comm_split(MPI_COMM_WORLD, rank_in(MPI_COMM_WORLD) % 2, 0, &half);
    MPI_Comm other = served(half, false);
    exchange(other, {5});
    exchange(whole, {4});
    MPI_Comm_free(&half);
    MPI_Comm_free(&other);
  }
  MPI_Comm second = served(MPI_COMM_WORLD, true);
  MPI_Comm_free(&whole);
  exchange(second, {3000});
  MPI_Comm_free(&second);
}

// Established TCP connections of this network with an end in [first, first + 1000).
int connections(int first) {
  std::ifstream table("/proc/net/tcp");
  std::string line;
  int found = 0;
  for (std::getline(table, line); std::getline(table, line);) {
    std::istringstream words(line);
    std::string slot, local, remote, state;
    words >> slot >> local >> remote >> state;
    const auto port = [](const std::string& end) { return std::stoi(end.substr(end.find(':') + 1), nullptr, 16); };
    const auto within = [&](int p) { return p >= first && p < first + 1000; };
    if (state == "01" && (within(port(local)) || within(port(remote)))) ++found;
  }
  return found;
}

}  // namespace

int main(int argc, char** argv) {
  mpi_test::Job job(&argc, &argv);
  const bool lanes = argc > 2 && std::strcmp(argv[1], "served") == 0;
  alltoall_algorithm = argc > 2 ? argv[2] : "linear";
  const Counter messages("coll_topo_messages"), on_lanes("coll_topo_messages_on_lanes");
  communicators();
  expect(messages.since_made() > 0, "messages of coll/topo");
  if (argc > 2 && std::strcmp(argv[1], "partly") == 0)
    expect(on_lanes.since_made() < messages.since_made(), "fewer messages on lanes than in all");
  else
    expect(on_lanes.since_made() == (lanes ? messages.since_made() : 0), "%llu messages on lanes, not %llu",
           lanes ? messages.since_made() : 0ULL, on_lanes.since_made());
  MPI_Comm last = served(MPI_COMM_WORLD, true);
  exchange(last, {10});
  MPI_Barrier(MPI_COMM_WORLD);
  for (int i = 3; i < argc; ++i)
    expect(connections(std::stoi(argv[i])) > 0, "connections at ports from %s on", argv[i]);
  MPI_Barrier(MPI_COMM_WORLD);
  if (job.ranks % 2 == 0) MPI_Comm_free(&last);  // else it is left to MPI_Finalize
  return job.verdict();
}
