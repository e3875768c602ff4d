// Lanes that may still hold messages of operations that are over: what was sent can need this process once more to get
// to its peer, and the user has no request any more that would make it look.
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "transport/lane_calls.h"

namespace colltopo {

class LaneTransport;

/// Of the process; any thread may call anything.
class Lingering {
 public:
  /// From now on move() sees to it that what these lanes have been given goes out.
  void add(LaneTransport& lanes) noexcept;
  void remove(LaneTransport& lanes) noexcept;
  /// Moves all of them on, and lets those go that owe nothing. Never waits.
  void move() noexcept;
  /// 0: there are none. Good for ever.
  const int* number() const noexcept { return &number_; }

  /// How many operations are under way on a set of lanes, of whatever communicator: UCX knows only when all that a lane
  /// was given is out.
  std::shared_ptr<std::atomic<int>> operations_on(const LaneSet* set);

 private:
  std::mutex mutex_;
  std::map<const LaneSet*, std::weak_ptr<std::atomic<int>>> operations_;
  std::vector<LaneTransport*> all_;
  int number_ = 0;  // atomic; C reads it
};

Lingering& lingering();

}  // namespace colltopo
