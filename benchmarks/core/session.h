// One rank of a made-up communicator with its buffers, and calls on it.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "case.h"
#include "lazy_buffer.h"
#include "made_up_rank.h"
#include "own_process.h"

namespace colltopo::bench {

/// Microseconds of this process's processors.
double us_of(const auto& work) { return seconds(CLOCK_PROCESS_CPUTIME_ID, work) * 1e6; }
double median(std::vector<double> values);

struct FreeComm {
  void operator()(colltopo_comm* comm) const { colltopo_comm_free(comm); }
};
using OwnComm = std::unique_ptr<colltopo_comm, FreeComm>;

class Session {
 public:
  static constexpr int k_blocks = 9;

  /// `largest`: bytes of the largest call that is to come.
  Session(const Case& one, std::size_t largest);

  /// Another communicator with the case's settings. Throws std::runtime_error when one is refused.
  OwnComm comm();

  colltopo_call call(std::size_t bytes, int root) const;
  colltopo_call call() const { return call(one_.bytes, one_.root); }

  /// Whether it was served. Throws std::runtime_error when it failed.
  bool run(colltopo_comm* comm, const colltopo_call& call) const;
  bool serves(colltopo_comm* comm, const colltopo_call& call) const;

  /// Microseconds of one such call, the middle of several blocks of many.
  double us_per_call(colltopo_comm* comm, const colltopo_call& call) const;
  /// How many calls, which take turns, make a block that is long against the clock.
  long calls_of_a_block(colltopo_comm* comm, std::span<const colltopo_call> several) const;
  /// Microseconds of one of `calls`.
  double us_of_block(colltopo_comm* comm, std::span<const colltopo_call> several, long calls) const;

  MadeUpRank& world() { return world_; }
  /// Gives back what calls have written there.
  void touch_buffers() const;
  void forget_buffers() const;

 private:
  std::size_t whole(std::size_t bytes) const;

  const Case& one_;
  MadeUpRank world_;
  LazyBuffer input_, output_;
};

/// The algorithm that has served most calls since this object was made.
class ServedBy {
 public:
  ServedBy();
  void tell(Figures& figures) const;

 private:
  std::vector<unsigned long long> before_;
};

}  // namespace colltopo::bench
