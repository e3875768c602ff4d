// Lanes without UCX: what the setting means, tags, numbers of communicators, and messages that arrive in any order of
// lanes.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstring>
#include <limits>
#include <map>
#include <random>
#include <thread>

#include "colltopo/error.h"
#include "executions.h"
#include "silent.h"
#include "transport/communicator_numbers.h"
#include "transport/lane_messages.h"
#include "transport/lane_setting.h"
#include "transport/lane_transport.h"
#include "transport/lingering.h"
#include "transport/message_tag.h"

namespace colltopo {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

std::string fault_of(std::string_view text) {
  try {
    lane_setting(text);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(LaneSetting, each_kind_names_its_lanes) {
  EXPECT_EQ(lane_setting("").lanes(), 1);
  EXPECT_EQ(lane_setting("auto").lanes(), 1);
  EXPECT_THAT(lane_setting("device:mlx5_0:1,mlx5_1:1").values, ElementsAre("mlx5_0:1", "mlx5_1:1"));
  EXPECT_THAT(lane_setting("ports:21000:3").values, ElementsAre("21000-21999", "22000-22999", "23000-23999"));
  EXPECT_THAT(lane_setting("lid-bits:0,1,2,3").values, ElementsAre("0", "1", "2", "3"));
}

TEST(LaneSetting, lanes_that_are_not_there_serve_nothing_unless_one_is_shared) {
  EXPECT_EQ(lane_setting("device:a,b").serving(1), 1);
  EXPECT_EQ(lane_setting("device:a,b").serving(2), -1);
  EXPECT_EQ(lane_setting("auto").serving(1), -1);
  EXPECT_EQ(lane_setting("shared").serving(7), 0);
}

TEST(LaneSetting, wrong_values_are_named_with_what_is_allowed) {
  EXPECT_THAT(fault_of("cables:1"), HasSubstr("lanes is 'cables:1'; must be auto, shared, device:"));
  EXPECT_THAT(fault_of("device"), HasSubstr("must be auto"));
  EXPECT_THAT(fault_of("device:a,,b"), HasSubstr("empty"));
  EXPECT_THAT(fault_of("sl:0,16"), HasSubstr("'16' must be a number from 0 to 15"));
  EXPECT_THAT(fault_of("ports:21000"), HasSubstr("ports:FIRST:COUNT"));
  EXPECT_THAT(fault_of("ports:60000:9"), HasSubstr("end at port 68999; must end at most at 65535"));
  EXPECT_THAT(fault_of("ports:0:1"), HasSubstr("ports:FIRST:COUNT"));
  EXPECT_EQ(fault_of("ports:60000:5"), "");
}

std::vector<std::string> set_by(std::string_view text, Lane lane) {
  std::vector<std::string> set;
  for (const UcxSetting& one : ucx_settings(lane_setting(text), lane)) set.push_back(one.name + "=" + one.value);
  return set;
}

TEST(LaneSetting, becomes_variables_of_ucx) {
  EXPECT_THAT(set_by("auto", 0), IsEmpty());
  EXPECT_THAT(set_by("shared", 0), IsEmpty());
  EXPECT_THAT(set_by("device:eth0,eth1", 1), ElementsAre("NET_DEVICES=eth1"));
  EXPECT_THAT(set_by("ports:21000:2", 1), ElementsAre("PORT_RANGE=22000-22999"));
  EXPECT_THAT(set_by("lid-bits:0,3", 1), ElementsAre("LID_PATH_BITS=3", "NUM_PATHS=1"));
  EXPECT_THAT(set_by("gid-index:3,5", 0), ElementsAre("GID_INDEX=3", "NUM_PATHS=1"));
  EXPECT_THAT(set_by("sl:0,1", 1), ElementsAre("SL=1", "NUM_PATHS=1"));
  EXPECT_EQ(lane_fault(lane_setting("sl:0,1")), "");
  EXPECT_THAT(lane_fault(lane_setting("path-index:0,1")), HasSubstr("path index"));
}

TEST(MessageTag, parts_do_not_touch_each_other) {
  const std::uint64_t number = message_tag(k_most_tagged_communicators - 1, 0, 0);
  const std::uint64_t source = message_tag(0, k_most_tagged_ranks - 1, 0);
  const std::uint64_t sequence = message_tag(0, 0, std::numeric_limits<std::uint32_t>::max());
  EXPECT_EQ(number & source, 0u);
  EXPECT_EQ(number & sequence, 0u);
  EXPECT_EQ(source & sequence, 0u);
  const std::uint64_t operation = operation_tag(0, 0, 0, true), trial = trial_tag(0, 0, 0);
  EXPECT_EQ(number | source | sequence | operation | trial, ~std::uint64_t{0});
  EXPECT_EQ(trial_tag(5, 7, 3), message_tag(5, 7, 3) | std::uint64_t{1} << 63);
  // MPI's tags of calls that do not block are negative, and follow each other.
  EXPECT_NE(operation_tag(5, 7, -30, false), operation_tag(5, 7, -31, false));
  EXPECT_EQ(operation_tag(5, 7, -30, false) & (source | number), message_tag(5, 7, 0));
  // One that was made long ago has no tag of those that begin now.
  EXPECT_NE(operation_tag(5, 7, -30, true), operation_tag(5, 7, -30 - (1 << 23), false));
}

TEST(MessageTag, sequence_numbers_begin_again_after_2_to_the_23) {
  EXPECT_NE(message_tag(1, 2, (1u << 23) - 1), message_tag(1, 2, 0));
  EXPECT_EQ(message_tag(1, 2, 1u << 23), message_tag(1, 2, 0));
  EXPECT_EQ(message_tag(1, 2, (1u << 23) + 5), message_tag(1, 2, 5));
}

// The largest value of all threads that come.
class Largest {
 public:
  explicit Largest(int threads) : threads_(threads) {}
  long long of(long long value) {
    std::unique_lock lock(mutex_);
    const int round = round_;
    largest_ = arrived_ == 0 ? value : std::max(largest_, value);
    if (++arrived_ == threads_) {
      arrived_ = 0;
      ++round_;
      agreed_ = largest_;
      all_.notify_all();
    } else {
      all_.wait(lock, [&] { return round_ != round; });
    }
    return agreed_;
  }

 private:
  int threads_, arrived_ = 0, round_ = 0;
  long long largest_ = 0, agreed_ = 0;
  std::mutex mutex_;
  std::condition_variable all_;
};

// The number that a communicator of these processes gets; all must see the same.
std::int32_t agreed(std::vector<CommunicatorNumbers*> processes) {
  Largest largest(static_cast<int>(processes.size()));
  std::vector<std::int32_t> numbers(processes.size());
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < processes.size(); ++i)
    threads.emplace_back(
        [&, i] { numbers[i] = processes[i]->agree([&](long long value) { return largest.of(value); }); });
  for (std::thread& thread : threads) thread.join();
  for (const std::int32_t number : numbers) EXPECT_EQ(number, numbers[0]);
  return numbers[0];
}

TEST(CommunicatorNumbers, differ_where_communicators_share_a_process) {
  CommunicatorNumbers a, b, c;
  EXPECT_EQ(agreed({&a, &b}), 0);
  EXPECT_EQ(agreed({&c}), 0);  // shares no process with the first
  EXPECT_EQ(agreed({&b, &c}), 1);
  EXPECT_EQ(agreed({&a, &c}), 2);  // 1 is taken by c, though free in a
  EXPECT_EQ(agreed({&a}), 1);
}

TEST(CommunicatorNumbers, freed_ones_are_used_again) {
  CommunicatorNumbers a, b;
  EXPECT_EQ(agreed({&a, &b}), 0);
  EXPECT_EQ(agreed({&a, &b}), 1);
  a.free(0);
  EXPECT_EQ(agreed({&a}), 0);
  b.free(0);
  EXPECT_EQ(agreed({&a, &b}), 2);
}

TEST(CommunicatorNumbers, threads_that_look_for_one_at_the_same_time_get_different_ones) {
  CommunicatorNumbers a, b;
  std::vector<std::int32_t> numbers(8);
  std::vector<std::thread> threads;
  for (std::int32_t& number : numbers) threads.emplace_back([&] { number = agreed({&a, &b}); });
  for (std::thread& thread : threads) thread.join();
  std::ranges::sort(numbers);
  EXPECT_EQ(std::ranges::adjacent_find(numbers), numbers.end());
}

}  // namespace

// In place of UCX: each lane delivers its messages in a random order of its own, those of one tag as they were sent.
struct LaneSet {
  struct Message {
    std::uint64_t tag;
    std::vector<std::byte> data;
  };
  struct Wanted {
    std::uint64_t tag;
    std::byte* target;
    bool done = false;
  };
  std::int32_t rank = 0;
  std::map<std::int32_t, std::vector<Message>> under_way, arrived;  // [lane]
  std::map<std::int32_t, std::vector<std::unique_ptr<Wanted>>> wanted;
  int flush_turns = 0;  // that a lane has to move on until what it sent is out
  std::map<std::int32_t, std::pair<int, std::unique_ptr<Wanted>>> flush;  // [lane] turns left, and its request
  std::mt19937 random{7};
};
struct LaneEndpoint {
  LaneSet* target;
  std::int32_t lane;
};

namespace {

std::vector<std::unique_ptr<LaneSet>> sets;
std::vector<std::unique_ptr<LaneEndpoint>> made;
std::int32_t dead_lane = -1;   // loses what it is given
std::int32_t stuck_lane = -1;  // keeps it

void match(LaneSet& set, std::int32_t lane) {
  auto& arrived = set.arrived[lane];
  for (auto& wanted : set.wanted[lane]) {
    const auto found = std::ranges::find(arrived, wanted->tag, &LaneSet::Message::tag);
    if (wanted->done || found == arrived.end()) continue;
    std::ranges::copy(found->data, wanted->target);
    wanted->done = true;
    arrived.erase(found);
  }
}

LaneCalls shuffling_calls() {
  LaneCalls calls{};
  calls.version = k_lane_calls_version;
  calls.close = [](LaneSet*, double) {};
  calls.address = [](LaneSet* set, std::int32_t, std::size_t* bytes) -> const void* {
    *bytes = sizeof set->rank;
    return &set->rank;
  };
  calls.connect = [](LaneSet*, std::int32_t lane, const void* address, std::size_t, int, LaneFault*) {
    std::int32_t rank = 0;
    std::memcpy(&rank, address, sizeof rank);
    made.push_back(std::make_unique<LaneEndpoint>(LaneEndpoint{sets[static_cast<std::size_t>(rank)].get(), lane}));
    return made.back().get();
  };
  calls.send = [](LaneEndpoint* endpoint, const void* data, std::size_t bytes, std::uint64_t tag, void** request) {
    const auto* const first = static_cast<const std::byte*>(data);
    if (endpoint->lane != dead_lane)
      endpoint->target->under_way[endpoint->lane].push_back({tag, {first, first + bytes}});
    *request = nullptr;
    return 0;
  };
  calls.recv = [](LaneSet* set, std::int32_t lane, void* data, std::size_t, std::uint64_t tag, LaneEndpoint*,
                  void** request) {
    set->wanted[lane].push_back(std::make_unique<LaneSet::Wanted>(tag, static_cast<std::byte*>(data)));
    *request = set->wanted[lane].back().get();
    match(*set, lane);
    return 0;
  };
  calls.test = [](void** request) {
    if (static_cast<LaneSet::Wanted*>(*request)->done) *request = nullptr;
    return 0;
  };
  calls.abandon = [](void** request) {
    static_cast<LaneSet::Wanted*>(*request)->done = true;  // takes nothing any more
    *request = nullptr;
  };
  calls.progress = [](LaneSet* set, std::int32_t lane) {
    if (auto& [turns, request] = set->flush[lane]; request != nullptr && --turns <= 0) request->done = true;
    auto& under_way = set->under_way[lane];
    if (under_way.empty() || lane == stuck_lane || set->random() % 3 != 0) return 0;
    const std::uint64_t tag = under_way[set->random() % under_way.size()].tag;
    const auto chosen = std::ranges::find(under_way, tag, &LaneSet::Message::tag);
    set->arrived[lane].push_back(std::move(*chosen));
    under_way.erase(chosen);
    match(*set, lane);
    return 1;
  };
  calls.settle = [](LaneSet* set, std::int32_t lane, void** request) {
    *request = nullptr;
    if (set->flush_turns == 0) return 0;
    set->flush[lane] = {set->flush_turns, std::make_unique<LaneSet::Wanted>()};
    *request = set->flush[lane].second.get();
    return 0;
  };
  calls.has_failed = [](LaneEndpoint*, LaneFault*) { return 0; };
  calls.condemn = [](LaneEndpoint*) {};
  calls.listen_begin = [] {};
  calls.listen_end = [](LaneFault*) {};
  return calls;
}

constexpr Rank k_ranks = 4;
constexpr Lane k_lanes = 3;

// An all-to-all in which every pair sends a chunk on each lane, not in the order of lanes.
Program by_three_lanes(Rank rank) {
  ProgramBuilder program({Collective::alltoall, k_ranks, k_lanes, 0}, rank);
  program.copy({{Buffer::input, rank * k_lanes, k_lanes}}, {{Buffer::output, rank * k_lanes, k_lanes}});
  for (Rank peer = 0; peer < k_ranks; ++peer) {
    if (peer == rank) continue;
    for (const Lane lane : {1, 0, 2}) {
      program.send({{Buffer::input, peer * k_lanes + lane, 1}}, peer, lane);
      program.recv({{Buffer::output, peer * k_lanes + lane, 1}}, peer, lane);
    }
  }
  return std::move(program).build();
}

struct Job {
  explicit Job(const std::string& lanes, double patience_s = 0) {
    sets.clear();
    made.clear();
    for (Rank rank = 0; rank < k_ranks; ++rank) {
      sets.push_back(std::make_unique<LaneSet>());
      sets.back()->rank = rank;
      transports.push_back(std::make_unique<LaneTransport>(
          calls, sets.back().get(), lane_setting(lanes),
          LaneTransport::Place{rank, k_ranks, 3, 16, 15, &node_of, patience_s}, silent));
    }
    const std::size_t block = transports[0]->address_bytes();
    std::vector<std::byte> blocks;
    for (auto& transport : transports) std::ranges::copy(transport->addresses(block), std::back_inserter(blocks));
    for (auto& transport : transports) transport->know(blocks, block);
  }
  LaneCalls calls = shuffling_calls();
  std::vector<int> node_of = std::vector<int>(k_ranks, 0);
  Silent silent;
  std::vector<std::unique_ptr<LaneTransport>> transports;
};

void wire_all(Job& job) {
  for (Rank rank = 0; rank < k_ranks; ++rank)
    EXPECT_EQ(job.transports[static_cast<std::size_t>(rank)]->connect(by_three_lanes(rank)), "");
  for (auto& transport : job.transports) EXPECT_EQ(transport->reach(5, job.silent), "");
  for (auto& transport : job.transports) EXPECT_EQ(transport->hear(5, job.silent), "");
}

TEST(LaneTransport, messages_meet_whatever_order_lanes_deliver_them_in) {
  dead_lane = -1;
  for (const char* lanes : {"device:a,b,c", "shared"}) {
    Job job(lanes);
    wire_all(job);
    std::vector<std::unique_ptr<OneExecution>> executions;
    std::vector<std::vector<std::int64_t>> input(k_ranks), output(k_ranks);
    constexpr std::size_t k_count = 24;  // per shard
    for (std::size_t rank = 0; rank < k_ranks; ++rank) {
      const Plan plan(by_three_lanes(static_cast<Rank>(rank)));
      executions.push_back(std::make_unique<OneExecution>(plan, *job.transports[rank]));
      executions.back()->bind({.count = k_count, .element_size = 8, .segments = 4});
      for (std::size_t i = 0; i < k_ranks * k_count; ++i)
        input[rank].push_back(static_cast<std::int64_t>(rank * 1000 + i));
      output[rank].resize(input[rank].size());
    }
    for (int call = 0; call < 50; ++call) {
      std::vector<bool> done(k_ranks);
      for (std::size_t rank = 0; rank < k_ranks; ++rank) {
        std::ranges::fill(output[rank], -1);
        executions[rank]->start({reinterpret_cast<const std::byte*>(input[rank].data()),
                                 reinterpret_cast<std::byte*>(output[rank].data()), nullptr, nullptr});
      }
      for (int turn = 0; turn < 100000 && std::ranges::find(done, false) != done.end(); ++turn) {
        for (std::size_t rank = 0; rank < k_ranks; ++rank) {
          if (!done[rank]) done[rank] = executions[rank]->progress();
          job.transports[rank]->progress();
        }
      }
      for (std::size_t rank = 0; rank < k_ranks; ++rank) {
        ASSERT_TRUE(done[rank]) << lanes;
        for (std::size_t from = 0; from < k_ranks; ++from)
          for (std::size_t i = 0; i < k_count; ++i)
            ASSERT_EQ(output[rank][from * k_count + i], static_cast<std::int64_t>(from * 1000 + rank * k_count + i));
      }
    }
  }
}

TEST(LaneTransport, endpoints_are_made_once_per_peer_and_lane) {
  dead_lane = -1;
  Job job("device:a,b,c");
  wire_all(job);
  wire_all(job);
  EXPECT_EQ(made.size(), std::size_t{k_ranks} * (k_ranks - 1) * k_lanes);
  Job one("shared");
  wire_all(one);
  EXPECT_EQ(made.size(), std::size_t{k_ranks} * (k_ranks - 1));
}

TEST(LaneTransport, lanes_that_nothing_serves_are_found_before_any_message) {
  EXPECT_EQ(Job("device:a,b").transports[0]->unserved(by_three_lanes(0)), 2);
  EXPECT_EQ(Job("device:a,b,c").transports[0]->unserved(by_three_lanes(0)), -1);
  EXPECT_EQ(Job("shared").transports[0]->unserved(by_three_lanes(0)), -1);
}

TEST(LaneTransport, says_which_peer_is_not_heard_on_which_lane) {
  dead_lane = 1;
  Job job("device:a,b,c");
  for (Rank rank = 0; rank < k_ranks; ++rank)
    job.transports[static_cast<std::size_t>(rank)]->connect(by_three_lanes(rank));
  for (auto& transport : job.transports) EXPECT_EQ(transport->reach(0.05, job.silent), "");
  EXPECT_EQ(job.transports[0]->hear(0.05, job.silent), "rank 0 hears nothing from rank 1 on lane 1");
  for (auto& transport : job.transports) transport->give_trials_up();
  dead_lane = -1;
}

constexpr std::size_t k_elements = 24;  // per shard

/// One rank's all-to-all, by messages of its own.
struct OwnCall {
  OwnCall(Rank rank, int call, Transport& messages) : by(messages), plan(by_three_lanes(rank)), run(plan, by) {
    run.bind({.count = k_elements, .element_size = 8, .segments = 4});
    for (std::size_t i = 0; i < k_ranks * k_elements; ++i)
      input.push_back(call * 100000 + rank * 1000 + static_cast<std::int64_t>(i));
    output.resize(input.size(), -1);
  }
  void start() {
    run.start({reinterpret_cast<const std::byte*>(input.data()), reinterpret_cast<std::byte*>(output.data()), nullptr,
               nullptr});
  }
  Transport& by;
  Plan plan;
  OneExecution run;
  std::vector<std::int64_t> input, output;
  bool done = false;
};

/// All ranks' calls by the lanes themselves, begun and not moved on yet.
struct Calls {
  explicit Calls(Job& of, bool independent = true) : job(of) {
    for (Rank rank = 0; rank < k_ranks; ++rank)
      all.push_back(std::make_unique<OwnCall>(rank, 0, *job.transports[static_cast<std::size_t>(rank)]));
    for (auto& transport : job.transports) transport->begin_run(independent);
    for (auto& call : all) call->start();
  }
  bool finish(int turns) {
    const auto is_done = [](const auto& call) { return call->done; };
    for (int turn = 0; turn < turns && !std::ranges::all_of(all, is_done); ++turn) {
      for (auto& call : all) call->done = call->done || call->run.progress();
      for (auto& transport : job.transports) transport->progress();
    }
    return std::ranges::all_of(all, is_done);
  }
  void end() {
    for (std::size_t rank = 0; rank < k_ranks; ++rank) {
      job.transports[rank]->end_run();
      for (std::size_t from = 0; from < k_ranks; ++from)
        for (std::size_t i = 0; i < k_elements; ++i)
          ASSERT_EQ(all[rank]->output[from * k_elements + i],
                    static_cast<std::int64_t>(from * 1000 + rank * k_elements + i));
    }
  }
  Job& job;
  std::vector<std::unique_ptr<OwnCall>> all;
};

void wait_for(Calls& calls, double seconds) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds);
  while (std::chrono::steady_clock::now() < end) EXPECT_FALSE(calls.finish(1));
}

