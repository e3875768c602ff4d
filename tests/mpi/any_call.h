// Any collective that does not block, with arguments that are the program's only while it makes the call: directly
// after it they are overwritten and freed. What has arrived is compared with MPI's definition, gaps and all.
#pragma once

#include <cstdint>
#include <cstring>
#include <memory>

#include "calls.h"

namespace mpi_test {

enum class Any {
  alltoall,
  allgather,
  allreduce,
  bcast,
  reduce,
  reduce_scatter,
  reduce_scatter_block,
  gather,
  scatter,
  allgatherv,
  gatherv,
  scatterv,
  alltoallv,
  alltoallw,
  neighbor_allgather,
  neighbor_alltoall,
  neighbor_allgatherv,
  neighbor_alltoallv,
  neighbor_alltoallw
};
inline constexpr int k_any = static_cast<int>(Any::neighbor_alltoallw) + 1;
inline constexpr const char* k_any_names[] = {"alltoall",
                                              "allgather",
                                              "allreduce",
                                              "bcast",
                                              "reduce",
                                              "reduce_scatter",
                                              "reduce_scatter_block",
                                              "gather",
                                              "scatter",
                                              "allgatherv",
                                              "gatherv",
                                              "scatterv",
                                              "alltoallv",
                                              "alltoallw",
                                              "neighbor_allgather",
                                              "neighbor_alltoall",
                                              "neighbor_allgatherv",
                                              "neighbor_alltoallv",
                                              "neighbor_alltoallw"};
inline bool is_among_neighbors(Any call) { return call >= Any::neighbor_allgather; }
inline bool is_reduction(Any call) {
  return call == Any::allreduce || call == Any::reduce || call == Any::reduce_scatter ||
         call == Any::reduce_scatter_block;
}
inline bool has_root(Any call) {
  return call == Any::bcast || call == Any::reduce || call == Any::gather || call == Any::scatter ||
         call == Any::gatherv || call == Any::scatterv;
}
inline bool has_in_place(Any call) { return call != Any::bcast && !is_among_neighbors(call); }

/// Memory that is overwritten when it goes: whoever still reads it finds nonsense and not what was there.
template <typename Item>
class Passing {
 public:
  explicit Passing(const std::vector<Item>& items) : items_(items) {}
  Passing(const Passing&) = delete;
  Passing& operator=(const Passing&) = delete;
  ~Passing() {
    if (!items_.empty()) std::memset(items_.data(), 0x6b, items_.size() * sizeof(Item));
  }
  const Item* data() const { return items_.data(); }

 private:
  std::vector<Item> items_;
};

/// Neighbours by number: sources, and destinations in the order of their blocks.
struct Neighbors {
  std::vector<int> from, to;
};

/// Each rank has edges to the next one and the one behind that, or a grid that is closed in itself.
struct Graph {
  MPI_Comm comm = MPI_COMM_NULL;
  Neighbors neighbors;

  Graph(MPI_Comm world, bool is_grid) {
    const int rank = rank_in(world), ranks = ranks_of(world);
    const auto at = [&](int other) { return (rank + other + 2 * ranks) % ranks; };
    if (is_grid) {
      const int closed = 1;
      MPI_Cart_create(world, 1, &ranks, &closed, 0, &comm);
      neighbors = {{at(-1), at(1)}, {at(-1), at(1)}};
      return;
    }
    neighbors = {{at(-1), at(-2)}, {at(1), at(2)}};
    MPI_Dist_graph_create_adjacent(world, 2, neighbors.from.data(), MPI_UNWEIGHTED, 2, neighbors.to.data(),
                                   MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &comm);
  }
  ~Graph() { MPI_Comm_free(&comm); }
  Graph(const Graph&) = delete;
  Graph& operator=(const Graph&) = delete;
};

class AnyCall {
 public:
  struct Form {
    Any call = Any::alltoall;
    bool is_persistent = false, in_place = false;
    bool has_gaps = false;      // derived datatypes
    bool own_operation = true;  // reductions; with gaps in any case
    bool blocks = false;
  };

