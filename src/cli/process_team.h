// The processes of an mpirun as a team, over a library that is opened only then: the command itself links no MPI.
#pragma once

#include <memory>
#include <string>

#include "cli/launch.h"
#include "colltopo/team.h"

struct colltopo_team_calls;

namespace colltopo::cli {

class ProcessTeam final : public Team {
 public:
  /// Collective over all processes of the launch. nullptr when they cannot work together; `obstacle` then says why.
  static std::unique_ptr<ProcessTeam> join(const Launch& launch, std::string& obstacle);

  int rank() const override { return rank_; }
  int ranks() const override { return ranks_; }
  void sum(std::span<double> values) override;
  std::vector<std::vector<std::byte>> gather(std::span<const std::byte> bytes) override;
  /// Once; later calls do nothing.
  void leave() override;

  /// The lowest rank for which it is true; -1: none. Collective.
  int first_of(bool mine);
  /// Says why on standard error and ends all processes with exit status 2.
  [[noreturn]] void abort(const std::string& why);

 private:
  ProcessTeam(const colltopo_team_calls& calls, int rank, int ranks) : calls_(calls), rank_(rank), ranks_(ranks) {}

  const colltopo_team_calls& calls_;
  int rank_;
  int ranks_;
  bool left_ = false;
};

/// Threads for a process where nobody says: its part of the machine's cores, or those that it is bound to.
int threads_of(const Launch& launch);

}  // namespace colltopo::cli