LaneMask late_anywhere(const Job& job) {
  LaneMask all = 0;
  for (const auto& transport : job.transports) all |= transport->late();
  return all;
}

constexpr double k_short_s = 0.01;

/// What is late of receives that are under way, when nothing moves for long enough.
LaneMask late_after_a_while(LaneWaits& waits) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(3 * k_short_s);
  while (std::chrono::steady_clock::now() < end) waits.turn(false);
  return waits.late();
}

TEST(LaneWaits, a_lane_is_late_where_another_has_brought_what_was_begun_later) {
  int first = 0, second = 0, third = 0;
  LaneWaits waits(4, k_short_s);
  waits.begin_run(false);
  waits.add(&first, 2, 7, 1, 8);
  waits.add(&second, 2, 8, 0, 8);
  waits.add(&third, 2, 9, 1, 8);
  waits.remove(&second);
  EXPECT_EQ(late_after_a_while(waits), mask_of(1));  // 7 is late; 9 by itself need not be
  waits.forget();
  waits.remove(&first);
  EXPECT_EQ(late_after_a_while(waits), 0u);
  waits.end_run();
  waits.begin_run(false);
  waits.add(&first, 2, 6, 1, 8);  // what came in another run says nothing of this one
  EXPECT_EQ(late_after_a_while(waits), 0u);
}

