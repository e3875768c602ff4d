// Plans and executions: which ops wait for which, that nothing is allocated while running, and how errors end a run.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <new>

#include "executions.h"

namespace {
std::atomic<long> allocations{0};
}

// Every allocation of this program is counted.
void* operator new(std::size_t bytes) {
  ++allocations;
  if (void* memory = std::malloc(bytes == 0 ? 1 : bytes)) return memory;
  throw std::bad_alloc();
}
#pragma GCC diagnostic ignored "-Wmismatched-new-delete"  // the pair is replaced as a whole
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }

namespace colltopo {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

// Completes what it is told to, in the order in which the test says, without allocating.
class ScriptedTransport final : public Transport {
 public:
  struct Message {
    bool sends;
    Rank peer;
    std::size_t bytes;
    const std::byte* data;
    bool done = false, abandoned = false;
  };
  ScriptedTransport() { messages.reserve(4096); }

  int send(const std::byte* data, std::size_t bytes, Rank peer, Lane, Request* request) noexcept override {
    return start(true, data, bytes, peer, request);
  }
  int recv(std::byte* data, std::size_t bytes, Rank peer, Lane, Request* request) noexcept override {
    return start(false, data, bytes, peer, request);
  }
  int test(Request* request) noexcept override {
    const Message& message = *static_cast<Message*>(*request);
    if (fail_on_test == message.peer) return 15;
    if (message.done) *request = nullptr;
    return 0;
  }
  void abandon(Request* request) noexcept override {
    static_cast<Message*>(*request)->abandoned = true;
    *request = nullptr;
  }
  void progress() noexcept override {}

  std::vector<Message> messages;  // in the order in which they started
  Rank fail_on_send = -1, fail_on_test = -1;

 private:
  int start(bool sends, const std::byte* data, std::size_t bytes, Rank peer, Request* request) noexcept {
    if (sends && fail_on_send == peer) return 16;
    messages.push_back({sends, peer, bytes, data});
    *request = &messages.back();
    return 0;
  }
};

const Shape k_shape{Collective::alltoall, 4, 1, 0};

Program relay() {  // receives into scratch, forwards, and receives there again
  ProgramBuilder b(k_shape, 0);
  b.recv({{Buffer::scratch, 0, 1}}, 1);
  b.send({{Buffer::scratch, 0, 1}}, 2);
  b.recv({{Buffer::scratch, 0, 1}}, 3);
  b.copy({{Buffer::input, 0, 1}}, {{Buffer::output, 0, 1}});
  return std::move(b).build();
}

// For each op, how many others it waits for.
std::vector<int> waits_of(const Plan& plan) {
  std::vector<int> waits(plan.size(), 0);
  for (std::size_t i = 0; i < plan.size(); ++i) {
    for (const std::uint32_t op : plan.after_completion(i)) ++waits[op];
    if (plan.next_with_peer(i) >= 0) ++waits[static_cast<std::size_t>(plan.next_with_peer(i))];
  }
  return waits;
}

TEST(Plan, ops_wait_exactly_for_hazards) {
  const Plan plan(relay());
  EXPECT_THAT(waits_of(plan), ElementsAre(0, 1, 2, 0));
  EXPECT_THAT(plan.after_completion(0), ElementsAre(1, 2));
  EXPECT_THAT(plan.after_completion(1), ElementsAre(2));
  EXPECT_THAT(plan.after_completion(3), IsEmpty());
  EXPECT_EQ(plan.scratch(), 1);
}

TEST(Plan, messages_with_one_peer_and_direction_start_in_order) {
  ProgramBuilder b(k_shape, 0);
  b.send({{Buffer::input, 1, 1}}, 1)
      .recv({{Buffer::output, 1, 1}}, 1)
      .send({{Buffer::input, 2, 1}}, 1)
      .send({{Buffer::input, 3, 1}}, 2);
  const Plan plan(std::move(b).build());
  EXPECT_EQ(plan.next_with_peer(0), 2);
  EXPECT_EQ(plan.next_with_peer(1), -1);
  EXPECT_THAT(waits_of(plan), ElementsAre(0, 0, 1, 0));
}

TEST(Plan, in_place_the_input_is_the_output) {
  ProgramBuilder b(k_shape, 0);
  b.send({{Buffer::input, 1, 1}}, 1).recv({{Buffer::output, 1, 1}}, 1);
  const Program program = std::move(b).build();
  EXPECT_THAT(waits_of(Plan(program)), ElementsAre(0, 0));
  EXPECT_THAT(waits_of(Plan(program, {.in_place = true})), ElementsAre(0, 1));
}

TEST(Execution, ops_start_when_what_they_wait_for_has_completed) {
  const Plan plan(relay());
  ScriptedTransport wires;
  OneExecution execution(plan, wires);
  execution.bind({.count = 2, .element_size = 8});
  std::vector<std::byte> input(64), output(64);
  execution.start({input.data(), output.data(), nullptr, nullptr});
  EXPECT_FALSE(execution.progress());
  ASSERT_EQ(wires.messages.size(), 1u);
  EXPECT_FALSE(wires.messages[0].sends);
  wires.messages[0].done = true;
  EXPECT_FALSE(execution.progress());
  ASSERT_EQ(wires.messages.size(), 2u);
  EXPECT_TRUE(wires.messages[1].sends);
  EXPECT_EQ(wires.messages[1].bytes, 16u);
  wires.messages[1].done = true;
  EXPECT_FALSE(execution.progress());
  wires.messages[2].done = true;
  EXPECT_TRUE(execution.progress());
  EXPECT_EQ(execution.status(), 0);
}

// Remembers what lies at `watched` when it is called.
class WatchingTransport final : public Transport {
 public:
  explicit WatchingTransport(const std::byte* watched) : watched_(watched) {}

