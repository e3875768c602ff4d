// What tests say about schedules: that they are proved correct, and that running them on real numbers gives what MPI's
// definition of the collective gives, element by element on every rank.
//
// The second is independent of the first: expected values are computed here from the ranks' inputs alone, and the
// schedule runs through the same Plan and Execution as in an MPI job, over a loopback transport that delivers messages
// in a random order.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <numeric>
#include <ostream>
#include <string>
#include <vector>

#include "colltopo/error.h"
#include "colltopo/loopback.h"
#include "colltopo/schedule.h"
#include "colltopo/segments.h"
#include "colltopo/verify.h"

namespace colltopo {

/// EXPECT_THAT(schedule, Verifies()): the symbolic proof succeeds.
MATCHER(Verifies, negation ? "does not verify" : "verifies") {
  const Verdict verdict = verify(arg);
  *result_listener << arg.name;
  for (const Violation& violation : verdict.violations) *result_listener << "\n  " << to_string(violation);
  return verdict.valid();
}

/// sum: wraps, so any order is right. affine: composition of x -> a x + b, which is associative but not commutative.
/// digest: neither; it tells whether two results were computed by the same expression.
enum class Reduction : std::uint8_t { sum, affine, digest };

using Element = std::uint64_t;
using Elements = std::vector<Element>;

inline Element combined(Reduction reduction, Element left, Element right) {
  switch (reduction) {
    case Reduction::sum:
      return left + right;
    case Reduction::affine: {
      const auto a = static_cast<std::uint32_t>(left >> 32), b = static_cast<std::uint32_t>(left);
      const auto c = static_cast<std::uint32_t>(right >> 32), d = static_cast<std::uint32_t>(right);
      return static_cast<Element>(a * c) << 32 | static_cast<std::uint32_t>(a * d + b);
    }
    case Reduction::digest:
      return (left * 0x9E3779B97F4A7C15u ^ (right >> 7)) + 3 * right;
  }
  return 0;
}

/// One way of running a schedule.
struct Trial {
  std::size_t count = 1;  // as Binding's
  std::vector<std::size_t> counts = {};
  int segments = 1;
  SegmentOrder order = SegmentOrder::op_by_op;
  Pace pace = Pace::free;
  std::uint32_t window = 0;
  bool independent = false;
  bool compact = false;
  std::size_t part = k_part;
  Protocol protocol = Protocol::rendezvous;
  bool in_place = false;
  Reduction reduction = Reduction::sum;
  std::uint64_t seed = 1;
};

inline std::ostream& operator<<(std::ostream& out, const Trial& trial) {
  return out << "count " << trial.count << (trial.counts.empty() ? "" : " with a count per rank") << ", "
             << trial.segments << " segments, " << (trial.pace == Pace::free ? "free" : "stepped") << " pace, window "
             << trial.window << (trial.compact ? ", compact, " : ", ") << "parts of " << trial.part << ", "
             << (trial.protocol == Protocol::eager ? "eager" : "rendezvous") << (trial.in_place ? ", in place" : "")
             << ", reduction " << static_cast<int>(trial.reduction) << ", seed " << trial.seed;
}

namespace schedules_detail {

/// Elements of rank j's shard, or of the vector.
inline std::size_t elements_of(const Trial& trial, Rank j) {
  return trial.counts.empty() ? trial.count : trial.counts[static_cast<std::size_t>(j)];
}

/// Elements before rank j's shard.
inline std::size_t elements_before(const Trial& trial, Rank j) {
  std::size_t sum = 0;
  for (Rank i = 0; i < j; ++i) sum += elements_of(trial, i);
  return sum;
}

inline std::size_t input_elements(const Shape& shape, const Trial& trial, Rank rank) {
  switch (shape.collective) {
    case Collective::alltoall:
    case Collective::reduce_scatter:
      return elements_before(trial, shape.ranks);
    case Collective::allgather:
    case Collective::allreduce:
    case Collective::reduce:
    case Collective::gather:
      return trial.count;
    case Collective::bcast:
      return rank == shape.root ? trial.count : 0;
    case Collective::scatter:
      return rank == shape.root ? elements_before(trial, shape.ranks) : 0;
    default:  // no shape is a v or w call's
      break;
  }
  return 0;
}

/// A number that no other (rank, index) has; the multipliers of `affine` are odd, so nothing is lost in a product.
inline Element value(std::uint64_t seed, Rank rank, std::size_t index) {
  Element mixed = seed * 0xD1B54A32D192ED03u + static_cast<Element>(rank) * 0x9E3779B97F4A7C15u + index + 1;
  for (const int shift : {31, 27}) mixed = (mixed ^ (mixed >> shift)) * 0xBF58476D1CE4E5B9u;
  return mixed | (Element{1} << 32);
}

inline Element reduced(const std::vector<Elements>& inputs, Reduction reduction, std::size_t index) {
  Element sum = inputs[0][index];
  for (std::size_t rank = 1; rank < inputs.size(); ++rank) sum = combined(reduction, sum, inputs[rank][index]);
  return sum;
}

/// The rank's output by MPI's definition; empty where the rank has none that counts.
inline Elements expected_output(const Shape& shape, const Trial& trial, const std::vector<Elements>& inputs,
                                Rank rank) {
  Elements output;
  const std::size_t own = elements_of(trial, rank);
  switch (shape.collective) {
    case Collective::alltoall:
      for (const Elements& input : inputs) {
        for (std::size_t i = 0; i < own; ++i) output.push_back(input[static_cast<std::size_t>(rank) * trial.count + i]);
      }
      break;
    case Collective::gather:
      if (rank != shape.root) break;
      [[fallthrough]];
    case Collective::allgather:
      for (const Elements& input : inputs) output.insert(output.end(), input.begin(), input.end());
      break;
    case Collective::scatter: {
      const Elements& all = inputs[static_cast<std::size_t>(shape.root)];
      for (std::size_t i = 0; i < own; ++i) output.push_back(all[static_cast<std::size_t>(rank) * own + i]);
      break;
    }
    case Collective::reduce_scatter:
      for (std::size_t i = 0; i < own; ++i) {
        output.push_back(reduced(inputs, trial.reduction, elements_before(trial, rank) + i));
      }
      break;
    case Collective::bcast:
      if (rank != shape.root) output = inputs[static_cast<std::size_t>(shape.root)];
      break;
    case Collective::reduce:
      if (rank != shape.root) break;
      [[fallthrough]];
    case Collective::allreduce:
      for (std::size_t i = 0; i < trial.count; ++i) output.push_back(reduced(inputs, trial.reduction, i));
      break;
    default:
      break;
  }
  return output;
}

inline int reduce_elements(void* reduction, const void* source, void* target, std::size_t elements) {
  for (std::size_t i = 0; i < elements; ++i) {
    Element left = 0, right = 0;
    std::memcpy(&left, static_cast<const std::byte*>(source) + i * sizeof left, sizeof left);
    std::memcpy(&right, static_cast<std::byte*>(target) + i * sizeof right, sizeof right);
    right = combined(*static_cast<const Reduction*>(reduction), left, right);
    std::memcpy(static_cast<std::byte*>(target) + i * sizeof right, &right, sizeof right);
  }
  return 0;
}

inline std::vector<Elements> run(const Schedule& schedule, const Trial& trial, const std::vector<Elements>& inputs) {
  std::vector<std::vector<std::byte>> bytes_in;
  for (const Elements& input : inputs) {
    const auto* first = reinterpret_cast<const std::byte*>(input.data());
    bytes_in.emplace_back(first, first + input.size() * sizeof(Element));
  }
  Reduction reduction = trial.reduction;
  LoopbackRun settings;
  settings.count = trial.count;
  settings.counts = trial.counts;
  settings.element_size = sizeof(Element);
  settings.segments = trial.segments;
  settings.order = trial.order;
  settings.pace = trial.pace;
  settings.window = trial.window;
  settings.independent = trial.independent;
  settings.compact = trial.compact;
  settings.part = trial.part;
  settings.protocol = trial.protocol;
  settings.in_place = trial.in_place;
  settings.seed = trial.seed;
  settings.reduce = reduce_elements;
  settings.reduce_context = &reduction;
  std::vector<Elements> outputs;
  for (const std::vector<std::byte>& bytes : run_loopback(schedule, settings, bytes_in)) {
    outputs.emplace_back(bytes.size() / sizeof(Element));
    if (!bytes.empty()) std::memcpy(outputs.back().data(), bytes.data(), outputs.back().size() * sizeof(Element));
  }
  return outputs;
}

}  // namespace schedules_detail

/// Whether the schedule, run this way, leaves on every rank what MPI's definition says. With Reduction::digest, whether
/// all ranks of an allreduce hold the same bits.
inline ::testing::AssertionResult runs_right(const Schedule& schedule, const Trial& trial) {
  using namespace schedules_detail;
  const Shape& shape = schedule.shape;
  std::vector<Elements> inputs(static_cast<std::size_t>(shape.ranks));
  for (Rank rank = 0; rank < shape.ranks; ++rank) {
    Elements& input = inputs[static_cast<std::size_t>(rank)];
    input.resize(input_elements(shape, trial, rank));
    for (std::size_t i = 0; i < input.size(); ++i) input[i] = value(trial.seed, rank, i);
  }
  std::vector<Elements> outputs;
  try {
    outputs = run(schedule, trial, inputs);
  } catch (const Error& error) {
    return ::testing::AssertionFailure() << schedule.name << " (" << trial << "): " << error.what();
  }
  for (Rank rank = 0; rank < shape.ranks; ++rank) {
    const Elements& output = outputs[static_cast<std::size_t>(rank)];
    const Elements expected =
        trial.reduction == Reduction::digest ? outputs[0] : expected_output(shape, trial, inputs, rank);
    if (output.size() < expected.size()) {
      return ::testing::AssertionFailure() << schedule.name << " (" << trial << "): rank " << rank << " has "
                                           << output.size() << " elements of output, expected " << expected.size();
    }
    for (std::size_t i = 0; i < expected.size(); ++i) {
      if (output[i] != expected[i]) {
        return ::testing::AssertionFailure() << schedule.name << " (" << trial << "): rank " << rank << " element " << i
                                             << " is " << output[i] << ", expected " << expected[i];
      }
    }
  }
  return ::testing::AssertionSuccess();
}

/// Every way of running it that `verdict` allows: eager and rendezvous, several segments, counts that chunks do not
/// divide, fewer elements than chunks, no elements, unequal shards, steps, in place, non-commutative reductions.
inline std::vector<Trial> trials_of(const Schedule& schedule, const Verdict& verdict, std::uint64_t seed) {
  const Shape& shape = schedule.shape;
  const bool whole_vector = shape.collective == Collective::allreduce || rooted(shape.collective);
  const auto chunks =
      static_cast<std::size_t>(shape.collective == Collective::allreduce ? shape.ranks * shape.chunks : shape.chunks);
  const std::size_t uneven = chunks + chunks / 2 + (whole_vector ? 3 : 1);

  std::vector<Trial> trials;
  trials.push_back({.count = uneven, .protocol = Protocol::eager, .seed = seed});
  trials.push_back({.count = uneven + 2, .segments = 3, .seed = seed + 1});
  trials.push_back({.count = chunks / 2, .seed = seed + 2});  // fewer than chunks; none when there is one chunk
  if (verdict.stepped) trials.push_back({.count = chunks, .segments = 2, .pace = Pace::steps, .seed = seed + 3});
  if (verdict.in_place) {
    trials.push_back({.count = uneven, .segments = 2, .in_place = true, .seed = seed + 4});
    trials.push_back({.count = 2 * chunks, .protocol = Protocol::eager, .in_place = true, .seed = seed + 5});
  }
  if (shape.collective == Collective::reduce_scatter) {
    Trial unequal{.count = 0, .segments = 2, .seed = seed + 6};
    for (Rank rank = 0; rank < shape.ranks; ++rank) unequal.counts.push_back(static_cast<std::size_t>(rank * 5 % 4));
    trials.push_back(unequal);
  }
  if (reduces(shape.collective) && verdict.keeps_rank_order) {
    trials.push_back({.count = uneven, .segments = 2, .reduction = Reduction::affine, .seed = seed + 7});
  }
  if (shape.collective == Collective::allreduce && verdict.same_on_all_ranks) {
    trials.push_back({.count = uneven, .reduction = Reduction::digest, .seed = seed + 8});
  }
  trials.push_back({.count = 3 * uneven, .part = 2 * sizeof(Element), .seed = seed + 9});
  if (!step_pattern(schedule).in_order) return trials;
  // As large calls run: scratch is used again, messages go in parts, few of them are under way.
  for (const std::uint32_t window : {1, 3}) {
    trials.push_back({.count = uneven, .window = window, .seed = seed + 10});
    trials.push_back(
        {.count = uneven, .window = window, .compact = true, .part = 3 * sizeof(Element), .seed = seed + 11});
  }
  trials.push_back({.count = uneven + 1,
                    .segments = 3,
                    .order = SegmentOrder::slot_by_slot,
                    .compact = true,
                    .part = sizeof(Element),
                    .seed = seed + 12});
  trials.push_back(
      {.count = uneven, .compact = true, .protocol = Protocol::eager, .in_place = verdict.in_place, .seed = seed + 13});
  if (shape.collective == Collective::reduce_scatter) {
    Trial unequal = *std::ranges::find_if(trials, [](const Trial& trial) { return !trial.counts.empty(); });
    unequal.compact = true;
    trials.push_back(unequal);
  }
  return trials;
}

/// runs_right for each of trials_of(); the schedule must verify.
inline ::testing::AssertionResult runs_right_every_way(const Schedule& schedule, std::uint64_t seed = 1) {
  const Verdict verdict = verify(schedule);
  if (!verdict.valid()) {
    return ::testing::AssertionFailure() << schedule.name << ": " << to_string(verdict.violations.front());
  }
  for (const Trial& trial : trials_of(schedule, verdict, seed)) {
    if (const auto result = runs_right(schedule, trial); !result) return result;
  }
  return ::testing::AssertionSuccess();
}

}  // namespace colltopo
