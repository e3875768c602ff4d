// Trials: every call of a class that takes turns between schedules and the next component gives right values, whatever
// datatypes ranks describe their data by and whoever comes late; all ranks decide alike; then the turns are over.
#include <unistd.h>

#include <functional>
#include <random>

#include "mpi_test.h"

namespace {

using namespace mpi_test;

constexpr int k_calls = 268;  // more than any trial takes

/// A communicator, and what each of its ranks does before a call: mostly nothing.
struct Group {
  MPI_Comm comm;
  int rank, ranks;
  std::minstd_rand dice;

  explicit Group(MPI_Comm of)
      : comm(of), rank(rank_in(of)), ranks(ranks_of(of)), dice(static_cast<unsigned>(rank) + 1) {}
  void dawdle() {
    if (dice() % 16 == 0) usleep(static_cast<unsigned>(dice() % 300));
  }
};

// Ranks with an odd number describe n integers as n of a type that has gaps on one side, others as n integers.
MPI_Datatype spread_type() {
  MPI_Datatype type = MPI_DATATYPE_NULL;
  MPI_Type_create_resized(MPI_INT, 0, 2 * sizeof(int), &type);
  MPI_Type_commit(&type);
  return type;
}

void alltoall(Group& group, int count, bool spread) {
  const bool gaps = spread && group.rank % 2 == 1;
  const std::size_t stride = gaps ? 2 : 1, n = static_cast<std::size_t>(count);
  const auto ranks = static_cast<std::size_t>(group.ranks);
  MPI_Datatype type = gaps ? spread_type() : MPI_INT;
  std::vector<int> out(ranks * n * stride, -7), in(ranks * n * stride, -9);
  for (std::size_t to = 0; to < ranks; ++to)
    for (std::size_t i = 0; i < n; ++i) out[(to * n + i) * stride] = value(group.rank, static_cast<int>(to), i);
  MPI_Alltoall(out.data(), count, type, in.data(), count, type, group.comm);
  for (std::size_t from = 0; from < ranks; ++from)
    for (std::size_t i = 0; i < n; ++i) {
      const int got = in[(from * n + i) * stride], right = value(static_cast<int>(from), group.rank, i);
      expect(got == right, "alltoall: %d from rank %zu, not %d", right, from, got);
    }
  if (gaps) {
    expect(in[1] == -9, "alltoall: a gap that nobody wrote, not %d", in[1]);
    MPI_Type_free(&type);
  }
}

void bcast(Group& group, int count, int root, bool spread) {
  const bool gaps = spread && group.rank % 2 == 1;
  const std::size_t stride = gaps ? 2 : 1, n = static_cast<std::size_t>(count);
  MPI_Datatype type = gaps ? spread_type() : MPI_INT;
  std::vector<int> data(n * stride, -1);
  for (std::size_t i = 0; group.rank == root && i < n; ++i) data[i * stride] = value(root, 0, i);
  MPI_Bcast(data.data(), count, type, root, group.comm);
  for (std::size_t i = 0; i < n; ++i)
    expect(data[i * stride] == value(root, 0, i), "bcast: %d, not %d", value(root, 0, i), data[i * stride]);
  if (gaps) MPI_Type_free(&type);
}

void allgather_in_place(Group& group, int count) {
  const auto ranks = static_cast<std::size_t>(group.ranks), n = static_cast<std::size_t>(count);
  std::vector<int> data(ranks * n, -1);
  for (std::size_t i = 0; i < n; ++i) data[static_cast<std::size_t>(group.rank) * n + i] = value(group.rank, 0, i);
  MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, data.data(), count, MPI_INT, group.comm);
  for (std::size_t from = 0; from < ranks; ++from)
    for (std::size_t i = 0; i < n; ++i)
      expect(data[from * n + i] == value(static_cast<int>(from), 0, i), "allgather: %d, not %d",
             value(static_cast<int>(from), 0, i), data[from * n + i]);
}

void allreduce(Group& group, int count) {
  std::vector<int> data(static_cast<std::size_t>(count), group.rank), sums(data);
  MPI_Allreduce(data.data(), sums.data(), count, MPI_INT, MPI_SUM, group.comm);
  for (const int sum : sums) expect(sum == group.ranks * (group.ranks - 1) / 2, "allreduce: not %d", sum);
}