  AnyCall(MPI_Comm comm, const Form& form, Neighbors neighbors, std::string settings)
      : comm_(comm),
        form_(form),
        neighbors_(std::move(neighbors)),
        settings_(std::move(settings)),
        rank_(rank_in(comm)),
        ranks_(ranks_of(comm)),
        root_(1 % ranks_),
        stride_(form.has_gaps ? 2 : 1) {
    in_place_ = form.in_place && has_in_place(form.call) && (!has_root(form.call) || rank_ == root_);
    for (int peer = 0; peer < ranks_; ++peer) all_.push_back(peer);
    const bool receives = !has_root(form.call) || form.call == Any::bcast || is_from_root() || rank_ == root_;
    output_ =
        form.call == Any::bcast || is_reduction(form.call) || is_from_root() ? std::vector<int>{rank_} : sources();
    if (!receives) output_.clear();
    lay_out(input_blocks(), input_at_, input_);
    lay_out(output_counts(), output_at_, received_);
    if (in_place_ && is_reduction(form.call)) received_.resize(std::max(received_.size(), input_.size()), k_gap);
    wanted_ = received_;
  }
  AnyCall(const AnyCall&) = delete;
  AnyCall& operator=(const AnyCall&) = delete;

  /// This rank's values of a round, and what it is to receive.
  void fill(int round) {
    round_ = round;
    std::fill(input_.begin(), input_.end(), k_gap);
    std::fill(received_.begin(), received_.end(), k_gap);
    const std::vector<int> blocks = input_blocks();
    for (std::size_t block = 0; block < blocks.size(); ++block)
      put(input_, input_at_[block], blocks[block], [&](int i) { return given(block, i); });
    if (form_.call == Any::bcast && rank_ == root_) received_ = input_;
    if (in_place_) put_in_place();
    wanted_ = received_;
    for (std::size_t block = 0; block < output_.size(); ++block)
      put(wanted_, output_at_[block], output_counts()[block], [&](int i) { return expected(block, i); });
  }

  /// Everything that the call was given but buffers is gone when this returns, the communicator too if so wanted.
  void begin(bool frees_communicator) {
    Borrowed types(stride_, form_.own_operation || stride_ > 1);
    const MPI_Comm comm = comm_;
    make(types, frees_communicator ? &comm_ : nullptr, comm);
  }
  MPI_Request* request() { return &request_; }
  /// What the call returned when it began.
  int code() const { return code_; }
  bool is_there() const { return received_ == wanted_ || keeps_own(); }
  void check() const {
    if (keeps_own()) return;
    const auto wrong = std::mismatch(received_.begin(), received_.end(), wanted_.begin());
    expect(wrong.first == received_.end(), "%s%s%s%s (%s): int %zd is %d, not %d",
           k_any_names[static_cast<int>(form_.call)], form_.is_persistent ? "_init" : ", not blocking",
           in_place_ ? ", in place" : "", form_.has_gaps ? ", gaps" : "", settings_.c_str(),
           wrong.first - received_.begin(), wrong.first == received_.end() ? 0 : *wrong.first,
           wrong.first == received_.end() ? 0 : *wrong.second);
  }

 private:
  static constexpr int k_gap = -5;

  /// A datatype and an operation that go at the end.
  struct Borrowed {
    Borrowed(int stride, bool own_operation) {
      if (stride > 1) {
        MPI_Type_create_resized(MPI_INT, 0, stride * static_cast<MPI_Aint>(sizeof(int)), &type);
        MPI_Type_commit(&type);
      }
      if (own_operation) MPI_Op_create(stride > 1 ? &add<2> : &add<1>, 1, &sum);
    }
    Borrowed(const Borrowed&) = delete;
    Borrowed& operator=(const Borrowed&) = delete;
    ~Borrowed() {
      if (type != MPI_INT) MPI_Type_free(&type);
      if (sum != MPI_SUM) MPI_Op_free(&sum);
    }
    template <int stride>
    static void add(void* in, void* inout, int* count, MPI_Datatype*) {
      for (int i = 0; i < *count; ++i) static_cast<int*>(inout)[i * stride] += static_cast<int*>(in)[i * stride];
    }
    MPI_Datatype type = MPI_INT;
    MPI_Op sum = MPI_SUM;
  };

  bool keeps_own() const { return in_place_ && is_from_root(); }  // and has no output
  bool is_from_root() const { return form_.call == Any::scatter || form_.call == Any::scatterv; }
  bool is_even() const {
    return form_.call < Any::allgatherv || form_.call == Any::neighbor_allgather ||
           form_.call == Any::neighbor_alltoall;
  }
  bool is_spread() const {  // everybody gets the same of a rank
    return form_.call == Any::allgather || form_.call == Any::allgatherv || form_.call == Any::neighbor_allgather ||
           form_.call == Any::neighbor_allgatherv || form_.call == Any::gather || form_.call == Any::gatherv;
  }
  std::vector<int> sources() const { return is_among_neighbors(form_.call) ? neighbors_.from : all_; }
  std::vector<int> destinations() const { return is_among_neighbors(form_.call) ? neighbors_.to : all_; }

