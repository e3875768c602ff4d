// A job with other components of coll beside coll/topo: every call gives the right values, and coll/topo counts exactly
// the program's own calls, not those that another component makes within them on communicators of its own.
//
// beside_others MODE: whom the calls on MPI_COMM_WORLD and on halves of it are to go to: `served` and `left` (coll/topo
// all, or none), `auto` (each counted once), `any` (values only), `back` (coll/topo stands back) and `absent` (it is
// not loaded).
#include <algorithm>
#include <cstring>

#include "mpi_test.h"

namespace {

using namespace mpi_test;

constexpr std::size_t k_count = 3;

struct Place {
  explicit Place(MPI_Comm of) : comm(of), rank(rank_in(of)), ranks(ranks_of(of)) {}
  std::vector<int> to_each(std::size_t count) const {
    std::vector<int> values;
    for (int to = 0; to < ranks; ++to)
      for (std::size_t i = 0; i < count; ++i) values.push_back(value(rank, to, i));
    return values;
  }
  MPI_Comm comm;
  int rank;
  int ranks;
};

void same(const char* call, const std::vector<int>& got, const std::vector<int>& wanted) {
  const auto [at, other] = std::mismatch(got.begin(), got.end(), wanted.begin(), wanted.end());
  if (at == got.end() && other == wanted.end()) {
    expect(true, "%s", call);
    return;
  }
  expect(false, "%s: %d at %zu, not %d", call, other == wanted.end() ? 0 : *other,
         static_cast<std::size_t>(at - got.begin()), at == got.end() ? 0 : *at);
}

// [from] its value(from, to, i), over all ranks in order.
std::vector<int> from_each(const Place& place, int to, std::size_t count) {
  std::vector<int> values;
  for (int from = 0; from < place.ranks; ++from)
    for (std::size_t i = 0; i < count; ++i) values.push_back(value(from, to, i));
  return values;
}

std::vector<int> sums(const Place& place, int to) {
  std::vector<int> values(k_count, 0);
  for (int from = 0; from < place.ranks; ++from)
    for (std::size_t i = 0; i < k_count; ++i) values[i] += value(from, to, i);
  return values;
}

void data_moves(const Place& place) {
  const int count = static_cast<int>(k_count);
  const std::size_t all = k_count * static_cast<std::size_t>(place.ranks);
  const std::vector<int> out = place.to_each(k_count);
  std::vector<int> in(all), mine(k_count);

  MPI_Alltoall(out.data(), count, MPI_INT, in.data(), count, MPI_INT, place.comm);
  same("alltoall", in, from_each(place, place.rank, k_count));

  MPI_Allgather(out.data(), count, MPI_INT, in.data(), count, MPI_INT, place.comm);
  same("allgather", in, from_each(place, 0, k_count));

  const int root = place.ranks - 1;
  std::fill(in.begin(), in.end(), 0);
  MPI_Gather(out.data(), count, MPI_INT, in.data(), count, MPI_INT, root, place.comm);
  if (place.rank == root) same("gather", in, from_each(place, 0, k_count));

  MPI_Scatter(out.data(), count, MPI_INT, mine.data(), count, MPI_INT, root, place.comm);
  std::vector<int> wanted;
  for (std::size_t i = 0; i < k_count; ++i) wanted.push_back(value(root, place.rank, i));
  same("scatter", mine, wanted);

  mine.assign(k_count, 0);
  if (place.rank == root) std::copy_n(out.begin(), k_count, mine.begin());
  MPI_Bcast(mine.data(), count, MPI_INT, root, place.comm);
  wanted.clear();
  for (std::size_t i = 0; i < k_count; ++i) wanted.push_back(value(root, 0, i));
  same("bcast", mine, wanted);
}

void reductions(const Place& place) {
  const int count = static_cast<int>(k_count);
  const int root = place.ranks / 2;
  const std::vector<int> out = place.to_each(k_count);
  std::vector<int> mine(k_count);

  MPI_Allreduce(out.data(), mine.data(), count, MPI_INT, MPI_SUM, place.comm);
  same("allreduce", mine, sums(place, 0));

  MPI_Reduce(out.data(), mine.data(), count, MPI_INT, MPI_SUM, root, place.comm);
  if (place.rank == root) same("reduce", mine, sums(place, 0));

  const std::vector<int> counts(static_cast<std::size_t>(place.ranks), count);
  MPI_Reduce_scatter(out.data(), mine.data(), counts.data(), MPI_INT, MPI_SUM, place.comm);
  same("reduce_scatter", mine, sums(place, place.rank));

  mine.assign(k_count, 0);
  MPI_Reduce_scatter_block(out.data(), mine.data(), count, MPI_INT, MPI_SUM, place.comm);
  same("reduce_scatter_block", mine, sums(place, place.rank));
}

constexpr unsigned long long k_calls = 9;  // of the two functions above

// What others serve in any case, between calls of ours.
void of_others(const Place& place) {
  const int count = static_cast<int>(k_count);
  const std::vector<int> out = place.to_each(k_count);
  std::vector<int> mine(k_count), before(k_count), wanted(k_count, 0);
  MPI_Barrier(place.comm);
  MPI_Scan(out.data(), before.data(), count, MPI_INT, MPI_SUM, place.comm);
  for (int from = 0; from <= place.rank; ++from)
    for (std::size_t i = 0; i < k_count; ++i) wanted[i] += value(from, 0, i);
  // Not the same values on all ranks: rank `from` adds what it has for rank 0.
  same("scan", before, wanted);
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Iallreduce(out.data(), mine.data(), count, MPI_INT, MPI_SUM, place.comm, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  same("iallreduce", mine, sums(place, 0));
}

void check_counts(const std::string& mode, unsigned long long calls, unsigned long long served,
                  unsigned long long left) {
  const char* name = mode.c_str();
  if (mode == "served")
    expect(served == calls && left == 0, "%s: %llu calls served, not %llu, and %llu left", name, calls, served, left);
  else if (mode == "left")
    expect(served == 0 && left == calls, "%s: %llu calls left, not %llu, and %llu served", name, calls, left, served);
  else if (mode == "auto")
    expect(served + left == calls, "%s: %llu calls counted, not %llu and %llu", name, calls, served, left);
  else if (mode != "any")
    expect(served == 0 && left == 0, "%s: no call counted, not %llu and %llu", name, served, left);
}

void run(MPI_Comm comm, const std::string& mode) {
  const Place place(comm);
  for (int round = 0; round < 3; ++round) {
    {
      const Counter served("coll_topo_calls"), left("coll_topo_fallbacks");
      expect(served.exists() == (mode != "absent"), "%s: the counter to be %s", mode.c_str(),
             mode == "absent" ? "absent" : "there");
      data_moves(place);
      reductions(place);
      check_counts(mode, k_calls, served.since_made(), left.since_made());
    }
    of_others(place);
  }
}

}  // namespace

int main(int argc, char** argv) {
  Job job(&argc, &argv);
  const std::string mode = argc > 1 ? argv[1] : "auto";
  run(MPI_COMM_WORLD, mode);

  MPI_Comm half = MPI_COMM_NULL;
  MPI_Comm_split(MPI_COMM_WORLD, job.rank % 2, job.rank, &half);
  if (ranks_of(half) > 1) run(half, mode);
  MPI_Comm_free(&half);

  // A communicator whose maker asks for others is theirs.
  MPI_Info info = MPI_INFO_NULL;
  MPI_Info_create(&info);
  MPI_Info_set(info, "ompi_comm_coll_preference", "^topo");
  MPI_Comm theirs = MPI_COMM_NULL;
  MPI_Comm_dup_with_info(MPI_COMM_WORLD, info, &theirs);
  MPI_Info_free(&info);
  const Counter served("coll_topo_calls"), left("coll_topo_fallbacks");
  const Place place(theirs);
  data_moves(place);
  reductions(place);
  check_counts("back", k_calls, served.since_made(), left.since_made());
  MPI_Comm_free(&theirs);
  return job.verdict();
}
