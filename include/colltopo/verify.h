// A symbolic proof that a schedule is the collective it says it is.
//
// Ranks run their programs on symbols instead of data. A symbol is a reduction tree over (rank, chunk) leaves, so a
// contribution that is lost, doubled or misplaced is seen, and so is the order of operands. Freedom from deadlock is
// proved under rendezvous (a send completes only when its receive has been issued) for every execution order that the
// executor may choose: the graph issue(op) -> complete(op), complete(dependency) -> issue(op), issue(send) ->
// complete(recv), issue(recv) -> complete(send), and issue(k-th message to a peer) -> issue(the next one), is acyclic;
// also with issue(op) -> issue(the next one) of ranks that may start their ops in line.
#pragma once

#include <string>
#include <vector>

#include "colltopo/schedule.h"

namespace colltopo {

/// One thing that is wrong, in words: "rank 3 op 12: receives 2 chunks from 1, which sends 3".
struct Violation {
  Rank rank = -1;  // -1: of the whole schedule
  int op = -1;     // index in the rank's program; -1: none
  std::string what;
};
std::string to_string(const Violation& violation);

struct Verdict {
  std::vector<Violation> violations;  // at most 20; the first is the cause
  bool in_place = false;              // also right (and deadlock free) when input and output are the same memory
  // The others hold in place as well, where that is right: whoever binds a plan may combine them.
  bool keeps_rank_order = false;   // every result is reduced in the order of ranks: safe for non-commutative ops
  bool same_on_all_ranks = false;  // every rank computes each result by the same expression: equal bits
  bool stepped = false;            // also free of deadlock when no rank starts a step before its own last step ended
  bool independent = false;        // nothing in any program waits for a message

  bool valid() const { return violations.empty(); }
};

/// Raised whenever verify() or verify_symmetric() finds something else of some schedule: proofs are remembered by it.
inline constexpr int k_verifier_version = 1;

/// What of a verdict goes with the schedule, which must be valid.
Proof proof_of(const Verdict& verdict);

/// Time and memory O(chunks moved) + O(reductions * ranks / 8) bytes.
Verdict verify(const Schedule& schedule);

}  // namespace colltopo
