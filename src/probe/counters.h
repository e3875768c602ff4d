// What MPI_T says about this process: the performance variables and parameters of coll/topo. Benchmarks and the probe
// use it to report what really ran instead of what was asked for.
#pragma once

#include <mpi.h>

#include <map>
#include <string>
#include <string_view>

namespace colltopo {

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

/// Whether MPI knows a parameter (an MCA variable) of this name.
bool has_parameter(const std::string& name);
/// A parameter's text; "" where there is none.
std::string parameter_text(const std::string& name);

}  // namespace colltopo
