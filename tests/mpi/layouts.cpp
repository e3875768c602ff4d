// Derived datatypes: every pair of send and receive layouts for alltoall, allgather and bcast, also when ranks lay out
// the same data differently, and reductions over a datatype with gaps. Ints of a buffer that no element covers must
// stay untouched.
#include "layout.h"

namespace {

using namespace mpi_test;

std::vector<Layout> layouts() {
  MPI_Datatype three = MPI_DATATYPE_NULL;
  MPI_Type_contiguous(3, MPI_INT, &three);
  return {
      {"int", MPI_INT, {0}, 1},
      {"contiguous", committed(three), {0, 1, 2}, 3},
      {"vector", resized(indexed({0, 2}), 0, 4), {0, 2}, 4},
      {"permuted", committed(indexed({1, 0})), {1, 0}, 2},
      {"gap at the end", resized(indexed({0}), 0, 3), {0}, 3},
      {"gap at the front", committed(indexed({2, 3})), {2, 3}, 2},
      {"negative lower bound", resized(indexed({-2, 0, 1}), -3, 6), {-2, 0, 1}, 6},
      {"interleaved columns", resized(indexed({0, 500}), 0, 1), {0, 500}, 1},
  };
}

constexpr std::size_t k_block = 12;  // ints per block: whole elements of every layout

void alltoall(MPI_Comm comm, const Layout& send, const Layout& receive) {
  const int rank = rank_in(comm);
  const auto ints = k_block * static_cast<std::size_t>(ranks_of(comm));
  Buffer out(send, ints), in(receive, ints);
  const auto sent = [&](std::size_t i) { return value(rank, static_cast<int>(i / k_block), i % k_block); };
  out.fill(ints, sent);
  MPI_Alltoall(out.address(), elements_of(send, k_block), send.type, in.address(), elements_of(receive, k_block),
               receive.type, comm);
  const auto received = [&](std::size_t i) { return value(static_cast<int>(i / k_block), rank, i % k_block); };
  in.check("alltoall", ints, received);
  out.check("alltoall's input", ints, sent);

  Buffer both(receive, ints);
  both.fill(ints, sent);
  MPI_Alltoall(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, both.address(), elements_of(receive, k_block), receive.type, comm);
  both.check("alltoall in place", ints, received);
}

void allgather(MPI_Comm comm, const Layout& send, const Layout& receive) {
  const int rank = rank_in(comm);
  const auto ints = k_block * static_cast<std::size_t>(ranks_of(comm));
  Buffer out(send, k_block), in(receive, ints), both(receive, ints);
  out.fill(k_block, [&](std::size_t i) { return value(rank, 0, i); });
  MPI_Allgather(out.address(), elements_of(send, k_block), send.type, in.address(), elements_of(receive, k_block),
                receive.type, comm);
  const auto received = [&](std::size_t i) { return value(static_cast<int>(i / k_block), 0, i % k_block); };
  in.check("allgather", ints, received);

  const std::size_t own = k_block * static_cast<std::size_t>(rank);
  for (std::size_t i = own; i < own + k_block; ++i) both.at(i) = received(i);
  MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, both.address(), elements_of(receive, k_block), receive.type, comm);
  both.check("allgather in place", ints, received);
}

void bcast(MPI_Comm comm, const Layout& at_root, const Layout& elsewhere) {
  const int root = ranks_of(comm) - 1;
  const Layout& mine = rank_in(comm) == root ? at_root : elsewhere;
  Buffer buffer(mine, k_block);
  const auto sent = [&](std::size_t i) { return value(root, 1, i); };
  if (rank_in(comm) == root) buffer.fill(k_block, sent);
  MPI_Bcast(buffer.address(), elements_of(mine, k_block), mine.type, root, comm);
  buffer.check("bcast", k_block, sent);
}