// A sender that waits for a third rank has not begun its next message.
TEST(LaneWaits, messages_that_wait_for_others_are_not_late_for_those_before_them) {
  int first = 0, second = 0;
  for (const bool independent : {false, true}) {
    LaneWaits waits(4, k_short_s);
    waits.begin_run(independent);
    waits.add(&first, 2, 0, 0, 8);
    waits.add(&second, 2, 1, 1, 8);
    waits.remove(&first);
    EXPECT_EQ(late_after_a_while(waits), independent ? mask_of(1) : 0) << independent;
  }
}

TEST(LaneWaits, other_peers_and_the_same_lane_prove_nothing_and_long_messages_have_longer) {
  int first = 0, second = 0, third = 0;
  LaneWaits waits(4, k_short_s);
  waits.begin_run(true);
  waits.add(&first, 1, 0, 0, 8);
  waits.add(&second, 2, 1, 1, 8);
  waits.add(&third, 2, 2, 1, 8);
  waits.remove(&first);
  waits.remove(&third);
  EXPECT_EQ(late_after_a_while(waits), 0u);
  waits.add(nullptr, 3, 1, 0, 8);
  waits.add(&first, 3, 0, 2, std::size_t{1} << 30);
  EXPECT_EQ(late_after_a_while(waits), 0u);
  LaneWaits never(4, 0);
  never.begin_run(true);
  never.add(nullptr, 3, 1, 0, 8);
  never.add(&first, 3, 0, 2, 8);
  EXPECT_EQ(late_after_a_while(never), 0u);
}

