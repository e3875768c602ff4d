// What mpirun leaves in the environment.
#include "cli/launch.h"

#include <cstdlib>

namespace colltopo::cli {

Launch launch() {
  const auto number = [](const char* name, int otherwise) {
    const char* const text = std::getenv(name);
    return text == nullptr ? otherwise : std::atoi(text);
  };
  if (std::getenv("OMPI_COMM_WORLD_RANK") != nullptr)
    return {number("OMPI_COMM_WORLD_RANK", 0), number("OMPI_COMM_WORLD_SIZE", 1),
            number("OMPI_COMM_WORLD_LOCAL_SIZE", 1), false};
  return {number("PMI_RANK", 0), number("PMI_SIZE", 1), number("MPI_LOCALNRANKS", 1), true};
}

}  // namespace colltopo::cli
