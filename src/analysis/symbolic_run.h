// A run of all programs on symbols, one op at a time, sends being buffered.
#pragma once

#include <deque>
#include <map>
#include <vector>

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

  /// Runs to the end and checks the result; false when there are violations.
  bool run();

  const std::vector<Match>& matches() const { return matches_; }
  bool keeps_rank_order() const { return keeps_rank_order_; }
  bool same_on_all_ranks() const { return same_on_all_ranks_; }

 private:
  struct Message {
    std::uint32_t op;
    Step step;
    Lane lane;
    std::vector<Symbol> symbols;
  };
  void fill_inputs();
  void run_rank(Rank rank);
  bool receive(Rank rank, std::uint32_t index, const Op& op);
  void write(Rank rank, std::uint32_t index, std::span<const Run> target, const std::vector<Symbol>& symbols);
  std::vector<Symbol> read(Rank rank, std::uint32_t index, std::span<const Run> source);
  void check_places(Rank rank, std::uint32_t index, const Op& op);
  void check_left_over();
  void check_result();
  void check_reduced(Rank rank, Chunk chunk, Chunk vector_chunk, std::vector<Symbol>& results);
  void fault(Rank rank, int op, std::string what);

  const Schedule& schedule_;
  const Shape& shape_;
  bool in_place_;
  std::vector<Violation>& violations_;
  Symbols symbols_;
  std::vector<Cells> cells_;                 // [rank]
  std::vector<std::vector<Symbol>> memory_;  // [rank][cell]
  std::vector<std::uint32_t> next_op_;       // [rank]
  std::vector<Rank> runnable_;
  std::map<std::pair<Rank, Rank>, std::deque<Message>> wires_;  // (from, to)
  std::vector<Match> matches_;
  bool keeps_rank_order_ = true, same_on_all_ranks_ = true;
};

}  // namespace colltopo
