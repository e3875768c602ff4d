// Segments: what they save by the model, that executions fill the network as a pipeline does, and that reductions do
// not keep messages waiting.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <map>

#include "colltopo/cost.h"
#include "colltopo/forest.h"
#include "colltopo/rings.h"
#include "colltopo/segments.h"
#include "executions.h"
#include "schedules.h"

namespace colltopo {
namespace {

using testing::Each;
using testing::Ge;
using testing::Le;

constexpr double k_overhead_s = 0.15e-6;  // as Machine's

Schedule forest_on(const Topology& topology, Collective collective) {
  return forest_schedule(topology, pack_forest(topology, {.collective = collective}));
}

Schedule lr3_on(const Topology& topology, Collective collective) {
  const SpanningTree tree = spanning_tree(topology, TreeSearch::breadth_first);
  return ring_schedule("lr3", collective, topology, tree, lr3_order(topology, tree));
}

struct Predicted {
  double over_one_segment = 0, over_segments = 0;  // time over what the busiest link needs
  int segments = 0;
};

Predicted predicted(const Schedule& schedule, const Topology& topology, double bytes) {
  const Cost cost = cost_of(schedule, topology);
  const double busiest_s = bytes * cost.busiest_link_s_per_byte;
  const int segments = segments_for(step_pattern(schedule), schedule.shape, bytes, port_of(topology, k_overhead_s));
  return {model_seconds(cost, bytes, k_overhead_s) / busiest_s,
          model_seconds(slots_of(schedule, topology, segments), bytes, k_overhead_s) / busiest_s, segments};
}

TEST(Segments, trees_lose_less_than_5_percent_of_what_the_busiest_link_needs_for_1_GiB) {
  for (const char* spec : {"dgx-a100:2", "dgx-a100:4", "mi250:2:8", "fattree:4", "mesh:4x4"}) {
    const Topology topology = topology_of(spec);
    for (const Collective collective : {Collective::allgather, Collective::reduce_scatter, Collective::allreduce,
                                        Collective::bcast, Collective::reduce}) {
      const Predicted found = predicted(forest_on(topology, collective), topology, 1 << 30);
      EXPECT_LE(found.over_segments, 1.05) << spec << " " << name(collective) << " in " << found.segments;
      EXPECT_GE(found.over_segments, 1.0) << spec << " " << name(collective);
      EXPECT_GT(found.over_one_segment, 1.05) << spec << " " << name(collective);
    }
  }
}

TEST(Segments, rings_lose_less_than_5_percent_of_1_GiB_in_one_segment_already) {
  for (const char* spec : {"mesh:4/ranks:2", "mesh:6/ranks:2,3,1,4,2,2"}) {
    const Topology topology = topology_of(spec);
    const Schedule allgather = lr3_on(topology, Collective::allgather);
    const Predicted found = predicted(allgather, topology, 1 << 30);
    EXPECT_EQ(found.segments, 1);
    EXPECT_LE(found.over_one_segment, 1.05) << spec;
    EXPECT_EQ(fill_and_drain(step_pattern(allgather), Collective::allgather), 0);
    for (const Collective collective : {Collective::reduce_scatter, Collective::allreduce}) {
      const Schedule schedule = lr3_on(topology, collective);
      EXPECT_EQ(fill_and_drain(step_pattern(schedule), collective), 0) << spec << " " << name(collective);
      const Predicted reduced = predicted(schedule, topology, 1 << 30);
      EXPECT_EQ(reduced.segments, 4);  // so that reductions overlap with messages
      EXPECT_LE(reduced.over_segments, 1.05) << spec << " " << name(collective);
    }
  }
}

TEST(Segments, fill_and_drain_is_an_upper_bound_of_what_the_model_finds) {
  for (const char* spec : {"dgx-a100:2", "mi250:2:8", "fattree:4", "mesh:3x3", "torus:3x3"}) {
    const Topology topology = topology_of(spec);
    const Schedule schedule = forest_on(topology, Collective::allgather);
    const double loss = fill_and_drain(step_pattern(schedule), Collective::allgather);
    EXPECT_GT(loss, 0);
    EXPECT_LE(loss, schedule.steps() - 1);
    const double busiest = cost_of(schedule, topology).busiest_link_s_per_byte;
    for (const int segments : {1, 2, 3, 7, 100}) {
      double sum = 0;
      for (const SlotCost& slot : slots_of(schedule, topology, segments))
        sum += static_cast<double>(slot.slots) * slot.busiest_link_s_per_byte;
      EXPECT_LE(sum, busiest * (1 + loss / segments) * (1 + 1e-9)) << spec << " in " << segments;
      EXPECT_GE(sum, busiest * (1 - 1e-9)) << spec << " in " << segments;
    }
  }
}

TEST(Segments, slots_of_one_segment_are_the_steps) {
  const Topology topology = topology_of("mi250:2:8");
  const Schedule schedule = forest_on(topology, Collective::allgather);
  const Cost cost = cost_of(schedule, topology);
  const std::vector<SlotCost> slots = slots_of(schedule, topology, 1);
  ASSERT_EQ(slots.size(), cost.steps.size());
  for (std::size_t i = 0; i < slots.size(); ++i) {
    EXPECT_EQ(slots[i].slots, 1);
    EXPECT_EQ(slots[i].most_messages_of_a_rank, cost.steps[i].most_messages_of_a_rank);
    EXPECT_DOUBLE_EQ(slots[i].busiest_link_s_per_byte, cost.steps[i].busiest_link_s_per_byte);
    EXPECT_DOUBLE_EQ(slots[i].latency_s, cost.steps[i].longest_latency_s);
  }
  for (const int segments : {3, 8, 50}) {
    std::int64_t all = 0;
    for (const SlotCost& slot : slots_of(schedule, topology, segments)) all += slot.slots;
    EXPECT_EQ(all, schedule.steps() + segments - 1);
  }
}

TEST(Segments, filling_and_draining_of_patterns_worked_out_by_hand) {
  const auto of = [](Step steps, double unevenness, Collective collective = Collective::allgather) {
    return fill_and_drain({.steps = steps, .unevenness = unevenness}, collective);
  };
  EXPECT_EQ(of(1, 1), 0);
  EXPECT_NEAR(of(7, 1), 0, 1e-12);
  EXPECT_EQ(of(8, 8), 7);    // every slot of filling and draining as long as a full one
  EXPECT_EQ(of(5, 2.5), 3);  // half full in the first slot, then full: 2 (1/2 + 3) - 4
  EXPECT_EQ(of(16, 8, Collective::allreduce), 7);
  EXPECT_NEAR(of(14, 1, Collective::allreduce), 0, 1e-12);
  EXPECT_EQ(of(0, 1), 0);
}

TEST(Segments, small_calls_are_not_cut_and_larger_ones_more_up_to_a_limit) {
  const Topology topology = topology_of("mi250:2:8");
  const Schedule schedule = forest_on(topology, Collective::allgather);
  const StepPattern pattern = step_pattern(schedule);
  const Port port = port_of(topology, k_overhead_s);
  int last = 1;
  for (double bytes = 1; bytes < 1e13; bytes *= 4) {
    const int segments = segments_for(pattern, schedule.shape, bytes, port);
    EXPECT_GE(segments, last);
    EXPECT_TRUE(segments == 1 || bytes * static_cast<double>(pattern.chunks) / schedule.shape.chunks >=
                                     16384.0 * static_cast<double>(pattern.messages) * segments)
        << segments << " of " << bytes;
    EXPECT_TRUE(segments == 1 || bytes >= 64 << 10) << bytes;
    last = segments;
  }
  EXPECT_EQ(last, std::ceil(fill_and_drain(pattern, Collective::allgather) / 0.04));
}

TEST(Segments, steps_that_decrease_in_a_program_are_not_cut) {
  const Shape shape{Collective::allgather, 2, 1, 0};
  const Schedule schedule = schedule_of("swapped", shape, [&](Rank rank) {
    ProgramBuilder program(shape, rank);
    program.step(0).copy({{Buffer::input, 0, 1}}, {{Buffer::output, rank, 1}});
    program.step(2).send({{Buffer::input, 0, 1}}, 1 - rank);
    program.step(1).recv({{Buffer::scratch, 0, 1}}, 1 - rank).send({{Buffer::input, 0, 1}}, 1 - rank);
    program.step(2).recv({{Buffer::output, 1 - rank, 1}}, 1 - rank);
    return std::move(program).build();
  });
  const StepPattern pattern = step_pattern(schedule);
  EXPECT_FALSE(pattern.in_order);
  EXPECT_EQ(segments_for(pattern, shape, 1e12, {0, 1e9}), 1);
}

TEST(Segments, slot_by_slot_every_collective_is_right) {
  for (const char* spec : {"mi250:1:8", "mesh:3x3", "mesh:4/ranks:2"}) {
    const Topology topology = topology_of(spec);
    for (const Collective collective : {Collective::allgather, Collective::reduce_scatter, Collective::allreduce,
                                        Collective::bcast, Collective::reduce}) {
      std::vector<Schedule> schedules{forest_on(topology, collective)};
      if (!rooted(collective)) schedules.push_back(lr3_on(topology, collective));
      for (const Schedule& schedule : schedules) {
        EXPECT_TRUE(step_pattern(schedule).in_order);
        const auto count = static_cast<std::size_t>(2 * chunks_in_count(schedule.shape)) + 3;
        for (const int segments : {2, 5, 40})
          for (const Protocol protocol : {Protocol::eager, Protocol::rendezvous})
            for (const bool compact : {false, true})
              EXPECT_TRUE(runs_right(schedule, {.count = count * 3,
                                                .segments = segments,
                                                .order = SegmentOrder::slot_by_slot,
                                                .compact = compact,
                                                .protocol = protocol,
                                                .seed = 5}))
                  << spec;
      }
    }
  }
}

/// Wires that in each round deliver one message from every rank to every other that has one under way.
class Rounds {
 public:
  explicit Rounds(Rank ranks) {
    for (Rank rank = 0; rank < ranks; ++rank) ends_.push_back(std::make_unique<End>(*this, rank));
  }
  Transport& end(Rank rank) { return *ends_[static_cast<std::size_t>(rank)]; }
  bool deliver() {
    bool delivered = false;
    for (auto& [pair, queues] : queues_) {
      if (queues.sends.empty() || queues.receives.empty()) continue;
      *queues.sends.front() = *queues.receives.front() = delivered = true;
      queues.sends.pop_front();
      queues.receives.pop_front();
    }
    return delivered;
  }
  std::size_t most_under_way() const { return most_under_way_; }  // from one rank to another