TEST(LaneTransport, sees_that_a_lane_stalls_when_others_are_done) {
  constexpr double k_patience_s = 0.02;
  Job job("device:a,b,c", k_patience_s);
  wire_all(job);
  {
    Calls calls(job);
    EXPECT_TRUE(calls.finish(100000));
    calls.end();
    EXPECT_EQ(late_anywhere(job), 0u);
  }
  stuck_lane = 1;
  Calls calls(job);
  EXPECT_FALSE(calls.finish(1000));
  wait_for(calls, 4 * k_patience_s);
  for (const auto& transport : job.transports) EXPECT_EQ(transport->late(), mask_of(1));
  stuck_lane = -1;
  EXPECT_TRUE(calls.finish(100000));
  calls.end();
  for (const auto& transport : job.transports) {
    EXPECT_EQ(transport->late(), mask_of(1));  // until somebody has asked
    transport->forget_late();
    EXPECT_EQ(transport->late(), 0u);
  }
}

TEST(LaneTransport, a_sender_that_comes_late_is_no_fault_of_a_lane) {
  constexpr double k_patience_s = 0.02;
  Job job("device:a,b,c", k_patience_s);
  wire_all(job);
  std::vector<std::unique_ptr<OwnCall>> calls;
  for (Rank rank = 0; rank < k_ranks; ++rank)
    calls.push_back(std::make_unique<OwnCall>(rank, 0, *job.transports[static_cast<std::size_t>(rank)]));
  for (Rank rank = 1; rank < k_ranks; ++rank) calls[static_cast<std::size_t>(rank)]->start();
  const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(4 * k_patience_s);
  while (std::chrono::steady_clock::now() < end)
    for (std::size_t rank = 1; rank < k_ranks; ++rank) {
      EXPECT_FALSE(calls[rank]->run.progress());
      job.transports[rank]->progress();
    }
  EXPECT_EQ(late_anywhere(job), 0u);
}

