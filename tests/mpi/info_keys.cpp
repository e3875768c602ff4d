// Every setting of a communicator can be given as an info key: MPI takes the key, and no two settings share one.
#include <set>

#include "mpi_test.h"

namespace mpi_test {
namespace {

// As docs/open-mpi.md says: what is too long for MPI goes without its last words.
std::string info_key(std::string key) {
  while (key.size() >= MPI_MAX_INFO_KEY) key.resize(key.rfind('_'));
  return key;
}

std::vector<std::string> variables() {
  std::vector<std::string> names;
  int number = 0;
  MPI_T_cvar_get_num(&number);
  for (int i = 0; i < number; ++i) {
    char name[256];
    int length = sizeof name, none = 0, verbosity = 0, binding = 0, scope = 0;
    MPI_Datatype type = MPI_DATATYPE_NULL;
    MPI_T_enum values = MPI_T_ENUM_NULL;
    MPI_T_cvar_get_info(i, name, &length, &verbosity, &type, &values, nullptr, &none, &binding, &scope);
    if (std::string(name).rfind("coll_topo_", 0) == 0) names.emplace_back(name);
  }
  return names;
}

void takes_every_key() {
  std::set<std::string> keys;
  MPI_Info info = MPI_INFO_NULL;
  MPI_Info_create(&info);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  bool has_long = false;
  for (const std::string& name : variables()) {
    const std::string key = info_key(name);
    has_long = has_long || key != name;
    expect(MPI_Info_set(info, key.c_str(), "auto") == MPI_SUCCESS, "MPI to take the key %s", key.c_str());
    expect(keys.insert(key).second, "one setting with the key %s", key.c_str());
  }
  expect(has_long, "a name that is too long, as coll_topo_reduce_scatter_intra_radix");
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
  MPI_Info_free(&info);
}

// A radix of two is served, one of a million million is refused, and with it the collective.
void heeds_short_keys() {
  for (const std::string key : {"reduce_scatter_intra", "reduce_scatter_inter"}) {
    for (const std::string radix : {"2", "1000000000000"}) {
      MPI_Comm comm = with_settings(MPI_COMM_WORLD, {"reduce_scatter_algorithm", "two-level", key, radix});
      const Counter served("coll_topo_calls");
      std::vector<int> mine(static_cast<std::size_t>(ranks_of(comm)), 1);
      int sum = 0;
      MPI_Reduce_scatter_block(mine.data(), &sum, 1, MPI_INT, MPI_SUM, comm);
      expect(sum == ranks_of(comm), "a sum of %d, not %d", ranks_of(comm), sum);
      expect(served.since_made() == (radix == "2" ? 1u : 0u), "%s=%s heeded, not %llu calls served", key.c_str(),
             radix.c_str(), served.since_made());
      MPI_Comm_free(&comm);
    }
  }
}

}  // namespace
}  // namespace mpi_test

int main(int argc, char** argv) {
  mpi_test::Job job(&argc, &argv);
  mpi_test::takes_every_key();
  mpi_test::heeds_short_keys();
  return job.verdict();
}