 private:
  struct Queues {
    std::deque<bool*> sends, receives;
  };
  class End final : public Transport {
   public:
    End(Rounds& rounds, Rank rank) : rounds_(rounds), rank_(rank) {}
    int send(const std::byte*, std::size_t, Rank peer, Lane, Request* request) noexcept override {
      return add(rounds_.queues_[{rank_, peer}].sends, request);
    }
    int recv(std::byte*, std::size_t, Rank peer, Lane, Request* request) noexcept override {
      return add(rounds_.queues_[{peer, rank_}].receives, request);
    }
    int test(Request* request) noexcept override {
      if (*static_cast<bool*>(*request)) *request = nullptr;
      return 0;
    }
    void abandon(Request*) noexcept override {}
    void progress() noexcept override {}

   private:
    int add(std::deque<bool*>& queue, Request* request) {
      *request = &rounds_.done_.emplace_back(false);
      queue.push_back(static_cast<bool*>(*request));
      rounds_.most_under_way_ = std::max(rounds_.most_under_way_, queue.size());
      return 0;
    }
    Rounds& rounds_;
    Rank rank_;
  };
  std::map<std::pair<Rank, Rank>, Queues> queues_;
  std::deque<bool> done_;
  std::vector<std::unique_ptr<End>> ends_;
  std::size_t most_under_way_ = 0;
};

struct RoundsTaken {
  int rounds = 0;
  std::size_t most_under_way = 0;
};

RoundsTaken rounds_of(const Schedule& schedule, int segments, SegmentOrder order) {
  const Rank ranks = schedule.shape.ranks;
  Rounds wires(ranks);
  std::vector<std::unique_ptr<OneExecution>> executions;
  const auto count = static_cast<std::size_t>(segments * chunks_in_count(schedule.shape));
  std::vector<std::byte> input(count), output(count * static_cast<std::size_t>(ranks));
  for (Rank rank = 0; rank < ranks; ++rank) {
    const Plan plan(schedule.programs[static_cast<std::size_t>(rank)]);
    executions.push_back(std::make_unique<OneExecution>(plan, wires.end(rank)));
    executions.back()->bind({.count = count, .segments = segments, .order = order});
    executions.back()->start({input.data(), output.data(), nullptr, nullptr});
  }
  RoundsTaken taken;
  for (;; ++taken.rounds) {
    for (const auto& execution : executions) execution->progress();
    if (!wires.deliver()) break;
  }
  for (const auto& execution : executions) EXPECT_TRUE(execution->progress()) << "deadlock";
  taken.most_under_way = wires.most_under_way();
  return taken;
}

TEST(Execution, slot_by_slot_a_chain_of_trees_fills_and_drains_once) {
  // Hosts in a row: every host's tree is the row itself, and a cable carries trees that are up to 7 steps apart.
  const Topology row = topology_of("mesh:8");
  const Schedule schedule = forest_on(row, Collective::allgather);
  ASSERT_EQ(schedule.shape.chunks, 1);
  const int busiest = 7;  // trees on the last cable of the row
  for (const int segments : {1, 10, 50}) {
    const RoundsTaken taken = rounds_of(schedule, segments, SegmentOrder::slot_by_slot);
    EXPECT_GE(taken.rounds, busiest * segments);
    EXPECT_LE(taken.rounds, busiest * segments + schedule.steps() - 1) << segments;
    EXPECT_LE(taken.most_under_way, Frame::k_window_of_peer);
  }
}

TEST(Execution, slot_by_slot_trees_of_unlike_depth_on_a_cable_do_not_wait_for_each_other) {
  for (const char* spec : {"mesh:3x3", "mi250:1:8"}) {
    const Schedule schedule = forest_on(topology_of(spec), Collective::allgather);
    constexpr int k_segments = 60;
    const int pipelined = rounds_of(schedule, k_segments, SegmentOrder::slot_by_slot).rounds;
    const int one_after_the_other = rounds_of(schedule, k_segments, SegmentOrder::op_by_op).rounds;
    std::map<std::pair<Rank, Rank>, int> messages;
    int busiest = 0;
    for (const Message& message : messages_of(schedule))
      busiest = std::max(busiest, ++messages[{message.source, message.target}]);
    EXPECT_LE(pipelined, busiest * (k_segments + schedule.steps() - 1)) << spec;
    EXPECT_LT(pipelined, one_after_the_other) << spec;
  }
}

/// Writes down what happens. A link of its own in each direction moves as much from one progress() to the next as a
/// stretch of reductions has.
class RecordingTransport final : public Transport {
 public:
  explicit RecordingTransport(std::size_t messages) { messages_.reserve(messages); }

