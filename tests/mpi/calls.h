// One call of any collective, non-blocking or persistent, with its buffers, and the values that they must have in the
// end.
#pragma once

#include <algorithm>

#include "form.h"
#include "mpi_test.h"

namespace mpi_test {

enum class Kind {
  alltoall,
  allgather,
  allreduce,
  bcast,
  reduce,
  reduce_scatter,
  reduce_scatter_block,
  gather,
  scatter
};
inline constexpr Kind k_kinds[] = {Kind::alltoall,
                                   Kind::allgather,
                                   Kind::allreduce,
                                   Kind::bcast,
                                   Kind::reduce,
                                   Kind::reduce_scatter,
                                   Kind::reduce_scatter_block,
                                   Kind::gather,
                                   Kind::scatter};

inline bool is_rooted(Kind kind) {
  return kind == Kind::bcast || kind == Kind::reduce || kind == Kind::gather || kind == Kind::scatter;
}

/// A duplicate on which every call is served.
inline MPI_Comm served_by_force(MPI_Comm comm) {
  return with_settings(comm, {"alltoall_algorithm", "tra", "allgather_algorithm", "ring", "allreduce_algorithm", "ring",
                              "bcast_algorithm", "binomial", "reduce_algorithm", "binomial", "reduce_scatter_algorithm",
                              "ring", "gather_algorithm", "binomial", "scatter_algorithm", "binomial"});
}

class One {
 public:
  /// `salt` makes this call's values unlike those of others.
  One(MPI_Comm comm, Kind kind, std::size_t count, int root, bool in_place, int salt = 0)
      : comm_(comm),
        kind_(kind),
        count_(static_cast<int>(count)),
        root_(root % ranks_of(comm)),
        salt_(salt),
        rank_(rank_in(comm)),
        ranks_(ranks_of(comm)),
        counts_(static_cast<std::size_t>(ranks_), count_) {
    in_place_ = in_place && kind != Kind::bcast && (!is_rooted(kind) || rank_ == root_);
    const std::size_t all = count * static_cast<std::size_t>(ranks_);
    const bool shards_in = kind == Kind::alltoall || kind == Kind::scatter || kind == Kind::reduce_scatter ||
                           kind == Kind::reduce_scatter_block;
    const bool shards_out = kind == Kind::alltoall || kind == Kind::allgather || kind == Kind::gather;
    input_.resize(shards_in ? all : count);
    outputs_ = shards_out ? all : count;
    output_.resize(std::max(outputs_, in_place_ ? input_.size() : outputs_) + 3);
    fill();
  }

  /// Puts this rank's values where the call reads them.
  void fill() {
    for (std::size_t i = 0; i < input_.size(); ++i) input_[i] = given(rank_, i);
    std::fill(output_.begin(), output_.end(), -1);
    const std::size_t first = kind_ == Kind::allgather || kind_ == Kind::gather ? own() : 0;
    if (in_place_ && kind_ != Kind::scatter)
      std::copy(input_.begin(), input_.end(), output_.begin() + static_cast<std::ptrdiff_t>(first));
    if (kind_ == Kind::bcast && rank_ == root_) std::copy(input_.begin(), input_.end(), output_.begin());
  }

  MPI_Request* request() { return &request_; }
  bool receives() const {
    return !is_rooted(kind_) || kind_ == Kind::bcast || kind_ == Kind::scatter || rank_ == root_;
  }

  void start() { make(false); }
  void init() { make(true); }

  /// Whether everything has arrived.
  bool is_there() const {
    for (std::size_t i = 0; receives() && i < outputs_; ++i)
      if (output_[i] != expected(i)) return false;
    return true;
  }
  /// What was sent must be there still, and what was received as it should.
  void check() const {
    for (std::size_t i = 0; i < input_.size(); ++i)
      expect(input_[i] == given(rank_, i), "input %zu of call %d (kind %d) unchanged", i, salt_,
             static_cast<int>(kind_));
    if (!receives() || (in_place_ && kind_ == Kind::scatter)) return;
    for (std::size_t i = 0; i < outputs_; ++i) {
      const int wanted = expected(i);
      expect(output_[i] == wanted, "%d at %zu of call %d (kind %d, %d ints, root %d%s), not %d", wanted, i, salt_,
             static_cast<int>(kind_), count_, root_, in_place_ ? ", in place" : "", output_[i]);
    }
    for (std::size_t i = output_.size() - 3; i < output_.size(); ++i)
      expect(output_[i] == -1, "nothing behind the buffer, but %d", output_[i]);
  }

