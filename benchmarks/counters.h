// What MPI_T says about this process: the performance variables of coll/topo, and the messages to each peer that Open
// MPI's pml/monitoring saw. Both programs use it to report what really ran instead of what was asked for.
#pragma once

#include <mpi.h>

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace colltopo::bench {

/// The counters `coll_topo_*` of this process. Make it after MPI_Init and let it go before MPI_Finalize: Open MPI 4.1
/// crashes when its tools interface is closed last.
class Counters {
 public:
  Counters();
  ~Counters();
  Counters(const Counters&) = delete;
  Counters& operator=(const Counters&) = delete;

  /// Whether the component has been loaded.
  bool any() const { return !handles_.empty(); }
  /// Value now, by the name without `coll_topo_`; 0 when there is no such counter.
  unsigned long long value(std::string_view name) const;
  /// Every counter by its name without `coll_topo_`.
  std::map<std::string, unsigned long long> values() const;

 private:
  MPI_T_pvar_session session_ = MPI_T_PVAR_SESSION_NULL;
  std::map<std::string, MPI_T_pvar_handle, std::less<>> handles_;
};

/// Messages and bytes sent to each rank of MPI_COMM_WORLD, by whatever layer above the point-to-point one. Needs
/// `--mca pml_monitoring_enable 1`; any() is false without.
class PeerTraffic {
 public:
  PeerTraffic();
  ~PeerTraffic();
  PeerTraffic(const PeerTraffic&) = delete;
  PeerTraffic& operator=(const PeerTraffic&) = delete;

  bool any() const { return messages_ != MPI_T_PVAR_HANDLE_NULL && bytes_ != MPI_T_PVAR_HANDLE_NULL; }
  std::vector<unsigned long long> messages() const;  // [peer], since the job began
  std::vector<unsigned long long> bytes() const;

 private:
  MPI_T_pvar_session session_ = MPI_T_PVAR_SESSION_NULL;
  MPI_T_pvar_handle messages_ = MPI_T_PVAR_HANDLE_NULL;
  MPI_T_pvar_handle bytes_ = MPI_T_PVAR_HANDLE_NULL;
  int ranks_ = 0;
};

/// Whether MPI knows a parameter (an MCA variable) of this name.
bool has_parameter(const std::string& name);

}  // namespace colltopo::bench
