// Shares that follow the traffic: of blocks whose sizes only their two ends know, each rank adds up what it sends;
// every so many calls rank 0 gets the sums, plans for them beside the calls that go on, and all ranks take the answer
// at the same call (docs/decisions/0025-shares-that-follow-the-traffic.md).
#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "colltopo/colltopo.h"
#include "comm/agreement.h"
#include "comm/schedule_files.h"
#include "comm/share_planner.h"
#include "transport/callbacks.h"

namespace colltopo {

class Replanner {
 public:
  /// `original`: what serves the calls at first, of all ranks the same. `planner`: on rank 0, else null.
  Replanner(Rank rank, Rank ranks, int every, std::shared_ptr<const LoadedProgram> original,
            std::unique_ptr<SharePlanner> planner, const colltopo_callbacks& callbacks, const Agreement& agreement);
  /// Ends a plan that is being made.
  ~Replanner();
  Replanner(const Replanner&) = delete;
  Replanner& operator=(const Replanner&) = delete;

  /// Whether this is what served the calls at first.
  bool is_of(const LoadedProgram* file) const { return file == original_.get(); }
  const std::shared_ptr<const LoadedProgram>& in_force() const { return in_force_; }
  /// How often shares were replaced.
  int taken() const { return taken_; }
  /// After a served call. True: the ranks are to meet now.
  bool counts(const colltopo_call& call);

  /// What came of a meeting.
  struct Outcome {
    bool is_new = false;  // in_force() is another
    int level = 1;        // of what to say, if anything
    std::string line;
  };
  /// Collective. Waits for no plan and for no message that is on its way: what is not there is taken a meeting later.
  Outcome meet(Collective collective);

 private:
  enum class Stage : std::uint8_t { counting, gathering, planning, ended };

  void send_sums();
  bool have_come();
  void begin_plan();
  std::string answer();
  Outcome take(const std::string& answer);
  Outcome took(const std::string& answer);

  Rank rank_;
  int every_, left_;
  std::shared_ptr<const LoadedProgram> original_, in_force_;
  std::unique_ptr<SharePlanner> planner_;
  CallbackTransport transport_;
  const Agreement& agreement_;
  Stage stage_ = Stage::counting;
  std::vector<std::uint64_t> sums_;  // [rank] bytes sent there since the last meeting that gathered
  std::unique_ptr<std::vector<std::uint64_t>> under_way_;  // a row of each rank on rank 0, else the own
  std::vector<Transport::Request> requests_;
  long long calls_ = 0, calls_under_way_ = 0;  // that the sums are of
  int taken_ = 0;                              // plans

  // Rank 0's, of the plan that is being made.
  std::atomic<bool> ends_ = false, is_made_ = false;
  SharePlan made_;
  std::string fault_;
  std::vector<std::uint64_t> planned_for_;
  std::thread thread_;
};

}  // namespace colltopo
