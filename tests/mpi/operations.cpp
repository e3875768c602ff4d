// Operations: every predefined one on integers, pairs with MINLOC and MAXLOC, user functions commutative and not, and
// floating point, whose result must have the same bits on every rank and the error of a sum of few terms.
#include <cmath>
#include <cstdint>
#include <cstring>

#include "affine.h"
#include "mpi_test.h"

namespace {

using namespace mpi_test;

const std::vector<std::string> k_settings[] = {
    {},
    {"allreduce_algorithm", "ring", "reduce_algorithm", "binomial", "reduce_scatter_algorithm", "ring"},
    {"allreduce_algorithm", "recursive-doubling", "reduce_scatter_algorithm", "recursive-halving"},
    {"allreduce_algorithm", "recursive-multiplying:radix=3", "reduce_algorithm", "knomial", "reduce_scatter_algorithm",
     "linear"},
    {"allreduce_algorithm", "swing", "reduce_scatter_algorithm", "swing", "reduce_algorithm", "swing"},
};

unsigned combined(MPI_Op op, unsigned a, unsigned b) {
  if (op == MPI_SUM) return a + b;
  if (op == MPI_PROD) return a * b;
  if (op == MPI_MAX) return a > b ? a : b;
  if (op == MPI_MIN) return a < b ? a : b;
  if (op == MPI_BAND) return a & b;
  if (op == MPI_BOR) return a | b;
  if (op == MPI_BXOR) return a ^ b;
  if (op == MPI_LAND) return a != 0 && b != 0;
  if (op == MPI_LOR) return a != 0 || b != 0;
  return (a != 0) != (b != 0);
}

void predefined_on_integers(MPI_Comm comm) {
  const int rank = rank_in(comm), ranks = ranks_of(comm);
  for (const MPI_Op op :
       {MPI_SUM, MPI_PROD, MPI_MAX, MPI_MIN, MPI_BAND, MPI_BOR, MPI_BXOR, MPI_LAND, MPI_LOR, MPI_LXOR}) {
    const bool logical = op == MPI_LAND || op == MPI_LOR || op == MPI_LXOR;
    for (const std::size_t count : {std::size_t{1}, std::size_t{10}, std::size_t{777}}) {
      const auto value_at = [&](int from, std::size_t i) {
        return logical ? operand(from, i) >> 16 & 1 : operand(from, i);
      };
      std::vector<unsigned> out(count), in(count);
      for (std::size_t i = 0; i < count; ++i) out[i] = value_at(rank, i);
      MPI_Allreduce(out.data(), in.data(), static_cast<int>(count), MPI_UNSIGNED, op, comm);
      for (std::size_t i = 0; i < count; ++i) {
        unsigned wanted = value_at(0, i);
        for (int from = 1; from < ranks; ++from) wanted = combined(op, wanted, value_at(from, i));
        expect(in[i] == wanted, "element %zu of %zu to be %u, not %u", i, count, wanted, in[i]);
      }
    }
  }
}

struct Located {
  double value;
  int rank;
};

void extremes_know_their_rank(MPI_Comm comm) {
  const int rank = rank_in(comm), ranks = ranks_of(comm);
  constexpr std::size_t k_count = 100;
  std::vector<Located> out(k_count), least(k_count), most(k_count);
  const auto value_at = [](int from, std::size_t i) {
    return static_cast<double>((from * 7 + static_cast<int>(i) * 3) % 5);
  };
  for (std::size_t i = 0; i < k_count; ++i) out[i] = {value_at(rank, i), rank};
  MPI_Allreduce(out.data(), least.data(), k_count, MPI_DOUBLE_INT, MPI_MINLOC, comm);
  std::vector<Located> copy = out;
  MPI_Allreduce(MPI_IN_PLACE, copy.data(), k_count, MPI_DOUBLE_INT, MPI_MAXLOC, comm);
  most = copy;
  for (std::size_t i = 0; i < k_count; ++i) {
    Located low{value_at(0, i), 0}, high = low;
    for (int from = 1; from < ranks; ++from) {
      if (value_at(from, i) < low.value) low = {value_at(from, i), from};
      if (value_at(from, i) > high.value) high = {value_at(from, i), from};
    }
    expect(least[i].value == low.value && least[i].rank == low.rank,
           "least of element %zu: %g of rank %d, not %g of %d", i, low.value, low.rank, least[i].value, least[i].rank);
    expect(most[i].value == high.value && most[i].rank == high.rank, "most of element %zu: %g of rank %d, not %g of %d",
           i, high.value, high.rank, most[i].value, most[i].rank);
  }
}

void add_pairs(void* in, void* inout, int* elements, MPI_Datatype*) {
  for (int i = 0; i < *elements; ++i) {
    static_cast<Affine*>(inout)[i].a += static_cast<Affine*>(in)[i].a;
    static_cast<Affine*>(inout)[i].b += static_cast<Affine*>(in)[i].b;
  }
}

void user_functions(MPI_Comm comm, bool commutative) {
  const int rank = rank_in(comm), ranks = ranks_of(comm);
  MPI_Datatype pair = MPI_DATATYPE_NULL;
  MPI_Type_contiguous(2, MPI_UINT32_T, &pair);
  MPI_Type_commit(&pair);
  MPI_Op op = MPI_OP_NULL;
  MPI_Op_create(commutative ? add_pairs : compose, commutative ? 1 : 0, &op);
  for (const std::size_t block : {std::size_t{1}, std::size_t{50}}) {
    const std::size_t count = block * static_cast<std::size_t>(ranks);
    std::vector<Affine> out(count), wanted(count), all(count), at_root(count), shard(block);
    for (std::size_t i = 0; i < count; ++i) {
      out[i] = map_of(rank, i);
      wanted[i] = map_of(0, i);
      for (int from = 1; from < ranks; ++from) {
        Affine next = map_of(from, i);
        wanted[i] = commutative ? Affine{wanted[i].a + next.a, wanted[i].b + next.b} : after(wanted[i], next);
      }
    }
    const auto check = [&](const char* collective, const std::vector<Affine>& got, std::size_t first) {
      for (std::size_t i = 0; i < got.size(); ++i) {
        expect(got[i].a == wanted[first + i].a && got[i].b == wanted[first + i].b,
               "%s by a %s function: element %zu of %zu", collective, commutative ? "commutative" : "non-commutative",
               i, got.size());
      }
    };
    const int root = ranks - 1, elements = static_cast<int>(count);
    MPI_Allreduce(out.data(), all.data(), elements, pair, op, comm);
    check("allreduce", all, 0);
    MPI_Reduce(out.data(), at_root.data(), elements, pair, op, root, comm);
    if (rank == root) check("reduce", at_root, 0);
    MPI_Reduce_scatter_block(out.data(), shard.data(), static_cast<int>(block), pair, op, comm);
    check("reduce_scatter_block", shard, static_cast<std::size_t>(rank) * block);
  }
  MPI_Op_free(&op);
  MPI_Type_free(&pair);
}

void floats_have_the_same_bits_everywhere(MPI_Comm comm) {
  const int rank = rank_in(comm), ranks = ranks_of(comm);
  for (const std::size_t count : {std::size_t{1}, std::size_t{33}, std::size_t{4099}}) {
    std::vector<float> out(count), in(count);
    const auto value_at = [](int from, std::size_t i) {
      return static_cast<float>(std::ldexp(1.0 + static_cast<double>(operand(from, i) % 1000003) / 1e6,
                                           static_cast<int>(operand(from, i) % 20)));
    };
    for (std::size_t i = 0; i < count; ++i) out[i] = value_at(rank, i);
    MPI_Allreduce(out.data(), in.data(), static_cast<int>(count), MPI_FLOAT, MPI_SUM, comm);
    // Compared by messages of our own: a collective might be wrong in the same way everywhere.
    std::vector<float> first = in;
    if (rank == 0) {
      for (int to = 1; to < ranks; ++to) MPI_Send(in.data(), static_cast<int>(count), MPI_FLOAT, to, 9, comm);
    } else {
      MPI_Recv(first.data(), static_cast<int>(count), MPI_FLOAT, 0, 9, comm, MPI_STATUS_IGNORE);
    }
    expect(std::memcmp(first.data(), in.data(), count * sizeof(float)) == 0,
           "the bits of rank 0 in a sum of %zu floats", count);
    for (std::size_t i = 0; i < count; ++i) {
      double exact = 0;
      for (int from = 0; from < ranks; ++from) exact += static_cast<double>(value_at(from, i));
      expect(std::abs(static_cast<double>(in[i]) - exact) <= exact * ranks * 6e-8, "element %zu near %g, not %g", i,
             exact, static_cast<double>(in[i]));
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  mpi_test::Job job(&argc, &argv);
  const Counter served("coll_topo_calls");
  for (const auto& settings : k_settings) {
    MPI_Comm comm = with_settings(MPI_COMM_WORLD, settings);
    predefined_on_integers(comm);
    extremes_know_their_rank(comm);
    user_functions(comm, true);
    user_functions(comm, false);
    floats_have_the_same_bits_everywhere(comm);
    MPI_Comm_free(&comm);
  }
  expect(job.ranks == 1 || served.since_made() > 100, "more than 100 reductions served, not %llu", served.since_made());
  return job.verdict();
}
