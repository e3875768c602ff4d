// One rank of a communicator of which nothing else exists: it lends the C API messages that no other rank sends. What
// is measured with it is the core's own work.
//
// A message completes at once, or one per turn of progress. Its bytes are not moved, with one exception: ranks that
// agree say the same, so a short receive into the core's own memory gets what this rank itself sent last in a message
// of that length. Buffers of the user are neither read nor written.
#pragma once

#include <array>
#include <cstddef>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "colltopo/colltopo.h"
#include "lazy_buffer.h"

namespace colltopo::bench {

enum class Completion { at_once, one_per_turn };

class MadeUpRank {
 public:
  struct Place {
    int rank = 0;
    int ranks = 1;
    int ranks_per_node = 1;  // ranks are on nodes one after the other
  };
  /// What the callbacks were called for since the last forget_counts().
  struct Counts {
    std::size_t sends = 0, receives = 0, tests = 0, turns = 0;
  };

  explicit MadeUpRank(const Place& place);

  /// They point to this object, which must outlive communicators made of them.
  colltopo_callbacks callbacks();

  /// From now on messages complete so; none may be under way.
  void complete(Completion how) { completion_ = how; }
  /// What receives are for and sends come from; nullptr: nobody's.
  void lend(const LazyBuffer* input, const LazyBuffer* output) { lent_ = {input, output}; }
  /// Whether receives into the core's own memory write it, a byte per page, so that it is as resident as it would be.
  void write_received(bool write) { write_received_ = write; }

  const Counts& counts() const { return counts_; }
  void forget_counts() { counts_ = {}; }
  /// The last warning of the core; empty: none.
  const std::string& warning() const { return warning_; }

 private:
  struct Message {           // under way
    void* target = nullptr;  // of a receive
    std::size_t bytes = 0;
    bool done = false;
    int looks = 0;
  };
  static constexpr std::size_t k_longest_said = 4096;  // bytes
  static constexpr std::size_t k_lengths = 64;
  struct Said {
    std::size_t bytes = 0;
    std::array<std::byte, k_longest_said> text{};
  };

  bool is_lent(const void* address) const;
  Said& said(std::size_t bytes) { return (*said_)[bytes % k_lengths]; }
  void hear(void* target, std::size_t bytes);
  void* under_way(void* target, std::size_t bytes);
  int send(const void* data, std::size_t bytes, void** request);
  int recv(void* data, std::size_t bytes, void** request);
  int test(void** request);
  void progress();

  Place place_;
  Completion completion_ = Completion::at_once;
  std::array<const LazyBuffer*, 2> lent_{};
  bool write_received_ = false;
  Counts counts_;
  std::string warning_;
  std::unique_ptr<std::array<Said, k_lengths>>
      said_;  // the last short message of each length; lengths may push others out
  std::deque<Message> messages_;
  std::vector<Message*> free_;
  std::deque<Message*> waiting_;
};

}  // namespace colltopo::bench
