// How many calls of each kind a run made, and who served them: by coll/topo's MPI_T variables in a job with the
// component, by the shim's own count in one with the shim.
#pragma once

#include <map>
#include <string>

#include "operation.h"

namespace conformance {

class Counts {
 public:
  Counts();
  ~Counts();
  Counts(const Counts&) = delete;
  Counts& operator=(const Counts&) = delete;

  void made(const Operation& operation) { ++made_[row_of(operation.kind).name][name_of(operation.form)]; }
  /// Calls that coll/topo is known to have served (left) since the last time; 0 without the component.
  struct Known {
    unsigned long long served = 0, left = 0;
  };
  Known since_last();
  /// Of one call that had nothing beside it.
  void add(const Operation& operation, const Known& known);
  /// Of several calls under way together.
  void add_several(const Known& known);
  /// One JSON object in one line.
  std::string json(const std::string& head) const;

 private:
  unsigned long long read(MPI_T_pvar_handle handle) const;

  MPI_T_pvar_session session_ = MPI_T_PVAR_SESSION_NULL;
  MPI_T_pvar_handle served_ = MPI_T_PVAR_HANDLE_NULL, left_ = MPI_T_PVAR_HANDLE_NULL;
  Known last_, several_;
  std::map<std::string, std::map<std::string, unsigned long long>> made_;
  std::map<std::string, std::map<std::string, Known>> known_;
};

}  // namespace conformance