void gather_and_scatter(Group& group, int root) {
  const auto ranks = static_cast<std::size_t>(group.ranks);
  std::vector<int> all(ranks), out(ranks);
  int mine = value(group.rank, root, 0), back = -1;
  MPI_Gather(&mine, 1, MPI_INT, all.data(), 1, MPI_INT, root, group.comm);
  for (std::size_t from = 0; group.rank == root && from < ranks; ++from)
    expect(all[from] == value(static_cast<int>(from), root, 0), "gather: not %d", all[from]);
  MPI_Scatter(all.data(), 1, MPI_INT, &back, 1, MPI_INT, root, group.comm);
  expect(back == mine, "scatter: %d, not %d", mine, back);
}

void reduce_scatter(Group& group) {
  const auto ranks = static_cast<std::size_t>(group.ranks);
  std::vector<int> counts(ranks), data;
  int total = 0;
  for (std::size_t r = 0; r < ranks; ++r) total += counts[r] = static_cast<int>(r % 3) + 1;
  data.assign(static_cast<std::size_t>(total), 1 << group.rank % 8);
  int sum = 0;
  for (int r = 0; r < group.ranks; ++r) sum |= 1 << r % 8;
  std::vector<int> mine(static_cast<std::size_t>(counts[static_cast<std::size_t>(group.rank)]), -1);
  MPI_Reduce_scatter(data.data(), mine.data(), counts.data(), MPI_INT, MPI_BOR, group.comm);
  for (const int one : mine) expect(one == sum, "reduce_scatter: %d, not %d", sum, one);
}

// Blocks of 0 to 9 integers, other ones in every call; or one of 40 KB among them.
std::size_t length(int from, int to, int call, bool huge) {
  if (huge && from == call % 2 && to == 1) return 10'000;
  return static_cast<std::size_t>((7 * from + 3 * to + call) % 10);
}

void alltoallv(Group& group, int call, bool huge) {
  const auto ranks = static_cast<std::size_t>(group.ranks);
  std::vector<int> send_counts(ranks), send_at(ranks), receive_counts(ranks), receive_at(ranks);
  int sent = 0, received = 0;
  for (std::size_t peer = 0; peer < ranks; ++peer) {
    send_at[peer] = sent, receive_at[peer] = received;
    sent += send_counts[peer] = static_cast<int>(length(group.rank, static_cast<int>(peer), call, huge));
    received += receive_counts[peer] = static_cast<int>(length(static_cast<int>(peer), group.rank, call, huge));
  }
  std::vector<int> out, in(static_cast<std::size_t>(received), -1);
  for (std::size_t to = 0; to < ranks; ++to)
    for (std::size_t i = 0; i < static_cast<std::size_t>(send_counts[to]); ++i)
      out.push_back(value(group.rank, static_cast<int>(to), i));
  MPI_Alltoallv(out.data(), send_counts.data(), send_at.data(), MPI_INT, in.data(), receive_counts.data(),
                receive_at.data(), MPI_INT, group.comm);
  for (std::size_t from = 0; from < ranks; ++from)
    for (std::size_t i = 0; i < static_cast<std::size_t>(receive_counts[from]); ++i) {
      const int got = in[static_cast<std::size_t>(receive_at[from]) + i];
      const int right = value(static_cast<int>(from), group.rank, i);
      expect(got == right, "alltoallv: %d from rank %zu, not %d", right, from, got);
    }
}

