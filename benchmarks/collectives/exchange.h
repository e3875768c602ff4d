// One collective call of a known size, with buffers whose right contents are known by a formula. Every element of every
// rank is compared, the bytes around the buffers must stay as they were, and so must the input.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "traffic.h"

namespace colltopo::bench {

enum class Kind {
  alltoall,
  allgather,
  allreduce,
  reduce_scatter,
  reduce_scatter_block,
  bcast,
  reduce,
  gather,
  scatter,
  allgatherv,
  gatherv,
  scatterv,
  alltoallv,
  alltoallw,
  neighbor_alltoallv  // among the ranks that an alltoallv would have blocks for
};

struct KindName {
  Kind kind;
  const char* name;
  const char* parameter;  // in coll_topo_PARAMETER_algorithm
  bool reduces;
  bool rooted = false;
  bool uneven = false;  // blocks have sizes of their own
};
std::span<const KindName> kinds();
const KindName& name_of(Kind kind);
/// Everybody may have something of its own for everybody.
bool exchanges(Kind kind);

enum class Element { int8, int32, int64, float32, float64 };
enum class Reduction { sum, prod, min, max, band, bor, bxor };

std::size_t size_of(Element element);
bool is_integer(Element element);
const char* name_of(Element element);
MPI_Datatype datatype(Element element);
MPI_Op operation(Reduction reduction);

/// What one measurement calls.
struct Case {
  Kind kind = Kind::alltoall;
  std::size_t count = 0;  // elements of a shard, or of the vector (allreduce, bcast, reduce)
  Element element = Element::float64;
  Reduction reduction = Reduction::sum;
  int root = 0;
  Spread spread = Spread::equal;  // of calls whose blocks have sizes of their own, of which `count` is the mean
};

/// The first wrong place that a rank found, or none.
struct Wrong {
  std::uint64_t elements = 0;  // how many are wrong
  std::string first;           // "element 5 of 16 is 12, not 7"
};

class Exchange {
 public:
  Exchange(const Case& what, int rank, int ranks);

  /// Values that follow from (seed, ranks, index) alone; the output is poisoned.
  void fill(std::uint64_t seed);
  /// The collective itself, once.
  void call(MPI_Comm comm);
  /// The same call begun, or made a persistent request (exchange_requests.cpp).
  void start(MPI_Comm comm, MPI_Request* request);
  void init(MPI_Comm comm, MPI_Request* request);
  /// After fill(seed) and call(): compares everything with the formula.
  Wrong compare(std::uint64_t seed) const;

 private:
  void place_blocks();
  void place_edges();
  void call_uneven(MPI_Comm comm);
  std::uint64_t moved_in_block(std::uint64_t seed, std::size_t index) const;
  std::uint64_t received_from_block(std::uint64_t seed, std::size_t index) const;
  template <class T>
  void fill_as(std::uint64_t seed);
  template <class T>
  Wrong compare_as(std::uint64_t seed) const;
  void* input() { return input_.data() + k_margin; }
  void* output() { return output_.data() + k_margin; }

  static constexpr std::size_t k_margin = 64;  // bytes on each side of a buffer that nobody may touch

  Case case_;
  int rank_;
  int ranks_;
  std::size_t input_count_;
  std::size_t output_count_;
  std::vector<std::byte> input_;   // with a margin on both sides
  std::vector<std::byte> output_;  // with a margin on both sides
  std::vector<int> counts_;
  Blocks sent_, received_;  // of blocks with sizes of their own
  Edges sent_edges_, received_edges_;
  std::vector<int> sent_bytes_, received_bytes_;
  std::vector<MPI_Datatype> types_;
};

}  // namespace colltopo::bench
