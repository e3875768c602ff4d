#include "probe/counters.h"

#include <array>
#include <vector>

namespace colltopo {

namespace {

constexpr std::string_view k_prefix = "coll_topo_";

struct Variable {
  std::string name;
  int variable_class = 0;
  MPI_Datatype type = MPI_DATATYPE_NULL;
  int bound_to = MPI_T_BIND_NO_OBJECT;
};

Variable variable_at(int index) {
  std::array<char, 256> name{};
  int name_length = static_cast<int>(name.size());
  int description_length = 0;
  int verbosity = 0;
  int readonly = 0;
  int continuous = 0;
  int atomic = 0;
  MPI_T_enum enumeration = MPI_T_ENUM_NULL;
  Variable variable;
  const int status = MPI_T_pvar_get_info(index, name.data(), &name_length, &verbosity, &variable.variable_class,
                                         &variable.type, &enumeration, nullptr, &description_length, &variable.bound_to,
                                         &readonly, &continuous, &atomic);
  // Variables of components that are closed again stay in the list without their description.
  if (status == MPI_SUCCESS) variable.name = name.data();
  return variable;
}

int variables() {
  int count = 0;
  return MPI_T_pvar_get_num(&count) == MPI_SUCCESS ? count : 0;
}

void open_tools() {
  int provided = 0;
  MPI_T_init_thread(MPI_THREAD_SINGLE, &provided);
}

}  // namespace

Counters::Counters() {
  open_tools();
  MPI_T_pvar_session_create(&session_);
  for (int index = 0; index < variables(); ++index) {
    const Variable variable = variable_at(index);
    if (!variable.name.starts_with(k_prefix) || variable.bound_to != MPI_T_BIND_NO_OBJECT ||
        variable.type != MPI_UNSIGNED_LONG_LONG)
      continue;
    MPI_T_pvar_handle handle = MPI_T_PVAR_HANDLE_NULL;
    int count = 0;
    if (MPI_T_pvar_handle_alloc(session_, index, nullptr, &handle, &count) != MPI_SUCCESS) continue;
    if (count == 1) handles_.emplace(variable.name.substr(k_prefix.size()), handle);
  }
}

Counters::~Counters() {
  for (auto& [name, handle] : handles_) MPI_T_pvar_handle_free(session_, &handle);
  MPI_T_pvar_session_free(&session_);
  MPI_T_finalize();
}

unsigned long long Counters::value(std::string_view name) const {
  const auto found = handles_.find(name);
  unsigned long long value = 0;
  if (found != handles_.end()) MPI_T_pvar_read(session_, found->second, &value);
  return value;
}

std::map<std::string, unsigned long long> Counters::values() const {
  std::map<std::string, unsigned long long> all;
  for (const auto& [name, handle] : handles_) all[name] = value(name);
  return all;
}

bool has_parameter(const std::string& name) {
  int index = 0;
  open_tools();
  const bool known = MPI_T_cvar_get_index(name.c_str(), &index) == MPI_SUCCESS;
  MPI_T_finalize();
  return known;
}

std::string parameter_text(const std::string& name) {
  open_tools();
  std::string text;
  int index = 0, count = 0;
  MPI_T_cvar_handle handle = MPI_T_CVAR_HANDLE_NULL;
  if (MPI_T_cvar_get_index(name.c_str(), &index) == MPI_SUCCESS &&
      MPI_T_cvar_handle_alloc(index, nullptr, &handle, &count) == MPI_SUCCESS) {
    std::vector<char> buffer(static_cast<std::size_t>(count) + 1);
    if (MPI_T_cvar_read(handle, buffer.data()) == MPI_SUCCESS) text = buffer.data();
    MPI_T_cvar_handle_free(&handle);
  }
  MPI_T_finalize();
  return text;
}

}  // namespace colltopo
