// Steps run in the order of their depth, the longest chain of messages before them, which becomes the schedule's step.
//
// A schedule matches messages of two ranks by order alone, an MSCCL algorithm channel by channel. Two channels may
// therefore cross: where nothing else can go on, a message that is in the way is received ahead of its step.
#include "formats/msccl_order.h"

#include <algorithm>
#include <deque>
#include <map>
#include <queue>
#include <tuple>
#include <unordered_map>

#include <fmt/format.h>

#include "base/lines.h"

namespace colltopo::msccl {

namespace {

using Node = std::uint32_t;  // a step of any thread block
constexpr Node k_none = ~Node{0};

class Ordering {
 public:
  Ordering(const Algorithm& algorithm, const std::string& file) : algorithm_(algorithm), file_(file) {
    number_steps();
    match_messages();
    count_waits();
  }

  std::vector<Turn> turns() {
    for (Node node = 0; node < nodes_.size(); ++node)
      if (nodes_[node].waits == 0) ready(node);
    do {
      while (!ready_.empty()) {
        const Node node = std::get<Node>(ready_.top());
        ready_.pop();
        if (is_next_message(node))
          run(node);
        else
          held_[connection(node)].push_back(node);
      }
    } while (make_way());
    if (turns_.size() != nodes_.size() + early_) throw stuck();
    return std::move(turns_);
  }

 private:
  using Pair = std::int64_t;  // of ranks, in one direction
  // In the order of: depth, rank, channel, thread block, step.
  using Key = std::tuple<Step, Rank, Lane, Node>;

  struct State {
    Rank rank = 0;
    std::int32_t block = 0, step = 0;
    const Instruction* instruction = nullptr;
    Node partner_sending = k_none;    // of a step that receives
    Node partner_receiving = k_none;  // of a step that sends
    Node first_waiting = k_none;      // of the steps that wait for this one
    Node next_waiting = k_none;       // of those that wait for the same
    std::uint32_t waits = 0;
    Step depth = 0;
    Step arrives = 0;
    std::size_t message = 0;  // number of the message received
    bool early = false;       // has been received ahead
  };

  const ThreadBlock& block_of(const State& state) const {
    return algorithm_.gpus[static_cast<std::size_t>(state.rank)].blocks[static_cast<std::size_t>(state.block)];
  }
  Pair pair(Rank source, Rank target) const {
    return Pair{source} * static_cast<Pair>(algorithm_.gpus.size()) + target;
  }
  /// That of the message which the step receives.
  Pair connection(Node node) const { return pair(block_of(nodes_[node]).recv, nodes_[node].rank); }

  void number_steps() {
    Rank rank = 0;
    for (const Gpu& gpu : algorithm_.gpus) {
      first_.emplace_back();
      std::int32_t index = 0;
      for (const ThreadBlock& block : gpu.blocks) {
        first_.back().push_back(static_cast<Node>(nodes_.size()));
        std::int32_t step = 0;
        for (const Instruction& instruction : block.steps) {
          State state;
          state.rank = rank;
          state.block = index;
          state.step = step++;
          state.instruction = &instruction;
          nodes_.push_back(state);
        }
        ++index;
      }
      ++rank;
    }
  }

  void match_messages() {
    struct Ends {
      std::vector<Node> sends, receives;
    };
    std::map<std::tuple<Rank, Rank, Lane>, Ends> connections;
    for (Node node = 0; node < nodes_.size(); ++node) {
      const State& state = nodes_[node];
      const ThreadBlock& block = block_of(state);
      if (sends(state.instruction->type)) connections[{state.rank, block.send, block.channel}].sends.push_back(node);
      if (receives(state.instruction->type))
        connections[{block.recv, state.rank, block.channel}].receives.push_back(node);
    }
    for (const auto& [connection, ends] : connections) {
      const auto& [source, target, channel] = connection;
      const std::size_t both = std::min(ends.sends.size(), ends.receives.size());
      if (ends.sends.size() != ends.receives.size()) {
        const Node alone = ends.sends.size() > both ? ends.sends[both] : ends.receives[both];
        throw error(alone,
                    fmt::format("gpu {} sends {} messages to gpu {} on channel {}, which receives {}; expected as many",
                                source, ends.sends.size(), target, channel, ends.receives.size()));
      }
      for (std::size_t i = 0; i < both; ++i) {
        const Node sender = ends.sends[i], receiver = ends.receives[i];
        const Chunk sent = nodes_[sender].instruction->count;
        if (sent != nodes_[receiver].instruction->count)
          throw error(receiver, fmt::format("receives {} chunks from gpu {} on channel {}, which sends {} (line {})",
                                            nodes_[receiver].instruction->count, source, channel, sent,
                                            nodes_[sender].instruction->line));
        nodes_[sender].partner_receiving = receiver;
        nodes_[receiver].partner_sending = sender;
      }
    }
  }