TEST(LaneTransport, messages_of_lanes_that_are_given_up_take_those_that_are_left) {
  for (const LaneMask given_up : {mask_of(1), mask_of(0) | mask_of(2)}) {
    Job job("device:a,b,c");
    for (const auto& transport : job.transports) transport->give_up(given_up);
    wire_all(job);
    for (const auto& set : sets)
      for (Lane lane = 0; lane < k_lanes; ++lane)
        EXPECT_EQ(set->wanted[lane].empty(), (mask_of(lane) & given_up) != 0) << lane;
    Calls calls(job);
    EXPECT_TRUE(calls.finish(100000));
    calls.end();
  }
  const Job job("device:a,b,c");
  for (Rank peer = 1; peer < k_ranks; ++peer)
    for (Lane lane = 0; lane < k_lanes; ++lane)
      EXPECT_EQ(job.transports[0]->lane_to(peer, lane, mask_of(2)),
                job.transports[static_cast<std::size_t>(peer)]->lane_to(0, lane, mask_of(2)));
}

TEST(LaneTransport, a_knock_is_heard_when_the_lane_delivers_again) {
  Job job("device:a,b,c");
  wire_all(job);
  stuck_lane = 1;
  for (const auto& transport : job.transports) transport->knock(1);
  for (int turn = 0; turn < 1000; ++turn)
    for (const auto& transport : job.transports) EXPECT_FALSE(transport->is_heard(1));
  stuck_lane = -1;
  for (const auto& transport : job.transports) {
    int turns = 0;
    while (!transport->is_heard(1) && ++turns < 1000) {
    }
    EXPECT_LT(turns, 1000);
    EXPECT_TRUE(transport->is_heard(2));  // where nobody knocked
  }
}