 private:
  void make(bool is_persistent) {
    const void* const in = in_place_ ? MPI_IN_PLACE : input_.data();
    int* const out = output_.data();
    MPI_Request* const r = &request_;
    const MPI_Info none = MPI_INFO_NULL;
#define MPI_TEST_MAKE(I, Init, ...) \
  is_persistent ? MPI_TEST_INIT(Init)(__VA_ARGS__, comm_, none, r) : MPI_##I(__VA_ARGS__, comm_, r)
    switch (kind_) {
      case Kind::alltoall:
        MPI_TEST_MAKE(Ialltoall, Alltoall, in, count_, MPI_INT, out, count_, MPI_INT);
        break;
      case Kind::allgather:
        MPI_TEST_MAKE(Iallgather, Allgather, in, count_, MPI_INT, out, count_, MPI_INT);
        break;
      case Kind::allreduce:
        MPI_TEST_MAKE(Iallreduce, Allreduce, in, out, count_, MPI_INT, MPI_SUM);
        break;
      case Kind::bcast:
        MPI_TEST_MAKE(Ibcast, Bcast, out, count_, MPI_INT, root_);
        break;
      case Kind::reduce:
        MPI_TEST_MAKE(Ireduce, Reduce, in, out, count_, MPI_INT, MPI_SUM, root_);
        break;
      case Kind::reduce_scatter:
        MPI_TEST_MAKE(Ireduce_scatter, Reduce_scatter, in, out, counts_.data(), MPI_INT, MPI_SUM);
        break;
      case Kind::reduce_scatter_block:
        MPI_TEST_MAKE(Ireduce_scatter_block, Reduce_scatter_block, in, out, count_, MPI_INT, MPI_SUM);
        break;
      case Kind::gather:
        MPI_TEST_MAKE(Igather, Gather, in, count_, MPI_INT, out, count_, MPI_INT, root_);
        break;
      case Kind::scatter:
        MPI_TEST_MAKE(Iscatter, Scatter, input_.data(), count_, MPI_INT, in_place_ ? MPI_IN_PLACE : out, count_,
                      MPI_INT, root_);
    }
#undef MPI_TEST_MAKE
  }

  std::size_t own() const { return static_cast<std::size_t>(rank_) * static_cast<std::size_t>(count_); }
  int given(int from, std::size_t i) const { return value(from, 0, i) + 7919 * (salt_ % 1000) + static_cast<int>(i); }
  int expected(std::size_t i) const {
    const auto count = static_cast<std::size_t>(count_);
    const auto sum = [&](std::size_t at) {
      int result = 0;
      for (int from = 0; from < ranks_; ++from) result += given(from, at);
      return result;
    };
    switch (kind_) {
      case Kind::alltoall:
        return given(static_cast<int>(i / count), own() + i % count);
      case Kind::allgather:
      case Kind::gather:
        return given(static_cast<int>(i / count), i % count);
      case Kind::allreduce:
      case Kind::reduce:
        return sum(i);
      case Kind::reduce_scatter:
      case Kind::reduce_scatter_block:
        return sum(own() + i);
      case Kind::scatter:
        return given(root_, own() + i);
      default:
        return given(root_, i);
    }
  }

  MPI_Comm comm_;
  Kind kind_;
  int count_, root_, salt_, rank_, ranks_;
  bool in_place_ = false;
  std::vector<int> counts_, input_, output_;
  std::size_t outputs_ = 0;
  MPI_Request request_ = MPI_REQUEST_NULL;
};

}  // namespace mpi_test