  /// Elements that `from` has for `to`; the same both ways, for calls in place.
  int elements(int from, int to) const {
    if (form_.call == Any::reduce_scatter) return 1 + to % 3;
    if (is_even()) return 3;
    return is_spread() ? 1 + from % 3 : is_from_root() ? 1 + to % 3 : 1 + (from + to) % 3;
  }
  std::vector<int> input_blocks() const {
    std::vector<int> blocks;
    if (form_.call == Any::bcast) return rank_ == root_ ? std::vector<int>{3} : blocks;
    if (form_.call == Any::allreduce || form_.call == Any::reduce) return {3};
    if (is_spread()) return {elements(rank_, 0)};
    if (is_from_root() && rank_ != root_) return blocks;
    for (const int to : destinations()) blocks.push_back(elements(rank_, to));
    return blocks;
  }
  std::vector<int> output_counts() const {
    std::vector<int> counts;
    for (const int from : output_) {
      if (is_reduction(form_.call) || is_from_root() || form_.call == Any::bcast)
        counts.push_back(elements(root_, rank_));
      else
        counts.push_back(elements(from, rank_));
    }
    return counts;
  }
  /// Blocks that are not even lie in turned order, with an element between them.
  void lay_out(const std::vector<int>& counts, std::vector<int>& at, std::vector<int>& memory) const {
    at.resize(counts.size());
    int end = 0;
    const bool dense = is_even() || is_reduction(form_.call);
    for (std::size_t i = 0; i < counts.size(); ++i) {
      const std::size_t block = dense ? i : counts.size() - 1 - i;
      at[block] = end;
      end += counts[block] + (dense ? 0 : 1);
    }
    memory.assign(static_cast<std::size_t>((end + 2) * stride_), k_gap);
  }
  template <typename Value>
  void put(std::vector<int>& memory, int at, int count, const Value& value_of) const {
    for (int i = 0; i < count; ++i) memory[static_cast<std::size_t>((at + i) * stride_)] = value_of(i);
  }
  int number(int from, int to, int i) const { return value(from, to, static_cast<std::size_t>(i)) + 7 * round_; }
  /// Of a reduction: shard and element are one number.
  int given(std::size_t block, int i) const {
    if (is_reduction(form_.call)) return number(rank_, static_cast<int>(block), i);
    if (is_spread() || form_.call == Any::bcast) return number(rank_, 0, i);
    return number(rank_, destinations()[block], i);
  }
  int expected(std::size_t block, int i) const {
    if (is_reduction(form_.call)) {
      const bool has_shards = form_.call == Any::reduce_scatter || form_.call == Any::reduce_scatter_block;
      int sum = 0;
      for (const int from : all_) sum += number(from, has_shards ? rank_ : 0, i);
      return sum;
    }
    if (form_.call == Any::bcast) return number(root_, 0, i);
    if (is_from_root()) return number(root_, rank_, i);
    return number(output_[block], is_spread() ? 0 : rank_, i);
  }
  void put_in_place() {
    if (is_reduction(form_.call)) {
      std::copy(input_.begin(), input_.end(), received_.begin());
    } else if (is_spread()) {
      const auto own = static_cast<std::size_t>(rank_);
      put(received_, output_at_[own], output_counts()[own], [&](int i) { return given(0, i); });
    } else if (!is_from_root()) {
      for (std::size_t peer = 0; peer < output_.size(); ++peer)
        put(received_, output_at_[peer], output_counts()[peer], [&](int i) { return given(peer, i); });
    }
  }

  std::vector<int> bytes_at(const std::vector<int>& at) const {
    std::vector<int> bytes;
    for (const int element : at) bytes.push_back(element * stride_ * static_cast<int>(sizeof(int)));
    return bytes;
  }
  void make(const Borrowed& types, MPI_Comm* freed, MPI_Comm comm);