  int send(const std::byte*, std::size_t, Rank, Lane, Request* request) noexcept override { return note('s', request); }
  int recv(std::byte*, std::size_t, Rank, Lane, Request* request) noexcept override { return note('r', request); }
  int test(Request*) noexcept override { return 20; }  // run() waits
  int wait(Request* request) noexcept override {
    seen += *watched_ == std::byte{7} ? "w7" : "w0";
    *request = nullptr;
    return 0;
  }
  void abandon(Request*) noexcept override {}
  void progress() noexcept override {}

  std::string seen;

 private:
  int note(char what, Request* request) noexcept {
    seen += what;
    seen += *watched_ == std::byte{7} ? '7' : '0';
    *request = this;
    return 0;
  }
  const std::byte* watched_;
};

TEST(Execution, small_plans_copy_while_messages_are_under_way_and_before_a_message_that_needs_the_copy) {
  const auto seen = [](Buffer sent, Chunk chunk) {
    ProgramBuilder b(k_shape, 0);
    b.copy({{Buffer::input, 0, 1}}, {{Buffer::output, 0, 1}});
    b.copy({{Buffer::input, 1, 1}}, {{Buffer::scratch, 0, 1}});
    b.send({{sent, chunk, 1}}, 1).recv({{Buffer::output, 1, 1}}, 1);
    const Plan plan(std::move(b).build());
    std::vector<std::byte> input(4, std::byte{7}), output(4);
    WatchingTransport wires(output.data());
    OneExecution execution(plan, wires);
    execution.bind({.count = 1, .element_size = 1});
    EXPECT_EQ(execution.run({input.data(), output.data(), nullptr, nullptr}), 0);
    return wires.seen;
  };
  EXPECT_EQ(seen(Buffer::input, 1), "s0r0w7w7");
  EXPECT_EQ(seen(Buffer::scratch, 0), "s7r7w7w7");
}

TEST(Execution, contiguous_messages_are_sent_from_where_they_lie) {
  ProgramBuilder b(k_shape, 0);
  b.send({{Buffer::input, 1, 2}}, 1).send({{Buffer::input, 0, 1}, {Buffer::input, 2, 1}}, 2);
  const Plan plan(std::move(b).build());
  ScriptedTransport wires;
  OneExecution execution(plan, wires);
  execution.bind({.count = 3, .element_size = 4});
  std::vector<std::byte> input(48), output(48);
  for (std::size_t i = 0; i < input.size(); ++i) input[i] = static_cast<std::byte>(i);
  execution.start({input.data(), output.data(), nullptr, nullptr});
  execution.progress();
  ASSERT_EQ(wires.messages.size(), 2u);
  EXPECT_EQ(wires.messages[0].data, input.data() + 12);
  EXPECT_EQ(wires.messages[0].bytes, 24u);
  EXPECT_EQ(wires.messages[1].bytes, 24u);  // gathered
  EXPECT_EQ(wires.messages[1].data[0], std::byte{0});
  EXPECT_EQ(wires.messages[1].data[12], std::byte{24});
}

TEST(Execution, nothing_is_allocated_once_bound) {
  ProgramBuilder b(k_shape, 0);
  for (Rank peer = 1; peer < 4; ++peer) {
    b.step(peer).send({{Buffer::input, 0, 1}, {Buffer::input, peer, 1}}, peer);
    b.recv({{Buffer::scratch, 2 * peer, 1}, {Buffer::output, peer, 1}}, peer);
  }
  const Plan plan(std::move(b).build());
  for (const Pace pace : {Pace::free, Pace::steps}) {
    ScriptedTransport wires;
    OneExecution execution(plan, wires);
    const Binding binding{
        .count = 5, .element_size = 8, .segments = 3, .order = SegmentOrder::slot_by_slot, .pace = pace};
    execution.bind(binding);
    std::vector<std::byte> input(160), output(160);
    const long before = allocations;
    for (int run = 0; run < 3; ++run) {
      execution.bind(binding);
      execution.start({input.data(), output.data(), nullptr, nullptr});
      for (std::size_t next = 0; !execution.progress();) {
        ASSERT_LT(next, wires.messages.size());
        wires.messages[next++].done = true;
      }
      wires.messages.clear();
    }
    EXPECT_EQ(allocations - before, 0);
  }
}

TEST(Execution, step_by_step_no_step_begins_before_the_last_one_ended) {
  ProgramBuilder b(k_shape, 0);
  b.step(1).send({{Buffer::input, 1, 1}}, 1).recv({{Buffer::output, 1, 1}}, 1);
  b.step(3).send({{Buffer::input, 2, 1}}, 2);
  const Plan plan(std::move(b).build());
  ScriptedTransport wires;
  OneExecution execution(plan, wires);
  execution.bind({.count = 1, .element_size = 8, .pace = Pace::steps});
  std::vector<std::byte> input(32), output(32);
  execution.start({input.data(), output.data(), nullptr, nullptr});
  execution.progress();
  EXPECT_EQ(wires.messages.size(), 2u);
  wires.messages[1].done = true;
  execution.progress();
  EXPECT_EQ(wires.messages.size(), 2u);
  wires.messages[0].done = true;
  execution.progress();
  EXPECT_EQ(wires.messages.size(), 3u);
}

TEST(Execution, empty_messages_are_left_out_at_both_ends) {
  ProgramBuilder b({Collective::allreduce, 4, 1, 0}, 0);
  b.send({{Buffer::input, 3, 1}}, 1).recv({{Buffer::scratch, 2, 2}}, 1).send({{Buffer::input, 0, 2}}, 2);
  const Plan plan(std::move(b).build());
  ScriptedTransport wires;
  OneExecution execution(plan, wires);
  execution.bind({.count = 2, .element_size = 8});  // chunks 2 and 3 have no elements
  std::vector<std::byte> input(16), output(16);
  execution.start({input.data(), output.data(), nullptr, nullptr});
  execution.progress();
  ASSERT_EQ(wires.messages.size(), 1u);
  EXPECT_EQ(wires.messages[0].peer, 2);
  EXPECT_EQ(execution.bound().messages(), 1u);
  EXPECT_EQ(execution.bound().bytes_sent(), 16u);
}

TEST(Execution, an_error_ends_the_run_and_gives_up_what_is_under_way) {
  const auto fails = [](Rank send, Rank test) {
    ProgramBuilder b(k_shape, 0);
    for (Rank peer = 1; peer < 4; ++peer) b.recv({{Buffer::output, peer, 1}}, peer);
    b.send({{Buffer::input, 1, 1}}, 1).send({{Buffer::input, 2, 1}}, 2);
    const Plan plan(std::move(b).build());
    ScriptedTransport wires;
    wires.fail_on_send = send;
    wires.fail_on_test = test;
    OneExecution execution(plan, wires);
    execution.bind({.count = 1, .element_size = 8});
    std::vector<std::byte> input(32), output(32);
    execution.start({input.data(), output.data(), nullptr, nullptr});
    EXPECT_TRUE(execution.progress());
    for (const auto& message : wires.messages) EXPECT_TRUE(message.abandoned);
    return execution.status();
  };
  EXPECT_EQ(fails(2, -1), 16);
  EXPECT_EQ(fails(-1, 3), 15);
}

TEST(Layout, parts_differ_by_at_most_one_element_and_fill_the_whole) {
  for (const std::size_t elements : {0u, 1u, 7u, 64u, 1000u}) {
    for (const std::size_t parts : {1u, 3u, 8u, 100u}) {
      for (std::size_t i = 0; i < parts; ++i) {
        const std::size_t length = split(elements, parts, i + 1) - split(elements, parts, i);
        EXPECT_TRUE(length == elements / parts || length == elements / parts + 1);
      }
      EXPECT_EQ(split(elements, parts, parts), elements);
    }
  }
}

TEST(Layout, chunks_of_all_segments_tile_the_buffer) {
  for (const Collective collective :
       {Collective::alltoall, Collective::allgather, Collective::reduce_scatter, Collective::allreduce}) {
    const Shape shape{collective, 3, 2, 0};
    const Layout layout(shape, 11, 4, 3);
    std::vector<int> covered(layout.input_bytes(1), 0);
    for (int segment = 0; segment < 3; ++segment) {
      for (Chunk chunk = 0; chunk < shape.input_chunks(1); ++chunk) {
        const std::size_t first = layout.input_offset(1, chunk, segment);
        const std::size_t bytes = layout.bytes(shape.input_class(1, chunk), segment);
        for (std::size_t i = first; i < first + bytes; ++i) ++covered[i];
      }
    }
    EXPECT_THAT(covered, testing::Each(1)) << name(collective);
  }
}

}  // namespace
}  // namespace colltopo
