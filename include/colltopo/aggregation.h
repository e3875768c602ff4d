// All-to-all of blocks of any size by way of other ranks: one message per round, which tells its own lengths.
//
// A program says which blocks a message carries; how long they are, only the two ends of each block know. So a message
// is the lengths of its blocks, four bytes each, and then their bytes. No block of more than `limit` bytes goes this
// way, so a receive has room for that and no rank asks another for sizes first. (Fan et al. exchange lengths in a
// message of their own, and give every block room for the largest of all ranks.)
//
// What arrives stays where it arrived until it is passed on: there are no slots, whatever the program calls them. Where
// room for all messages at once would be much (decision 30), messages of later steps take the memory of earlier ones,
// and blocks that have still to go on move aside.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "colltopo/arena.h"
#include "colltopo/layout.h"
#include "colltopo/plan.h"
#include "colltopo/transport.h"

namespace colltopo {

/// A program made ready for any sizes. Const once made.
class AggregationPlan {
 public:
  using Length = std::uint32_t;  // of a block, as messages tell it

  /// `plan`: of an alltoall of one chunk per shard, that reduces nothing and is not in place. `roomy_bytes`: up to
  /// there a run has room for all of its messages, and nothing waits for memory.
  AggregationPlan(std::shared_ptr<const Plan> plan, std::size_t limit,
                  std::size_t roomy_bytes = Arena::k_most_idle_bytes);

  std::size_t limit() const { return limit_; }  // bytes
  /// Memory that a run needs: room for every message of the program where that is little; else the larger of one
  /// block with its length from each rank, and what waits to be passed on with the messages of one step.
  std::size_t arena_bytes() const { return arena_bytes_; }
  std::size_t messages() const { return messages_; }
  const Program& program() const { return plan_->program(); }
  std::size_t memory_bytes() const;

 private:
  friend class Aggregation;
  static constexpr std::size_t k_sends = 0, k_receives = 1;
  struct Message {
    std::size_t room = 0;      // bytes that it may have
    std::size_t at = 0;        // in the memory of its stage
    std::uint32_t stage = 0;   // of its direction
    std::uint32_t passed = 0;  // blocks of others that it takes from scratch, or leaves there
  };
  /// The messages of one step and direction, side by side in memory.
  struct Stage {
    Step step = 0;
    std::vector<std::uint32_t> ops;
    std::size_t bytes = 0;
    std::uint32_t keeps = 0;  // blocks that go on from here
  };
  struct Line {
    std::vector<Stage> stages;
    std::size_t begin = 0, capacity = 0;  // in the arena
    std::size_t all() const;
    std::size_t largest() const;
  };

  void add_message(std::uint32_t op);
  bool passes_each_block_once();
  std::size_t most_kept() const;
  void divide_memory(std::size_t roomy_bytes);
  std::shared_ptr<const Plan> plan_;
  std::size_t limit_;
  std::vector<Message> messages_of_;  // [op]
  std::array<Line, 2> lines_;         // sends, receives
  std::vector<std::uint32_t> waits_;  // [op] ops that come before it; a message waits for its memory, too
  bool is_tight_ = false;             // whether memory of messages that are over is used again
  std::size_t kept_ = 0;              // blocks for which there is room beside the messages
  std::size_t arena_bytes_ = 0, messages_ = 0;
};

/// One run of such a plan. Blocks above the limit are left out: both of their ends know, and exchange them otherwise.
class Aggregation {
 public:
  /// Begins. All must live until it is over; `arena`: plan.arena_bytes() bytes, aligned to 64. `mismatch`: the error of
  /// a block that is not as long as its receiver says. Throws std::bad_alloc, before anything is sent.
  void start(const AggregationPlan& plan, Transport& transport, std::byte* arena, const std::byte* input,
             std::byte* output, const UnevenShards& shards, int mismatch);
  /// True when all is done or an error has ended the run. Never blocks.
  bool progress() noexcept;
  /// 0, or the first error code.
  int status() const { return status_; }
  /// Whether messages of the run were given up: they may still arrive in the arena.
  bool gave_up() const { return gave_up_; }
  /// After a run.
  template <class Visit>  // visit(Rank peer, std::size_t bytes)
  void for_each_send(const Visit& visit) const {
    for (std::size_t op = 0; op < sent_.size(); ++op)
      if (sent_[op] > 0) visit(plan_->program().op(op).peer, sent_[op]);
  }
  /// Gives up what is under way, as after an error elsewhere.
  void fail(int code) noexcept;

 private:
  struct Block {
    const std::byte* at = nullptr;
    std::size_t bytes = 0;
  };
  struct Active {
    std::uint32_t op;
    Transport::Request request;
  };

  /// Ops that may start, as they come; each comes once.
  struct Ready {
    std::vector<std::uint32_t> ops;
    std::size_t next = 0;
  };

  /// Stages of one direction that have memory.
  struct Open {
    std::size_t first = 0, next = 0;  // stages
    std::size_t end = 0;              // behind the last one
    std::vector<std::size_t> at;      // [stage] in the memory of the direction
    std::vector<std::size_t> left;    // [stage] messages that are not over
  };

  void open_stages() noexcept;
  bool open_next(std::size_t direction) noexcept;
  bool place(std::size_t direction, std::size_t bytes, std::size_t* at) const noexcept;
  void make_way(const AggregationPlan::Stage& stage) noexcept;
  void release(const Run& run) noexcept;
  std::byte* memory_of(std::uint32_t op) const noexcept;
  void issue(std::uint32_t op) noexcept;
  void send(std::uint32_t op) noexcept;
  void arrived(std::uint32_t op) noexcept;
  void copy(std::uint32_t op) noexcept;
  void started(std::uint32_t op) noexcept;
  void completed(std::uint32_t op) noexcept;
  void became_ready(std::uint32_t op) noexcept;
  Ready* first_ready() noexcept;
  bool test_actives() noexcept;
  std::size_t expected(Chunk shard) const noexcept;
  Block block(const Run& run, Chunk chunk) const noexcept;
  void keep(const Run& run, Chunk chunk, const Block& block) noexcept;

  const AggregationPlan* plan_ = nullptr;
  Transport* transport_ = nullptr;
  std::byte* arena_ = nullptr;
  const std::byte* input_ = nullptr;
  std::byte* output_ = nullptr;
  UnevenShards shards_;
  std::vector<Block> slots_;          // [slot of the program's scratch]
  std::array<Open, 2> open_;          // sends, receives
  std::vector<std::byte*> free_;      // room for blocks beside the messages
  std::size_t kept_ = 0;              // blocks that have come, or for which room was asked, and have not gone on
  bool may_open_ = false;             // memory may have become free
  std::vector<std::uint32_t> waits_;  // [op] what it still waits for
  Ready receives_, others_;           // the former start first
  std::vector<Active> actives_;
  std::vector<std::size_t> sent_;  // [op] bytes
  std::size_t left_ = 0;
  int status_ = 0, mismatch_ = 0;
  bool gave_up_ = false;
};

/// The largest block that is worth going by way of others: what it adds to their messages takes no longer than a
/// message of its own. `hops`: of a block.
std::size_t aggregation_limit(double message_s, double byte_s, double copied_byte_s, double hops);

}  // namespace colltopo