  void count_waits() {
    for (Node node = 0; node < nodes_.size(); ++node) {
      State& state = nodes_[node];
      state.waits = (state.step > 0 ? 1u : 0u) + (state.partner_sending != k_none ? 1u : 0u);
      if (state.instruction->awaited_block < 0) continue;
      ++state.waits;
      State& awaited = nodes_[first_[static_cast<std::size_t>(state.rank)]
                                    [static_cast<std::size_t>(state.instruction->awaited_block)] +
                              static_cast<Node>(state.instruction->awaited_step)];
      state.next_waiting = awaited.first_waiting;
      awaited.first_waiting = node;
    }
  }

  void ready(Node node) {
    const State& state = nodes_[node];
    ready_.emplace(state.depth, state.rank, block_of(state).channel, node);
  }

  void end_wait(Node node, Step depth) {
    State& state = nodes_[node];
    state.depth = std::max(state.depth, depth);
    if (--state.waits == 0) ready(node);
  }

  bool is_next_message(Node node) {
    const State& state = nodes_[node];
    return state.partner_sending == k_none || state.early || under_way_[connection(node)].front() == node;
  }

  void run(Node node) {
    State& state = nodes_[node];
    Turn turn{state.rank,    state.block, state.step,    state.early ? Turn::What::all_but_message : Turn::What::all,
              state.message, 0,           state.arrives, state.depth};
    if (state.partner_sending != k_none && !state.early) take(connection(node));
    if (state.partner_receiving != k_none) {
      turn.leaves = ++state.depth;
      turn.sent = messages_++;
      State& receiver = nodes_[state.partner_receiving];
      receiver.message = turn.sent;
      receiver.arrives = state.depth;
      under_way_[pair(state.rank, receiver.rank)].push_back(state.partner_receiving);
      end_wait(state.partner_receiving, state.depth);
    }
    turns_.push_back(turn);
    for (Node waiting = state.first_waiting; waiting != k_none; waiting = nodes_[waiting].next_waiting)
      end_wait(waiting, state.depth);
    if (static_cast<std::size_t>(state.step) + 1 < block_of(state).steps.size()) end_wait(node + 1, state.depth);
  }

  /// The next message of the pair has been received: a step held for it may run after all.
  void take(Pair pair) {
    std::deque<Node>& queue = under_way_[pair];
    queue.pop_front();
    const auto held = held_.find(pair);
    if (queue.empty() || held == held_.end()) return;
    const auto found = std::find(held->second.begin(), held->second.end(), queue.front());
    if (found == held->second.end()) return;
    ready(*found);
    held->second.erase(found);
    if (held->second.empty()) held_.erase(held);
  }

  /// Receives ahead what stands before the first step held. False when none is.
  bool make_way() {
    if (held_.empty()) return false;
    const auto first = held_.begin();
    const Pair pair = first->first;
    const Node wanted = *std::min_element(first->second.begin(), first->second.end());
    std::deque<Node>& queue = under_way_[pair];
    while (queue.front() != wanted &&
           std::find(first->second.begin(), first->second.end(), queue.front()) == first->second.end()) {
      State& state = nodes_[queue.front()];
      state.early = true;
      ++early_;
      turns_.push_back(
          {state.rank, state.block, state.step, Turn::What::message, state.message, 0, state.arrives, state.arrives});
      queue.pop_front();
    }
    const Node next = queue.front();
    std::erase(first->second, next);
    if (first->second.empty()) held_.erase(first);
    ready(next);
    return true;
  }

  Error error(Node node, std::string_view what) const { return error_at(file_, nodes_[node].instruction->line, what); }

  Error stuck() const {
    for (Node node = 0; node < nodes_.size(); ++node) {
      const State& state = nodes_[node];
      if (state.waits == 0 || (state.step > 0 && nodes_[node - 1].waits > 0)) continue;
      return error(
          node,
          fmt::format(
              "step {} of a thread block of gpu {} waits for what waits for it; expected an order in which all can run",
              state.step, state.rank));
    }
    return Error(file_ + ": steps wait for each other; expected an order in which all can run");
  }

  const Algorithm& algorithm_;
  const std::string& file_;
  std::vector<State> nodes_;
  std::vector<std::vector<Node>> first_;  // [rank][thread block]
  std::priority_queue<Key, std::vector<Key>, std::greater<>> ready_;
  std::unordered_map<Pair, std::deque<Node>> under_way_;  // messages sent and not received, by their receivers
  std::map<Pair, std::vector<Node>> held_;                // steps whose messages have others before them
  std::vector<Turn> turns_;
  std::size_t messages_ = 0, early_ = 0;
};

}  // namespace

std::vector<Turn> turns(const Algorithm& algorithm, const std::string& file) {
  return Ordering(algorithm, file).turns();
}

}  // namespace colltopo::msccl
