// All ranks in one process, for tests: messages complete in a random, repeatable order.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <random>
#include <vector>

#include "colltopo/execution.h"
#include "colltopo/schedule.h"

namespace colltopo {

/// eager: a send completes when it starts. rendezvous: only when its receive has been posted.
enum class Protocol : std::uint8_t { eager, rendezvous };
/// Whether a message must be as long as its receive, or may be shorter.
enum class Lengths : std::uint8_t { equal, shorter };

/// The wires between P ranks. One Transport per rank; step() delivers one matched message chosen at random.
class Loopback {
 public:
  Loopback(Rank ranks, std::uint64_t seed, Protocol protocol, Lengths lengths = Lengths::equal);
  ~Loopback();

  Transport& endpoint(Rank rank);
  /// Delivers one message; false when none can be delivered.
  bool step();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// Runs a whole schedule on real data in this process; ranks and messages take turns in a random order.
/// Returns the outputs [rank]; throws Error when it does not come to an end (deadlock) or a length does not match.
struct LoopbackRun {
  std::size_t count = 1;  // as Binding
  std::size_t element_size = 8;
  std::vector<std::size_t> counts = {};
  int segments = 1;
  SegmentOrder order = SegmentOrder::op_by_op;
  Pace pace = Pace::free;
  std::uint32_t window = 0;
  bool independent = false;
  bool compact = false;  // PlanOptions
  std::size_t part = k_part;
  Protocol protocol = Protocol::rendezvous;
  bool in_place = false;
  std::uint64_t seed = 1;
  ReduceFunction reduce = nullptr;
  void* reduce_context = nullptr;
};
std::vector<std::vector<std::byte>> run_loopback(const Schedule& schedule, const LoopbackRun& run,
                                                 const std::vector<std::vector<std::byte>>& inputs);

}  // namespace colltopo