  MPI_Comm comm_;
  Form form_;
  Neighbors neighbors_;
  std::string settings_;
  int rank_, ranks_, root_, stride_, round_ = 0;
  bool in_place_ = false;
  std::vector<int> all_, output_;  // every rank; from whom each block of the output comes
  std::vector<int> input_at_, output_at_, input_, received_, wanted_;
  MPI_Request request_ = MPI_REQUEST_NULL;
  int code_ = MPI_SUCCESS;
};

inline void AnyCall::make(const Borrowed& types, MPI_Comm* freed, MPI_Comm comm) {
  const std::vector<int> sends = input_blocks(), receives = output_counts();
  std::vector<MPI_Aint> far_sent, far_received;
  for (const int bytes : bytes_at(input_at_)) far_sent.push_back(bytes);
  for (const int bytes : bytes_at(output_at_)) far_received.push_back(bytes);
  const Passing<int> sc(sends), rc(receives), sd(input_at_), rd(output_at_), sb(bytes_at(input_at_)),
      rb(bytes_at(output_at_));
  const Passing<MPI_Aint> sa(far_sent), ra(far_received);
  const Passing<MPI_Datatype> st(std::vector<MPI_Datatype>(sends.size(), types.type)),
      rt(std::vector<MPI_Datatype>(receives.size(), types.type));
  const MPI_Datatype t = types.type;
  const MPI_Op op = types.sum;
  MPI_Request* const r = &request_;
  const MPI_Info none = MPI_INFO_NULL;
  const void* const in = in_place_ ? MPI_IN_PLACE : input_.data();
  void* const out = received_.data();
  void* const own_out = in_place_ ? MPI_IN_PLACE : received_.data();
  const int own = elements(rank_, 0), n = 3;
#define MPI_TEST_MAKE(I, Name, ...)                                               \
  code_ = form_.blocks          ? MPI_##Name(__VA_ARGS__, comm)                   \
          : form_.is_persistent ? MPI_TEST_INIT(Name)(__VA_ARGS__, comm, none, r) \
                                : MPI_##I(__VA_ARGS__, comm, r)
  switch (form_.call) {
    case Any::alltoall:
      MPI_TEST_MAKE(Ialltoall, Alltoall, in, n, t, out, n, t);
      break;
    case Any::allgather:
      MPI_TEST_MAKE(Iallgather, Allgather, in, n, t, out, n, t);
      break;
    case Any::allreduce:
      MPI_TEST_MAKE(Iallreduce, Allreduce, in, out, n, t, op);
      break;
    case Any::bcast:
      MPI_TEST_MAKE(Ibcast, Bcast, out, n, t, root_);
      break;
    case Any::reduce:
      MPI_TEST_MAKE(Ireduce, Reduce, in, out, n, t, op, root_);
      break;
    case Any::reduce_scatter:
      MPI_TEST_MAKE(Ireduce_scatter, Reduce_scatter, in, out, sc.data(), t, op);
      break;
    case Any::reduce_scatter_block:
      MPI_TEST_MAKE(Ireduce_scatter_block, Reduce_scatter_block, in, out, n, t, op);
      break;
    case Any::gather:
      MPI_TEST_MAKE(Igather, Gather, in, n, t, out, n, t, root_);
      break;
    case Any::scatter:
      MPI_TEST_MAKE(Iscatter, Scatter, input_.data(), n, t, own_out, n, t, root_);
      break;
    case Any::allgatherv:
      MPI_TEST_MAKE(Iallgatherv, Allgatherv, in, own, t, out, rc.data(), rd.data(), t);
      break;
    case Any::gatherv:
      MPI_TEST_MAKE(Igatherv, Gatherv, in, own, t, out, rc.data(), rd.data(), t, root_);
      break;
    case Any::scatterv:
      MPI_TEST_MAKE(Iscatterv, Scatterv, input_.data(), sc.data(), sd.data(), t, own_out, elements(root_, rank_), t,
                    root_);
      break;
    case Any::alltoallv:
      MPI_TEST_MAKE(Ialltoallv, Alltoallv, in, sc.data(), sd.data(), t, out, rc.data(), rd.data(), t);
      break;
    case Any::alltoallw:
      MPI_TEST_MAKE(Ialltoallw, Alltoallw, in, sc.data(), sb.data(), st.data(), out, rc.data(), rb.data(), rt.data());
      break;
    case Any::neighbor_allgather:
      MPI_TEST_MAKE(Ineighbor_allgather, Neighbor_allgather, in, n, t, out, n, t);
      break;
    case Any::neighbor_alltoall:
      MPI_TEST_MAKE(Ineighbor_alltoall, Neighbor_alltoall, in, n, t, out, n, t);
      break;
    case Any::neighbor_allgatherv:
      MPI_TEST_MAKE(Ineighbor_allgatherv, Neighbor_allgatherv, in, own, t, out, rc.data(), rd.data(), t);
      break;
    case Any::neighbor_alltoallv:
      MPI_TEST_MAKE(Ineighbor_alltoallv, Neighbor_alltoallv, in, sc.data(), sd.data(), t, out, rc.data(), rd.data(), t);
      break;
    case Any::neighbor_alltoallw:
      MPI_TEST_MAKE(Ineighbor_alltoallw, Neighbor_alltoallw, in, sc.data(), sa.data(), st.data(), out, rc.data(),
                    ra.data(), rt.data());
  }
#undef MPI_TEST_MAKE
  if (freed != nullptr) MPI_Comm_free(freed);
}

}  // namespace mpi_test