void reductions(MPI_Comm comm, const Layout& layout, MPI_Op op) {
  reduced = &layout;
  const int rank = rank_in(comm), ranks = ranks_of(comm), root = ranks / 2;
  const auto ints = k_block * static_cast<std::size_t>(ranks);
  const auto put_in = [&](std::size_t i) { return value(rank, 3, i); };
  const auto sum = [&](std::size_t i) {
    int total = 0;
    for (int from = 0; from < ranks; ++from) total += value(from, 3, i);
    return total;
  };
  const int elements = elements_of(layout, ints), block = elements_of(layout, k_block);
  const auto own_sum = [&](std::size_t i) { return sum(static_cast<std::size_t>(rank) * k_block + i); };

  Buffer out(layout, ints), all(layout, ints), in_place(layout, ints), at_root(layout, ints), shard(layout, k_block);
  out.fill(ints, put_in);
  MPI_Allreduce(out.address(), all.address(), elements, layout.type, op, comm);
  all.check("allreduce", ints, sum);
  in_place.fill(ints, put_in);
  MPI_Allreduce(MPI_IN_PLACE, in_place.address(), elements, layout.type, op, comm);
  in_place.check("allreduce in place", ints, sum);
  MPI_Reduce(out.address(), rank == root ? at_root.address() : nullptr, elements, layout.type, op, root, comm);
  if (rank == root) at_root.check("reduce", ints, sum);
  MPI_Reduce_scatter_block(out.address(), shard.address(), block, layout.type, op, comm);
  shard.check("reduce_scatter_block", k_block, own_sum);
  const std::vector<int> counts(static_cast<std::size_t>(ranks), block);
  Buffer scattered(layout, ints);
  MPI_Reduce_scatter(out.address(), scattered.address(), counts.data(), layout.type, op, comm);
  scattered.check("reduce_scatter", k_block, own_sum);
  out.check("a reduction's input", ints, put_in);
}

void run(MPI_Comm comm) {
  const std::vector<Layout> all = layouts();
  MPI_Op op = MPI_OP_NULL;
  MPI_Op_create(add_laid_out, 1, &op);
  const Counter served("coll_topo_calls"), left("coll_topo_fallbacks");
  for (const Layout& send : all) {
    for (const Layout& receive : all) {
      alltoall(comm, send, receive);
      allgather(comm, send, receive);
      bcast(comm, send, receive);
      // The same data, laid out in one way on even ranks and in another on odd ones.
      const bool odd = rank_in(comm) % 2 == 1;
      alltoall(comm, odd ? send : receive, odd ? receive : send);
      allgather(comm, odd ? receive : send, odd ? receive : send);
    }
  }
  const auto moves = static_cast<unsigned long long>(all.size() * all.size()) * 9;
  if (ranks_of(comm) > 1) {
    expect(served.since_made() == moves, "%llu moves served, not %llu", moves, served.since_made());
    expect(left.since_made() == 0, "no move left to the next component, not %llu", left.since_made());
  }
  for (const Layout& layout : all) {
    // Elements that lie within their extents and fill half of them are reduced here, others by the next component.
    const bool dense = layout.name != "interleaved columns" && layout.name != "gap at the end";
    const Counter reductions_served("coll_topo_calls");
    reductions(comm, layout, op);
    const unsigned long long wanted = dense && ranks_of(comm) > 1 ? 5 : 0;
    expect(reductions_served.since_made() == wanted, "%llu reductions of '%s' served, not %llu", wanted,
           layout.name.c_str(), reductions_served.since_made());
  }
  MPI_Op_free(&op);
}

}  // namespace

int main(int argc, char** argv) {
  mpi_test::Job job(&argc, &argv);
  MPI_Comm comm =
      mpi_test::with_settings(MPI_COMM_WORLD, {"alltoall_algorithm", "tra:radix=2", "allgather_algorithm", "ring",
                                               "bcast_algorithm", "binomial", "allreduce_algorithm", "ring",
                                               "reduce_algorithm", "binomial", "reduce_scatter_algorithm", "ring"});
  run(comm);
  MPI_Comm_free(&comm);
  return job.verdict();
}
