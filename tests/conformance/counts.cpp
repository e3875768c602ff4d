// Reading the counters of the component and of the shim.
#include "counts.h"

#include <dlfcn.h>

namespace conformance {

namespace {

MPI_T_pvar_handle counter(MPI_T_pvar_session session, const char* name) {
  MPI_T_pvar_handle handle = MPI_T_PVAR_HANDLE_NULL;
  int index = -1, count = 0;
  if (MPI_T_pvar_get_index(name, MPI_T_PVAR_CLASS_COUNTER, &index) == MPI_SUCCESS) {
    MPI_T_pvar_handle_alloc(session, index, nullptr, &handle, &count);
  }
  return handle;
}

/// Calls that the shim served, of a collective by its number in colltopo.h; -1 without the shim.
long long served_by_shim(int collective) {
  using Calls = unsigned long long (*)(int);
  const auto calls = reinterpret_cast<Calls>(dlsym(RTLD_DEFAULT, "colltopo_shim_calls"));
  return calls != nullptr ? static_cast<long long>(calls(collective)) : -1;
}

// In the order of their numbers.
const char* const k_collectives[] = {"alltoall", "allgather", "reduce_scatter", "allreduce",  "bcast",
                                     "reduce",   "gather",    "scatter",        "allgatherv", "gatherv",
                                     "scatterv", "alltoallv", "alltoallw"};

}  // namespace

Counts::Counts() {
  MPI_T_pvar_session_create(&session_);
  served_ = counter(session_, "coll_topo_calls");
  left_ = counter(session_, "coll_topo_fallbacks");
}

Counts::~Counts() {
  for (MPI_T_pvar_handle* handle : {&served_, &left_})
    if (*handle != MPI_T_PVAR_HANDLE_NULL) MPI_T_pvar_handle_free(session_, handle);
  MPI_T_pvar_session_free(&session_);
}

unsigned long long Counts::read(MPI_T_pvar_handle handle) const {
  unsigned long long value = 0;
  if (handle != MPI_T_PVAR_HANDLE_NULL) MPI_T_pvar_read(session_, handle, &value);
  return value;
}

Counts::Known Counts::since_last() {
  const Known now{read(served_), read(left_)};
  const Known since{now.served - last_.served, now.left - last_.left};
  last_ = now;
  return since;
}

void Counts::add(const Operation& operation, const Known& known) {
  Known& all = known_[row_of(operation.kind).name][name_of(operation.form)];
  all.served += known.served;
  all.left += known.left;
}

void Counts::add_several(const Known& known) {
  several_.served += known.served;
  several_.left += known.left;
}

std::string Counts::json(const std::string& head) const {
  std::string text = "{" + head + ", \"calls\": {";
  const char* between = "";
  for (const auto& [kind, forms] : made_) {
    text += between + ("\"" + kind + "\": {");
    between = "";
    for (const auto& [form, calls] : forms) {
      text += between + ("\"" + form + "\": " + std::to_string(calls));
      between = ", ";
    }
    text += "}";
  }
  text += "}, \"component\": " + std::string(served_ != MPI_T_PVAR_HANDLE_NULL ? "true" : "false") + ", \"alone\": {";
  between = "";
  for (const auto& [kind, forms] : known_) {
    text += between + ("\"" + kind + "\": {");
    between = "";
    for (const auto& [form, known] : forms) {
      text +=
          between + ("\"" + form + "\": [" + std::to_string(known.served) + ", " + std::to_string(known.left) + "]");
      between = ", ";
    }
    text += "}";
  }
  text +=
      "}, \"together\": [" + std::to_string(several_.served) + ", " + std::to_string(several_.left) + "], \"shim\": {";
  between = "";
  for (int i = 0; served_by_shim(-1) >= 0 && i < static_cast<int>(std::size(k_collectives)); ++i) {
    text += between + ("\"" + std::string(k_collectives[i]) + "\": " + std::to_string(served_by_shim(i)));
    between = ", ";
  }
  return text + "}}";
}

}  // namespace conformance