  int send(const std::byte*, std::size_t bytes, Rank, Lane, Request* request) noexcept override {
    ++sends;
    return add(0, bytes, request);
  }
  int recv(std::byte*, std::size_t bytes, Rank, Lane, Request* request) noexcept override {
    return add(1, bytes, request);
  }
  int test(Request* request) noexcept override {
    const Message& message = *static_cast<Message*>(*request);
    if (now_ < message.end) return 0;
    --under_way[message.direction];
    *request = nullptr;
    return 0;
  }
  void abandon(Request*) noexcept override {}
  void progress() noexcept override {
    now_ += k_stretch;
    longest_stretch = std::max(longest_stretch, stretch);
    stretch = 0;
  }
  void reduced(std::size_t bytes) {
    stretch += bytes;
    ++reductions;
    if (under_way[0] > 0) ++reductions_while_sending;
    if (under_way[1] > 0) ++reductions_while_receiving;
  }

  int sends = 0;
  int under_way[2] = {};                                                             // sends, receives
  int reductions = 0, reductions_while_sending = 0, reductions_while_receiving = 0;  // stretches
  std::size_t stretch = 0, longest_stretch = 0;  // bytes reduced since progress() was called last

 private:
  struct Message {
    int direction;
    std::size_t end;
  };
  int add(int direction, std::size_t bytes, Request* request) noexcept {
    ++under_way[direction];
    free_[direction] = std::max(free_[direction], now_) + bytes;
    messages_.push_back({direction, free_[direction]});
    *request = &messages_.back();
    return 0;
  }
  std::size_t now_ = 0, free_[2] = {};  // in bytes of a link
  std::vector<Message> messages_;
};

int record(void* wires, const void*, void*, std::size_t elements) {
  static_cast<RecordingTransport*>(wires)->reduced(8 * elements);
  return 0;
}

TEST(Execution, reductions_run_in_bounded_stretches_while_messages_are_under_way) {
  const Topology row = topology_of("mesh:8");
  for (const Schedule& schedule :
       {lr3_on(row, Collective::reduce_scatter), forest_on(row, Collective::reduce_scatter)}) {
    const Plan plan(schedule.programs[3]);
    RecordingTransport wires(100000);
    OneExecution execution(plan, wires);
    constexpr std::size_t k_count = 1 << 19;  // 4 MiB for each rank
    execution.bind({.count = k_count, .element_size = 8, .segments = 4, .order = SegmentOrder::slot_by_slot});
    std::vector<std::byte> input(8 * 8 * k_count), output(8 * k_count);
    EXPECT_EQ(execution.run({input.data(), output.data(), record, &wires}), 0);
    EXPECT_LE(wires.longest_stretch, k_stretch);
    EXPECT_GT(wires.longest_stretch, k_stretch / 2);  // and not in crumbs
    // Those of the own shard send nothing, and the first ones have nothing to send yet.
    EXPECT_GT(wires.reductions_while_sending, wires.reductions * 6 / 10) << schedule.name;
    EXPECT_GT(wires.reductions_while_receiving, wires.reductions * 6 / 10) << schedule.name;
  }
}

TEST(Execution, messages_that_a_reduction_makes_ready_go_before_the_next_reduction) {
  const Shape shape{Collective::allreduce, 4, 1, 0};
  ProgramBuilder b(shape, 0);
  for (Rank peer = 1; peer < 4; ++peer) b.recv({{Buffer::scratch, peer, 1}}, peer);
  for (Rank peer = 1; peer < 4; ++peer)
    b.reduce({{Buffer::scratch, peer, 1}}, {{Buffer::output, peer, 1}}).send({{Buffer::output, peer, 1}}, peer);
  const Plan plan(std::move(b).build());
  RecordingTransport wires(64);
  OneExecution execution(plan, wires);
  constexpr std::size_t k_count = 4 * k_stretch / 8;  // each reduction is a stretch
  execution.bind({.count = k_count, .element_size = 8});
  std::vector<std::byte> input(8 * k_count), output(8 * k_count);
  struct Seen {
    RecordingTransport* wires;
    std::vector<int> sends;
  } seen{&wires, {}};
  const auto look = [](void* context, const void*, void*, std::size_t) {
    static_cast<Seen*>(context)->sends.push_back(static_cast<Seen*>(context)->wires->sends);
    return 0;
  };
  EXPECT_EQ(execution.run({input.data(), output.data(), look, &seen}), 0);
  EXPECT_THAT(seen.sends, testing::ElementsAre(0, 1, 2));
}

TEST(Execution, elements_larger_than_a_stretch_are_reduced_one_by_one) {
  const Shape shape{Collective::reduce, 2, 1, 0};
  ProgramBuilder b(shape, 0);
  b.recv({{Buffer::scratch, 0, 1}}, 1).reduce({{Buffer::scratch, 0, 1}}, {{Buffer::output, 0, 1}});
  const Plan plan(std::move(b).build());
  RecordingTransport wires(4);
  OneExecution execution(plan, wires);
  constexpr std::size_t k_element = k_stretch + 8;
  execution.bind({.count = 5, .element_size = k_element});
  std::vector<std::byte> input(5 * k_element), output(5 * k_element);
  std::vector<std::size_t> elements;
  const auto count = [](void* context, const void*, void*, std::size_t n) {
    static_cast<std::vector<std::size_t>*>(context)->push_back(n);
    return 0;
  };
  EXPECT_EQ(execution.run({input.data(), output.data(), count, &elements}), 0);
  EXPECT_THAT(elements, testing::ElementsAre(1, 1, 1, 1, 1));
}

}  // namespace
}  // namespace colltopo