TEST(LaneMessages, operations_and_calls_that_block_do_not_take_each_others_messages) {
  constexpr int k_operations = 3;  // and one that blocks
  for (const char* lanes : {"device:a,b,c", "shared"}) {
    dead_lane = -1;
    Job job(lanes);
    wire_all(job);
    std::vector<std::unique_ptr<LaneMessages>> messages;
    std::vector<std::unique_ptr<OwnCall>> calls;  // [rank][call]
    for (Rank rank = 0; rank < k_ranks; ++rank) {
      LaneTransport& own = *job.transports[static_cast<std::size_t>(rank)];
      for (int call = 0; call < k_operations; ++call) {
        messages.push_back(std::make_unique<LaneMessages>(own));
        messages.back()->serve_tag(-30 - call, call % 2 == 0, 0);
        calls.push_back(std::make_unique<OwnCall>(rank, call, *messages.back()));
      }
      calls.push_back(std::make_unique<OwnCall>(rank, k_operations, own));
    }
    std::mt19937 random(11);
    for (int round = 0; round < 20; ++round) {
      // Every rank begins them in an order of its own.
      std::ranges::shuffle(calls, random);
      for (auto& call : calls) {
        call->done = false;
        std::ranges::fill(call->output, -1);
        call->start();
        for (auto& transport : job.transports) transport->progress();
      }
      const auto is_done = [](const auto& call) { return call->done; };
      for (int turn = 0; turn < 100000 && !std::ranges::all_of(calls, is_done); ++turn) {
        for (auto& call : calls) call->done = call->done || call->run.progress();
        for (auto& transport : job.transports) transport->progress();
      }
      for (auto& call : calls) {
        ASSERT_TRUE(call->done) << lanes;
        const std::int64_t first = call->input.front();
        for (std::int64_t from = 0; from < k_ranks; ++from)
          for (std::size_t i = 0; i < k_elements; ++i)
            ASSERT_EQ(call->output[static_cast<std::size_t>(from) * k_elements + i],
                      first - first % 100000 + from * 1000 +
                          first % 100000 / 1000 * static_cast<std::int64_t>(k_elements) + static_cast<std::int64_t>(i))
                << lanes;
      }
    }
  }
}

