// A run of all programs on symbols, one op at a time, sends being buffered.
#pragma once

#include <unordered_map>
#include <vector>

#include "analysis/symbol_memory.h"
#include "analysis/symbols.h"
#include "colltopo/verify.h"
#include "schedule/cells.h"

namespace colltopo {

/// The ops that a message joins.
struct Match {
  Rank from = 0, to = 0;
  std::uint32_t send = 0, recv = 0;
};

class SymbolicRun {
 public:
  SymbolicRun(const Schedule& schedule, bool in_place, std::vector<Violation>& violations);

  /// Runs to the end and checks the result; false when there are violations. In place the first of them ends it.
  bool run();

  const std::vector<Match>& matches() const { return matches_; }
  bool keeps_rank_order() const { return keeps_rank_order_; }
  bool same_on_all_ranks() const { return same_on_all_ranks_; }

 private:
  struct Message {
    std::uint32_t op;
    Step step;
    Lane lane;
    Stretches symbols;
    std::uint32_t next;  // on the same wire, or in the list of free messages
  };
  static constexpr std::uint32_t k_none = ~std::uint32_t{0};
  /// Messages on their way, into messages_.
  struct Wire {
    std::uint32_t first = k_none, last = k_none;
  };
  void fill_inputs();
  void run_rank(Rank rank);
  bool receive(Rank rank, std::uint32_t index, const Op& op);
  Wire& wire(Rank from, Rank to) {
    return wires_[static_cast<std::uint64_t>(from) << 32 | static_cast<std::uint32_t>(to)];
  }
  void send(Rank rank, std::uint32_t index, const Op& op);
  void reduce(Rank rank, std::uint32_t index, const Op& op);
  void write(Rank rank, std::uint32_t index, std::span<const Run> target, const Stretches& symbols);
  void check_class(Rank rank, std::uint32_t index, Buffer buffer, Chunk chunk, Stretch value);
  Stretches read(Rank rank, std::uint32_t index, std::span<const Run> source);
  void check_places(Rank rank, std::uint32_t index, const Op& op);
  void check_left_over();
  void check_result();
  void check_moved(Rank rank);
  void check_reduced(Rank rank, Chunk chunk, Chunk vector_chunk, std::vector<Symbol>& results);
  void fault(Rank rank, int op, std::string what);

  const Schedule& schedule_;
  const Shape& shape_;
  bool in_place_;
  std::vector<Violation>& violations_;
  Symbols symbols_;
  std::vector<Cells> cells_;            // [rank]
  std::vector<SymbolMemory> memory_;    // [rank]
  std::vector<std::uint32_t> next_op_;  // [rank]
  std::vector<Rank> runnable_;
  std::unordered_map<std::uint64_t, Wire> wires_;  // (from, to)
  std::vector<Message> messages_;
  std::uint32_t free_message_ = k_none;
  std::vector<Match> matches_;
  Stretches found_;  // in memory, by the read at hand
  bool keeps_rank_order_ = true, same_on_all_ranks_ = true;
};

}  // namespace colltopo
