/* A program against the installed C API: a communicator of one rank, whose messages never leave it. */
#include <colltopo/colltopo.h>
#include <string.h>

int main(void) {
  colltopo_callbacks callbacks;
  colltopo_comm* comm;
  colltopo_call call;
  double input[3] = {1, 2, 3}, output[3] = {0, 0, 0};

  memset(&callbacks, 0, sizeof(callbacks));
  comm = colltopo_comm_create(0, 1, &callbacks);
  if (comm == NULL || colltopo_comm_set(comm, "alltoall_algorithm", "linear") != COLLTOPO_SUCCESS) {
    return 1;
  }
  memset(&call, 0, sizeof(call));
  call.input = input;
  call.output = output;
  call.count = 3;
  call.element_size = sizeof(double);
  if (colltopo_alltoall(comm, &call) != COLLTOPO_SUCCESS || memcmp(input, output, sizeof(input)) != 0) {
    return 2;
  }
  colltopo_comm_free(comm);
  return 0;
}
