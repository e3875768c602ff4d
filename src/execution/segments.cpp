// Loss by filling and draining, and the number of segments that makes it small.
#include "colltopo/segments.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

#include "colltopo/uneven.h"

namespace colltopo {

namespace {

constexpr double k_loss = 0.04;                // to filling and draining; what 5% leave is for latencies
constexpr double k_overhead = 0.5;             // of the time that links need: messages that ranks start
constexpr double k_least_message = 16 * 1024;  // bytes, on average
constexpr int k_fewest_that_reduce = 4;        // while one segment is reduced the others are under way
constexpr double k_most = 1024;
constexpr double k_most_messages = 1 << 20;  // of a rank, over all segments: each takes some 100 bytes of memory

/// The reduce_scatter and the allgather of an allreduce follow each other, and each keeps links as busy as the other.
Step halves(Collective collective, Step steps) {
  return combines_and_spreads(collective) && steps > 0 && steps % 2 == 0 ? 2 : 1;
}

}  // namespace

StepPattern step_pattern(const Program& program, Step steps) {
  StepPattern pattern;
  pattern.steps = steps;
  const Step half = std::max(steps / halves(program.shape().collective, steps), 1);
  struct Load {
    Step step = 0;                                // the last one that has a message
    std::int64_t in_step = 0, most = 0, all = 0;  // chunks
  };
  std::map<std::tuple<Rank, Lane, Step>, Load> channels;  // (peer, lane, half)
  std::int64_t messages[2] = {}, chunks[2] = {};          // sent, received
  Step last = 0;
  for (std::size_t i = 0; i < program.size(); ++i) {
    const Op op = program.op(i);
    pattern.in_order = pattern.in_order && op.step >= last;
    last = op.step;
    if (op.action != Action::send && op.action != Action::recv) continue;
    const bool receives = op.action == Action::recv;
    const Chunk moved = chunks_in(receives ? op.target : op.source);
    ++messages[receives];
    chunks[receives] += moved;
    if (receives) continue;
    Load& load = channels[{op.peer, op.lane, (std::max(op.step, 1) - 1) / half}];
    if (op.step != load.step) load.in_step = 0;
    load.step = op.step;
    load.in_step += moved;
    load.all += moved;
    load.most = std::max(load.most, load.in_step);
  }
  for (const auto& [channel, load] : channels)
    pattern.unevenness = std::max(
        pattern.unevenness, static_cast<double>(half) * static_cast<double>(load.most) / static_cast<double>(load.all));
  pattern.messages = std::max(messages[0], messages[1]);
  pattern.chunks = std::max(chunks[0], chunks[1]);
  for (const Sizes sizes : {Sizes::of_ranks, Sizes::equal})
    if (!serves(program, pattern.sizes)) pattern.sizes = sizes;
  return pattern;
}

StepPattern joined(const StepPattern& a, const StepPattern& b) {
  return {std::max(a.steps, b.steps),       std::max(a.unevenness, b.unevenness), a.in_order && b.in_order,
          std::max(a.messages, b.messages), std::max(a.chunks, b.chunks),         std::min(a.sizes, b.sizes)};
}

StepPattern step_pattern(const Schedule& schedule) {
  StepPattern pattern;
  for (const Program& program : schedule.programs) pattern = joined(pattern, step_pattern(program, schedule.steps()));
  return pattern;
}

// In slot t < h of h steps the busiest link has had t steps' worth of messages at most: no channel carries more than
// u / h of all it carries in one step, so no link is busier than min(1, u t / h) of a full slot. Draining is the same
// backwards. Full slots would be S; there are S + h - 1, of which 2 (h - 1) are such. Two halves that each carry half
// fill and drain by halves: 2 h steps, and what comes out is the same as for h.
double fill_and_drain(const StepPattern& pattern, Collective collective) {
  const Step half = pattern.steps / halves(collective, pattern.steps);
  if (half < 2) return 0;
  const double h = half, u = pattern.unevenness;
  const double partly = std::min(std::ceil(h / u), h) - 1;  // slots t with u t < h
  const double filling = u / h * partly * (partly + 1) / 2 + (h - 1 - partly);
  return std::max(2 * filling - (h - 1), 0.0);
}

// Time T on the busiest link becomes T (1 + c / S) with fill and drain c. Each segment costs a rank the overhead of its
// m messages, which it spends while links carry those before: that is hidden as long as S m o is well below T.
// Latencies do not count: segments follow each other before the first has arrived, so each step's passes once.
int segments_for(const StepPattern& pattern, const Shape& shape, double bytes, const Port& port) {
  if (!row(shape.collective).made_of_trees() || !pattern.in_order || pattern.messages == 0) return 1;
  const double moved = bytes * static_cast<double>(pattern.chunks) / shape.parts();  // by the busiest rank
  const double overhead = static_cast<double>(pattern.messages) * port.overhead;     // s, of a segment
  double segments = std::ceil(fill_and_drain(pattern, shape.collective) / k_loss);
  if (overhead > 0) segments = std::min(segments, k_overhead * moved / port.bandwidth / overhead);
  if (reduces(shape.collective)) segments = std::max<double>(segments, k_fewest_that_reduce);
  segments = std::min(segments, moved / static_cast<double>(pattern.messages) / k_least_message);
  segments = std::min(segments, k_most_messages / static_cast<double>(pattern.messages));
  return static_cast<int>(std::clamp(segments, 1.0, k_most));
}

std::uint32_t window_for(const StepPattern& pattern, bool independent, std::uint32_t asked) {
  return pattern.in_order || independent ? asked : 0;
}

}  // namespace colltopo