// Of one that began before the ranks gave a lane up, whatever they have given up since.
TEST(LaneMessages, an_operation_takes_the_lanes_that_its_plan_was_wired_with) {
  for (const LaneMask wired_without : {LaneMask{0}, mask_of(1)}) {
    Job job("device:a,b,c");
    wire_all(job);
    for (const auto& transport : job.transports) transport->give_up(mask_of(2) & ~wired_without);
    stuck_lane = 1;
    std::vector<std::unique_ptr<LaneMessages>> messages;
    std::vector<std::unique_ptr<OwnCall>> calls;
    for (Rank rank = 0; rank < k_ranks; ++rank) {
      messages.push_back(std::make_unique<LaneMessages>(*job.transports[static_cast<std::size_t>(rank)]));
      messages.back()->serve_tag(-30, false, wired_without);
      calls.push_back(std::make_unique<OwnCall>(rank, 0, *messages.back()));
    }
    for (auto& call : calls) call->start();
    const auto done_within = [&](int turns) {
      for (int turn = 0; turn < turns; ++turn) {
        for (auto& call : calls) call->done = call->done || call->run.progress();
        for (auto& transport : job.transports) transport->progress();
      }
      return std::ranges::all_of(calls, [](const auto& call) { return call->done; });
    };
    EXPECT_EQ(done_within(3000), wired_without != 0);
    stuck_lane = -1;
    EXPECT_TRUE(done_within(3000));
  }
}

