#include "exchange.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <stdexcept>
#include <type_traits>

namespace colltopo::bench {

namespace {

constexpr std::byte k_poison{0xA5};

constexpr std::array<KindName, 15> k_kinds = {{
    {Kind::alltoall, "alltoall", "alltoall", false},
    {Kind::allgather, "allgather", "allgather", false},
    {Kind::allreduce, "allreduce", "allreduce", true},
    {Kind::reduce_scatter, "reduce_scatter", "reduce_scatter", true},
    {Kind::reduce_scatter_block, "reduce_scatter_block", "reduce_scatter", true},
    {Kind::bcast, "bcast", "bcast", false, true},
    {Kind::reduce, "reduce", "reduce", true, true},
    {Kind::gather, "gather", "gather", false, true},
    {Kind::scatter, "scatter", "scatter", false, true},
    {Kind::allgatherv, "allgatherv", "allgatherv", false, false, true},
    {Kind::gatherv, "gatherv", "gatherv", false, true, true},
    {Kind::scatterv, "scatterv", "scatterv", false, true, true},
    {Kind::alltoallv, "alltoallv", "alltoallv", false, false, true},
    {Kind::alltoallw, "alltoallw", "alltoallw", false, false, true},
    {Kind::neighbor_alltoallv, "neighbor_alltoallv", "neighborhood", false, false, true},
}};

// Small enough for every element type to hold it exactly.
constexpr std::uint64_t k_values = 113;

std::uint64_t mix(std::uint64_t seed, std::uint64_t from, std::uint64_t to, std::uint64_t index) {
  std::uint64_t x = seed + from * 0x9E3779B97F4A7C15U + to * 0xC2B2AE3D27D4EB4FU + index * 0x165667B19E3779F9U;
  x ^= x >> 32;
  x *= 0xD6E8FEB86659FD93U;
  return x ^ (x >> 32);
}

// What rank `from` has for rank `to` at `index` of that shard.
std::uint64_t moved(std::uint64_t seed, int from, int to, std::size_t index) {
  return mix(seed, static_cast<std::uint64_t>(from), static_cast<std::uint64_t>(to), index) % k_values;
}

// What a rank contributes at `index` of the vector. Sums and products stay below 128, so that no order of the
// operations overflows or rounds, whatever the type.
std::uint64_t contributed(Reduction reduction, Element element, std::uint64_t seed, int rank, int ranks,
                          std::size_t index) {
  const std::uint64_t any = mix(seed, static_cast<std::uint64_t>(rank), 0, index);
  const auto all = static_cast<std::uint64_t>(ranks);
  switch (reduction) {
    case Reduction::sum: {
      if (element != Element::int8) return any % k_values;
      if (static_cast<std::uint64_t>(rank) >= k_values) return 0;
      return any % (1 + k_values / std::min(all, k_values));
    }
    case Reduction::prod:
      return (static_cast<std::uint64_t>(rank) + index + seed) % all < index % 6 ? 2 : 1;
    default:
      return any % k_values;
  }
}

std::uint64_t combined(Reduction reduction, std::uint64_t a, std::uint64_t b) {
  switch (reduction) {
    case Reduction::sum:
      return a + b;
    case Reduction::prod:
      return a * b;
    case Reduction::min:
      return std::min(a, b);
    case Reduction::max:
      return std::max(a, b);
    case Reduction::band:
      return a & b;
    case Reduction::bor:
      return a | b;
    case Reduction::bxor:
      return a ^ b;
  }
  return 0;
}

std::uint64_t reduced(const Case& what, std::uint64_t seed, int ranks, std::size_t index) {
  std::uint64_t value = contributed(what.reduction, what.element, seed, 0, ranks, index);
  for (int rank = 1; rank < ranks; ++rank)
    value = combined(what.reduction, value, contributed(what.reduction, what.element, seed, rank, ranks, index));
  return value;
}

template <class Body>
auto with_type(Element element, Body body) {
  switch (element) {
    case Element::int8:
      return body(std::int8_t{});
    case Element::int32:
      return body(std::int32_t{});
    case Element::int64:
      return body(std::int64_t{});
    case Element::float32:
      return body(float{});
    case Element::float64:
      break;
  }
  return body(double{});
}

bool is_poison(std::span<const std::byte> bytes) {
  return std::all_of(bytes.begin(), bytes.end(), [](std::byte b) { return b == k_poison; });
}

template <class T>
T element_at(const std::byte* first, std::size_t index) {
  T value;
  std::memcpy(&value, first + index * sizeof(T), sizeof(T));
  return value;
}

}  // namespace

MPI_Datatype datatype(Element element) {
  switch (element) {
    case Element::int8:
      return MPI_INT8_T;
    case Element::int32:
      return MPI_INT32_T;
    case Element::int64:
      return MPI_INT64_T;
    case Element::float32:
      return MPI_FLOAT;
    case Element::float64:
      return MPI_DOUBLE;
  }
  return MPI_DATATYPE_NULL;
}

MPI_Op operation(Reduction reduction) {
  switch (reduction) {
    case Reduction::sum:
      return MPI_SUM;
    case Reduction::prod:
      return MPI_PROD;
    case Reduction::min:
      return MPI_MIN;
    case Reduction::max:
      return MPI_MAX;
    case Reduction::band:
      return MPI_BAND;
    case Reduction::bor:
      return MPI_BOR;
    case Reduction::bxor:
      return MPI_BXOR;
  }
  return MPI_OP_NULL;
}

std::span<const KindName> kinds() { return k_kinds; }

bool exchanges(Kind kind) {
  return kind == Kind::alltoallv || kind == Kind::alltoallw || kind == Kind::neighbor_alltoallv;
}

const KindName& name_of(Kind kind) {
  return *std::find_if(k_kinds.begin(), k_kinds.end(), [&](const KindName& k) { return k.kind == kind; });
}

std::size_t size_of(Element element) {
  return with_type(element, [](auto value) { return sizeof(value); });
}

bool is_integer(Element element) { return element != Element::float32 && element != Element::float64; }

const char* name_of(Element element) {
  constexpr std::array names = {"int8", "int32", "int64", "float", "double"};
  return names[static_cast<std::size_t>(element)];
}

Exchange::Exchange(const Case& what, int rank, int ranks)
    : case_(what), rank_(rank), ranks_(ranks), input_count_(what.count), output_count_(what.count) {
  const auto all = static_cast<std::size_t>(ranks);
  const bool scatters = what.kind == Kind::reduce_scatter || what.kind == Kind::reduce_scatter_block;
  const bool is_root = rank == what.root;
  if (what.kind == Kind::alltoall || scatters) input_count_ *= all;
  if (what.kind == Kind::alltoall || what.kind == Kind::allgather) output_count_ *= all;
  if (what.kind == Kind::bcast) input_count_ = 0;
  if (what.kind == Kind::gather) output_count_ *= is_root ? all : 0;
  if (what.kind == Kind::scatter) input_count_ *= is_root ? all : 0;
  if (name_of(what.kind).uneven) place_blocks();
  input_.assign(input_count_ * size_of(what.element) + 2 * k_margin, k_poison);
  output_.assign(output_count_ * size_of(what.element) + 2 * k_margin, k_poison);
  if (what.kind == Kind::reduce_scatter) counts_.assign(all, static_cast<int>(what.count));
}

// A side of one block is a list of one.
void Exchange::place_blocks() {
  const auto between = [&](int from, int to) { return elements_between(case_.spread, case_.count, ranks_, from, to); };
  const bool is_root = rank_ == case_.root;
  for (int peer = 0; peer < ranks_; ++peer) {
    if (exchanges(case_.kind)) sent_.add(between(rank_, peer));
    if (exchanges(case_.kind)) received_.add(between(peer, rank_));
    if (case_.kind == Kind::scatterv && is_root) sent_.add(between(peer, 0));
    if (case_.kind == Kind::allgatherv || (case_.kind == Kind::gatherv && is_root)) received_.add(between(peer, 0));
  }
  if (case_.kind == Kind::allgatherv || case_.kind == Kind::gatherv) sent_.add(between(rank_, 0));
  if (case_.kind == Kind::scatterv) received_.add(between(rank_, 0));
  input_count_ = sent_.elements;
  output_count_ = received_.elements;
  if (case_.kind == Kind::neighbor_alltoallv) place_edges();
  if (case_.kind != Kind::alltoallw) return;
  const auto bytes = static_cast<int>(size_of(case_.element));
  for (const int place : sent_.places) sent_bytes_.push_back(place * bytes);
  for (const int place : received_.places) received_bytes_.push_back(place * bytes);
  types_.assign(static_cast<std::size_t>(ranks_), datatype(case_.element));
}

// Open MPI wants arrays of nothing to be somewhere.
void Exchange::place_edges() {
  const auto take = [](const std::vector<int>& peers, const Blocks& blocks, Edges& edges) {
    edges.counts.reserve(peers.size() + 1);
    edges.places.reserve(peers.size() + 1);
    for (const int peer : peers) {
      edges.counts.push_back(blocks.counts[static_cast<std::size_t>(peer)]);
      edges.places.push_back(blocks.places[static_cast<std::size_t>(peer)]);
    }
  };
  take(destinations_of(case_.spread, ranks_, rank_), sent_, sent_edges_);
  take(sources_of(case_.spread, ranks_, rank_), received_, received_edges_);
}

void Exchange::fill(std::uint64_t seed) {
  with_type(case_.element, [&](auto value) { fill_as<decltype(value)>(seed); });
}

template <class T>
void Exchange::fill_as(std::uint64_t seed) {
  std::fill(output_.begin(), output_.end(), k_poison);
  const bool to_each = case_.kind == Kind::alltoall || case_.kind == Kind::scatter;
  const bool is_bcast = case_.kind == Kind::bcast;
  const bool uneven = name_of(case_.kind).uneven;
  if (is_bcast && rank_ != case_.root) return;
  std::vector<std::byte>& buffer = is_bcast ? output_ : input_;
  const std::size_t elements = is_bcast ? output_count_ : input_count_;
  for (std::size_t i = 0; i < elements; ++i) {
    const std::uint64_t value = name_of(case_.kind).reduces
                                    ? contributed(case_.reduction, case_.element, seed, rank_, ranks_, i)
                                : uneven  ? moved_in_block(seed, i)
                                : to_each ? moved(seed, rank_, static_cast<int>(i / case_.count), i % case_.count)
                                          : moved(seed, rank_, 0, i);
    const T typed = static_cast<T>(value);
    std::memcpy(buffer.data() + k_margin + i * sizeof(T), &typed, sizeof(T));
  }
}

std::uint64_t Exchange::moved_in_block(std::uint64_t seed, std::size_t index) const {
  const std::size_t block = sent_.block_of(index);
  const bool to_each = sent_.counts.size() > 1;
  return moved(seed, rank_, to_each ? static_cast<int>(block) : 0,
               index - static_cast<std::size_t>(sent_.places[block]));
}

void Exchange::call_uneven(MPI_Comm comm) {
  void* in = input_.data() + k_margin;
  void* out = output_.data() + k_margin;
  const MPI_Datatype type = datatype(case_.element);
  switch (case_.kind) {
    case Kind::allgatherv:
      MPI_Allgatherv(in, sent_.counts[0], type, out, received_.counts.data(), received_.places.data(), type, comm);
      break;
    case Kind::gatherv:
      MPI_Gatherv(in, sent_.counts[0], type, out, received_.counts.data(), received_.places.data(), type, case_.root,
                  comm);
      break;
    case Kind::scatterv:
      MPI_Scatterv(in, sent_.counts.data(), sent_.places.data(), type, out, received_.counts[0], type, case_.root,
                   comm);
      break;
    case Kind::alltoallv:
      MPI_Alltoallv(in, sent_.counts.data(), sent_.places.data(), type, out, received_.counts.data(),
                    received_.places.data(), type, comm);
      break;
    case Kind::neighbor_alltoallv:
      MPI_Neighbor_alltoallv(in, sent_edges_.counts.data(), sent_edges_.places.data(), type, out,
                             received_edges_.counts.data(), received_edges_.places.data(), type, comm);
      break;
    default:
      MPI_Alltoallw(in, sent_.counts.data(), sent_bytes_.data(), types_.data(), out, received_.counts.data(),
                    received_bytes_.data(), types_.data(), comm);
      break;
  }
}

void Exchange::call(MPI_Comm comm) {
  if (name_of(case_.kind).uneven) return call_uneven(comm);
  void* in = input_.data() + k_margin;
  void* out = output_.data() + k_margin;
  const int count = static_cast<int>(case_.count);
  const MPI_Datatype type = datatype(case_.element);
  const MPI_Op op = operation(case_.reduction);
  switch (case_.kind) {
    case Kind::alltoall:
      MPI_Alltoall(in, count, type, out, count, type, comm);
      break;
    case Kind::allgather:
      MPI_Allgather(in, count, type, out, count, type, comm);
      break;
    case Kind::allreduce:
      MPI_Allreduce(in, out, count, type, op, comm);
      break;
    case Kind::reduce_scatter:
      MPI_Reduce_scatter(in, out, counts_.data(), type, op, comm);
      break;
    case Kind::reduce_scatter_block:
      MPI_Reduce_scatter_block(in, out, count, type, op, comm);
      break;
    case Kind::bcast:
      MPI_Bcast(out, count, type, case_.root, comm);
      break;
    case Kind::reduce:
      MPI_Reduce(in, out, count, type, op, case_.root, comm);
      break;
    case Kind::gather:
      MPI_Gather(in, count, type, out, count, type, case_.root, comm);
      break;
    case Kind::scatter:
      MPI_Scatter(in, count, type, out, count, type, case_.root, comm);
      break;
    default:
      break;
  }
}

Wrong Exchange::compare(std::uint64_t seed) const {
  return with_type(case_.element, [&](auto value) { return compare_as<decltype(value)>(seed); });
}

std::uint64_t Exchange::received_from_block(std::uint64_t seed, std::size_t index) const {
  const std::size_t block = received_.block_of(index), at = index - static_cast<std::size_t>(received_.places[block]);
  if (case_.kind == Kind::scatterv) return moved(seed, case_.root, rank_, at);
  return moved(seed, static_cast<int>(block), exchanges(case_.kind) ? rank_ : 0, at);
}

template <class T>
Wrong Exchange::compare_as(std::uint64_t seed) const {
  Wrong wrong;
  const auto note = [&](const std::string& what) {
    if (wrong.elements++ == 0) wrong.first = what;
  };

  const bool has_result = case_.kind != Kind::reduce || rank_ == case_.root;
  for (std::size_t i = 0; has_result && i < output_count_; ++i) {
    std::uint64_t value = 0;
    switch (case_.kind) {
      case Kind::alltoall:
        value = moved(seed, static_cast<int>(i / case_.count), rank_, i % case_.count);
        break;
      case Kind::allgather:
      case Kind::gather:
        value = moved(seed, static_cast<int>(i / case_.count), 0, i % case_.count);
        break;
      case Kind::bcast:
        value = moved(seed, case_.root, 0, i);
        break;
      case Kind::scatter:
        value = moved(seed, case_.root, rank_, i);
        break;
      case Kind::allgatherv:
      case Kind::gatherv:
      case Kind::scatterv:
      case Kind::alltoallv:
      case Kind::alltoallw:
      case Kind::neighbor_alltoallv:
        value = received_from_block(seed, i);
        break;
      case Kind::reduce_scatter:
      case Kind::reduce_scatter_block:
        value = reduced(case_, seed, ranks_, static_cast<std::size_t>(rank_) * case_.count + i);
        break;
      default:
        value = reduced(case_, seed, ranks_, i);
    }
    const T found = element_at<T>(output_.data() + k_margin, i);
    if (found != static_cast<T>(value))
      note(fmt::format("element {} of {} is {}, not {}", i, output_count_, found, value));
  }

  const std::span<const std::byte> out(output_);
  if (!is_poison(out.first(k_margin))) note("bytes before the receive buffer were overwritten");
  if (!is_poison(out.last(k_margin))) note("bytes after the receive buffer were overwritten");
  if (!has_result && !is_poison(out)) note("the receive buffer of a rank that is not the root was written");

  Exchange again(case_, rank_, ranks_);
  again.fill(seed);
  if (again.input_ != input_) note("the send buffer was written");
  return wrong;
}

}  // namespace colltopo::bench
