// What `colltopo doctor` finds: of Open MPI and the component in it, and of what a job would be told.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

namespace colltopo::cli {

struct Finding {
  std::string about;   // "open mpi", "component", "topology", ...
  std::string fact;    // one line
  std::string remedy;  // what to do; empty: nothing is wrong
};

class Findings {
 public:
  void good(std::string about, std::string fact) { all_.push_back({std::move(about), std::move(fact), ""}); }
  void fault(std::string about, std::string fact, std::string remedy) {
    all_.push_back({std::move(about), std::move(fact), std::move(remedy)});
  }
  const std::vector<Finding>& all() const { return all_; }

 private:
  std::vector<Finding> all_;
};

/// What Open MPI says of itself, by ompi_info.
struct OpenMpi {
  std::string program;                                   // path of ompi_info; empty: there is none in PATH
  std::string version;                                   // "4.1.4"
  std::string component_folder;                          // its own components
  std::map<std::string, std::string> parameters;         // [name] value, from files, the environment and defaults
  std::map<std::string, std::string> coll;               // [component of coll that loads] release it was built for
  std::string job_path;                                  // what mpirun tells its processes to look for components in;
                                                         // empty: nothing, or it does not run
  std::vector<std::string> complaints;                   // lines about components that do not load
  std::string parameter(const std::string& name) const;  // "" when there is none
};

/// Asks the Open MPI in PATH.
OpenMpi open_mpi_here();

/// Open MPI's version, the component's file, whether it loads and is selected, who else is in coll, device builds, what
/// is preloaded. Each fault with its remedy.
void examine_open_mpi(const OpenMpi& open_mpi, Findings& findings);

/// What a job is told: settings by name ("topology"), without those that are as by default.
using JobSettings = std::map<std::string, std::string>;

struct Job {
  JobSettings settings;
  std::vector<std::string> hosts;  // of the allocation, in order, each once; empty: not known
  int ranks = 0;                   // 0: one on each host, or on each of the topology's
};

/// Those that Open MPI would give the component, or, where it does not load, those in the environment.
JobSettings settings_of_job(const OpenMpi& open_mpi);
/// Names in "n[1-3,07],m" as Slurm writes lists; throws Error when it is not one.
std::vector<std::string> expanded_host_list(const std::string& list);
/// Of Slurm, PBS or LSF; empty outside of an allocation.
std::vector<std::string> hosts_of_allocation();

/// Settings that are refused or unknown, the topology and whether it is these hosts', schedules for this allocation,
/// rules, transport and lanes, limits of the process.
void examine_job(const Job& job, Findings& findings);

}  // namespace colltopo::cli