TEST(LaneMessages, what_an_operation_has_sent_is_moved_on_after_its_end) {
  dead_lane = -1;
  Job job("device:a,b,c");
  wire_all(job);
  LaneTransport& lanes = *job.transports[0];
  const int* const number = lingering().number();
  ASSERT_EQ(*number, 0);
  sets[0]->flush_turns = 3;
  lanes.operation_begins();
  lanes.settle();  // of a call that blocks: waits for nothing while there are operations
  EXPECT_EQ(*number, 1);
  lanes.operation_ends();
  EXPECT_EQ(*number, 1);
  for (int turn = 0; turn < 2; ++turn) {
    lingering().move();
    EXPECT_EQ(*number, 1) << turn;
  }
  lanes.operation_begins();
  lanes.operation_ends();  // another one, before the first is out: all of it is
  int turns = 0;
  for (; *number == 1 && turns < 100; ++turns) lingering().move();
  EXPECT_GE(turns, 3);
  EXPECT_LE(turns, 8);
  lanes.operation_begins();
  lanes.operation_ends();
  job.transports[0].reset();  // waits until it is out
  EXPECT_EQ(*number, 0);
  for (const auto& [lane, flush] : sets[0]->flush) EXPECT_LE(flush.first, 0) << lane;
}

// Lanes are shared: what another communicator's operation has sent may have to wait for a peer that waits for this
// rank.
TEST(LaneMessages, operations_of_other_communicators_count) {
  dead_lane = -1;
  Job job("device:a,b,c");
  wire_all(job);
  auto other = std::make_unique<LaneTransport>(job.calls, sets[0].get(), lane_setting("device:a,b,c"),
                                               LaneTransport::Place{0, k_ranks, 4, 16, 15, &job.node_of}, job.silent);
  const int* const number = lingering().number();
  sets[0]->flush_turns = std::numeric_limits<int>::max();
  const auto begin = std::chrono::steady_clock::now();
  other->operation_begins();
  job.transports[0]->settle();
  EXPECT_EQ(*number, 1);
  const auto end = std::chrono::steady_clock::now();
  job.transports[0].reset();  // waits half a second
  EXPECT_GT(std::chrono::steady_clock::now() - end, std::chrono::milliseconds(400));
  EXPECT_EQ(*number, 0);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(4));
  sets[0]->flush_turns = 0;
  other->operation_ends();
  other.reset();
  EXPECT_EQ(*number, 0);
}

}  // namespace
}  // namespace colltopo