// Nothing from the last rank to anybody; of others, one integer each, in every second place of the output.
void alltoallw(Group& group) {
  const auto ranks = static_cast<std::size_t>(group.ranks);
  MPI_Datatype type = spread_type();
  const int last = group.ranks - 1;
  std::vector<int> out(ranks), in(2 * ranks, -9), at(ranks), spread_at(ranks);
  for (std::size_t peer = 0; peer < ranks; ++peer) {
    out[peer] = value(group.rank, static_cast<int>(peer), 0);
    at[peer] = static_cast<int>(peer * sizeof(int)), spread_at[peer] = 2 * at[peer];
  }
  const std::vector<int> send_counts(ranks, group.rank == last ? 0 : 1);
  std::vector<int> receive_counts(ranks, 1);
  receive_counts[static_cast<std::size_t>(last)] = 0;
  const std::vector<MPI_Datatype> plain(ranks, MPI_INT), gaps(ranks, type);
  MPI_Alltoallw(out.data(), send_counts.data(), at.data(), plain.data(), in.data(), receive_counts.data(),
                spread_at.data(), gaps.data(), group.comm);
  for (std::size_t from = 0; from < ranks; ++from) {
    const int right = static_cast<int>(from) == last ? -9 : value(static_cast<int>(from), group.rank, 0);
    expect(in[2 * from] == right, "alltoallw: %d from rank %zu, not %d", right, from, in[2 * from]);
    expect(in[2 * from + 1] == -9, "alltoallw: a gap that nobody wrote, not %d", in[2 * from + 1]);
  }
  MPI_Type_free(&type);
}

// What all ranks must have in common, by point-to-point messages, which nothing here touches.
void same_on_all(Group& group, unsigned long long number, const char* what) {
  unsigned long long first = number;
  for (int to = 1; group.rank == 0 && to < group.ranks; ++to)
    MPI_Send(&number, 1, MPI_UNSIGNED_LONG_LONG, to, 7, group.comm);
  if (group.rank > 0) MPI_Recv(&first, 1, MPI_UNSIGNED_LONG_LONG, 0, 7, group.comm, MPI_STATUS_IGNORE);
  expect(first == number, "%llu %s as rank 0, not %llu", first, what, number);
}

void every_collective_is_right_while_it_takes_turns(MPI_Comm comm, bool huge) {
  Group group(comm);
  const Counter trials("coll_topo_trials"), lost("coll_topo_trials_for_previous"), turns("coll_topo_trial_calls"),
      left("coll_topo_fallbacks"), served("coll_topo_calls");
  const std::vector<std::function<void(int)>> kinds = {
      [&](int) { alltoall(group, 2, false); },
      [&](int call) { alltoall(group, 300, call % 2 == 0); },
      [&](int call) { bcast(group, 1000, call % group.ranks, false); },
      [&](int call) { bcast(group, 100'000, call % group.ranks, call % 3 == 0); },  // long enough to begin together
      [&](int) { allgather_in_place(group, 50); },
      [&](int) { allreduce(group, 20); },
      [&](int call) { gather_and_scatter(group, call % group.ranks); },
      [&](int) { reduce_scatter(group); },
      [&](int call) { alltoallv(group, call, huge); },
      [&](int) { alltoallw(group); },
  };
  for (int call = 0; call < k_calls; ++call)
    for (const auto& kind : kinds) {
      group.dawdle();
      kind(call);
    }
  // Gather and scatter are two; a class in which nothing can be tried is none.
  expect(trials.since_made() >= 9 && trials.since_made() <= 11, "nine to eleven trials, not %llu", trials.since_made());
  expect(turns.since_made() >= 6 * trials.since_made(), "turns, not %llu", turns.since_made());
  expect(left.since_made() >= 3 * trials.since_made(), "calls left to the next component, not %llu", left.since_made());
  expect(served.since_made() >= 3 * trials.since_made(), "calls served, not %llu", served.since_made());
  same_on_all(group, trials.since_made(), "trials");
  same_on_all(group, lost.since_made(), "won by the next component");
  same_on_all(group, turns.since_made(), "turns");
  const unsigned long long before = turns.since_made();
  for (const auto& kind : kinds) kind(1);
  expect(turns.since_made() == before, "no turn after the trials, not %llu", turns.since_made() - before);
}

}  // namespace

int main(int argc, char** argv) {
  Job job(&argc, &argv);
  every_collective_is_right_while_it_takes_turns(MPI_COMM_WORLD, false);
  if (job.ranks >= 4) {
    MPI_Comm half = MPI_COMM_NULL;
    MPI_Comm_split(MPI_COMM_WORLD, job.rank % 2, job.rank, &half);
    MPI_Comm with_more = with_settings(half, {"latency_node", "0.41us"});  // of another kind: nothing is inherited
    every_collective_is_right_while_it_takes_turns(with_more, true);
    MPI_Comm_free(&with_more);
    MPI_Comm_free(&half);
  }
  return job.verdict();
}
