// Plans, and what they are bound to, for all communicators of the process: what a communicator has made the next one of
// the same shape finds.
#pragma once

#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <unordered_map>

#include "colltopo/algorithms.h"
#include "colltopo/execution.h"
#include "comm/schedule_files.h"

namespace colltopo {

/// A program of this rank, by what it is made from.
struct PlanKey {
  const Algorithm* algorithm = nullptr;       // null: of `file`
  std::shared_ptr<const LoadedProgram> file;  // null: of `algorithm`
  AlgorithmOptions options = {};
  Collective collective = Collective::alltoall;
  Rank rank = 0, ranks = 1, root = 0;
  bool in_place = false;

  friend bool operator==(const PlanKey&, const PlanKey&) = default;
};
struct PlanKeyHash {
  std::size_t operator()(const PlanKey& key) const noexcept;
};

/// The plans of one program and the last few sizes that they were bound to. Thread-safe.
class SharedPlan {
 public:
  SharedPlan(std::shared_ptr<const Program> program, bool in_place, bool in_order)
      : plans_(std::move(program), in_place, in_order) {}

  std::shared_ptr<const Bound> bind(const Binding& binding);
  const Program& program() const { return plans_.program(); }
  /// No message of the program waits for another.
  bool is_independent();
  std::size_t memory_bytes() const;

  static constexpr std::size_t k_most_bounds = 8;

 private:
  mutable std::mutex mutex_;
  Plans plans_;
  std::list<std::shared_ptr<const Bound>> bounds_;  // last used first
};

class PlanCache {
 public:
  using Make = std::function<std::shared_ptr<SharedPlan>()>;

  static PlanCache& of_process();
  /// The plan of a key; made when there is none. Those used longest ago go when there are too many.
  std::shared_ptr<SharedPlan> plan(const PlanKey& key, const Make& make);

  static constexpr std::size_t k_most_plans = 512;
  static constexpr std::size_t k_most_bytes = std::size_t{64} << 20;

 private:
  struct Entry {
    std::shared_ptr<SharedPlan> plan;
    std::list<const PlanKey*>::iterator use;
  };
  void make_room();
  void forget_oldest();

  static constexpr std::size_t k_many_ops = 16384;

  std::mutex mutex_;
  std::size_t new_plans_ = 0, new_ops_ = 0;  // since memory was added up
  std::unordered_map<PlanKey, Entry, PlanKeyHash> entries_;
  std::list<const PlanKey*> uses_;  // last used first
};

}  // namespace colltopo
