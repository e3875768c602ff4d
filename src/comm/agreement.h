// What all ranks of a communicator must find alike before anything depends on it.
//
// Ranks agree by a schedule of our own, an all-reduce of a few numbers by recursive doubling that an Execution runs: so
// a call that may not block chains it before its own.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "colltopo/colltopo.h"
#include "colltopo/execution.h"

namespace colltopo {

/// The smallest of all ranks' numbers, for each of so many: made once per process for equal arguments.
std::shared_ptr<const Bound> agreement_bound(Rank rank, Rank ranks, std::size_t numbers);
/// Its reduction: `elements` of long long.
int keep_smaller(void* context, const void* source, void* target, std::size_t elements);
/// The same for sums.
int keep_sum(void* context, const void* source, void* target, std::size_t elements);

/// A 62-bit number that stands for a text or for numbers, so that its negative is a long long as well.
long long checksum_of(std::string_view text);
long long checksum_of(std::span<const int> numbers);

/// What one rank found, and what it has in common with the others once they have agreed. A caller adds facts in the
/// same order on all ranks.
class Findings {
 public:
  Findings() { facts_.reserve(8); }

  /// The same on all ranks if nothing is wrong: what differs otherwise, and of what ("different rules under ", a path).
  void same(const char* what, long long checksum, std::string_view of = {}) {
    facts_.push_back({what, std::string(of), checksum});
  }
  /// The smallest, or largest, of all ranks' numbers; returns its place for value().
  std::size_t smallest(long long value);
  std::size_t largest(long long value) { return smallest(-value); }
  /// What this rank cannot do; the first fault counts.
  void fault(std::string line) {
    if (fault_.empty()) fault_ = std::move(line);
  }
  bool has_fault() const { return !fault_.empty(); }

 private:
  friend class Agreement;
  struct Fact {
    const char* what;
    std::string of;
    long long checksum;
  };
  std::vector<Fact> facts_;
  std::vector<long long> values_;
  std::string fault_;
};

/// Whatever gives no error code throws Error where a message fails.
class Agreement {
 public:
  Agreement(Rank rank, Rank ranks, Transport& transport) : rank_(rank), ranks_(ranks), transport_(transport) {}

  struct Result {
    bool good = false;
    std::string fault;      // what this rank should say; empty on all ranks but one
    std::string different;  // the fact that ranks do not have in common, on all of them; empty: a rank has a fault
    std::optional<Rank> missing;  // meet(): one that does not take part
    std::vector<long long> smallest;

    long long value(std::size_t place) const { return smallest[place]; }
    long long largest(std::size_t place) const { return -smallest[place]; }
  };
  /// Collective, one all-reduce. Good when no rank has a fault and all have the same facts; otherwise the lowest rank
  /// with a fault, or rank 0, is to say what is wrong.
  Result agree(const Findings& findings) const { return agree(findings, transport_); }
  /// The same where ranks may not take part: nobody sends to such a rank or waits for it, and every other one learns
  /// that there is one (PresentTransport). The lowest rank that takes part is to say so.
  Result meet(const Findings& findings, const colltopo_callbacks& callbacks) const;

  /// The smallest value of all ranks.
  long long least(long long value) const;
  long long largest(long long value) const { return -least(-value); }
  /// The same in place; 0 or an error code.
  int least(long long* value) const { return reduce({value, 1}, transport_); }
  /// Every rank's value, of which this rank's is filled in; 0 or an error code.
  int gather(std::span<int> values) const;
  /// The same of blocks of bytes, equally long on all ranks, into one for each rank.
  void gather(std::span<const std::byte> own, std::span<std::byte> all) const;
  /// [rank] a number for each rank becomes that rank's number for this one.
  void exchange(std::span<long long> numbers) const;
  /// gather() of lists of any lengths; nothing where lists have more than `most` numbers.
  std::optional<std::vector<std::vector<int>>> gather_lists(std::span<const int> own, std::size_t most) const;
  /// agree() on a fault alone.
  bool all_good(std::string* fault) const;
  /// The sums of all ranks' numbers.
  void add_up(std::span<long long> values) const;
  /// Messages of a number that says nothing. The root goes on when all ranks have come to this, the others at once.
  void wait_at_root(Rank root) const;
  /// The root goes on at once, the others when it has come to this.
  void wait_for_root(Rank root) const;
  /// Rank 0's text, on every rank.
  std::string text_of_rank_0(const std::string& text) const;
  /// The same where all know that it has `length` bytes.
  std::string text_of_rank_0(const std::string& text, std::size_t length) const;

 private:
  int reduce(std::span<long long> values, Transport& transport,
             int (*keep)(void*, const void*, void*, std::size_t) = keep_smaller) const;
  Result agree(const Findings& findings, Transport& transport) const;
  int gathered(std::span<const std::byte> own, std::span<std::byte> all) const;

  Rank rank_, ranks_;
  Transport& transport_;
};

}  // namespace colltopo
