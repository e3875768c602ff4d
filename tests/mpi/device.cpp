// Buffers on a device. A PROT_NONE range is called device memory, and becomes readable only inside the copies that the
// component is lent: a stray memcpy of the host is a SIGSEGV. `device mixed`: every second rank has its data there;
// `device host`: none; `device everywhere`: all, for which the range stays open, since stock Open MPI takes it as it
// is.
#include <sys/mman.h>

#include <cstring>

#include "calls.h"
#include "layout.h"

namespace {

using namespace mpi_test;

constexpr std::size_t k_bytes = 1 << 20;
char* range = nullptr;
std::size_t used = 0;
bool is_open = false;
int copies = 0;

bool holds(const void* address) {
  const auto* const at = static_cast<const char*>(address);
  return range != nullptr && at >= range && at < range + k_bytes;
}

void copy(void* to, const void* from, std::size_t bytes) {
  ++copies;
  if (!is_open) mprotect(range, k_bytes, PROT_READ | PROT_WRITE);
  std::memcpy(to, from, bytes);
  if (!is_open) mprotect(range, k_bytes, PROT_NONE);
}

// Ints on the device or the host, which a rank reads and writes through the copies alone.
class Ints {
 public:
  Ints(std::size_t ints, bool on_device) : host_(ints, -1) {
    if (!on_device) return;
    device_ = reinterpret_cast<int*>(range + used);
    used += (ints * sizeof(int) + 63) / 64 * 64;
    write();
  }
  int* address() { return device_ == nullptr ? host_.data() : device_; }
  std::vector<int>& values() { return host_; }
  void write() {
    if (device_ != nullptr) copy(device_, host_.data(), host_.size() * sizeof(int));
  }
  void read() {
    if (device_ != nullptr) copy(host_.data(), device_, host_.size() * sizeof(int));
  }

 private:
  std::vector<int> host_;
  int* device_ = nullptr;
};

struct Ways {
  bool input, output;  // on the device
};

constexpr std::size_t k_block = 6;

int sum_of(int ranks, std::size_t i) {
  int sum = 0;
  for (int from = 0; from < ranks; ++from) sum += value(from, 0, i);
  return sum;
}

void check(const char* what, Ints& ints, std::size_t number, const std::function<int(std::size_t)>& wanted) {
  ints.read();
  for (std::size_t i = 0; i < ints.values().size(); ++i) {
    const int is = ints.values()[i], should = i < number ? wanted(i) : -1;
    expect(is == should, "%d from %s at %zu, not %d", should, what, i, is);
  }
}

void fill(Ints& ints, std::size_t number, const std::function<int(std::size_t)>& with) {
  for (std::size_t i = 0; i < number; ++i) ints.values()[i] = with(i);
  ints.write();
}

void moves(MPI_Comm comm, Ways on_device) {
  const int rank = rank_in(comm), ranks = ranks_of(comm);
  const std::size_t all = k_block * static_cast<std::size_t>(ranks);
  const auto sent = [&](std::size_t i) { return value(rank, static_cast<int>(i / k_block), i % k_block); };
  const auto received = [&](std::size_t i) { return value(static_cast<int>(i / k_block), rank, i % k_block); };
  const auto gathered = [&](std::size_t i) { return value(static_cast<int>(i / k_block), 0, i % k_block); };
  Ints in(all, on_device.input), out(all + 3, on_device.output), both(all + 3, on_device.output);
  fill(in, all, sent);
  MPI_Alltoall(in.address(), k_block, MPI_INT, out.address(), k_block, MPI_INT, comm);
  check("alltoall", out, all, received);
  fill(both, all, sent);
  MPI_Alltoall(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, both.address(), k_block, MPI_INT, comm);
  check("alltoall in place", both, all, received);

  Ints own(k_block, on_device.input), gather(all + 3, on_device.output), in_place(all + 3, on_device.output);
  fill(own, k_block, [&](std::size_t i) { return value(rank, 0, i); });
  MPI_Allgather(own.address(), k_block, MPI_INT, gather.address(), k_block, MPI_INT, comm);
  check("allgather", gather, all, gathered);
  for (std::size_t i = 0; i < k_block; ++i)
    in_place.values()[static_cast<std::size_t>(rank) * k_block + i] = value(rank, 0, i);
  in_place.write();
  MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, in_place.address(), k_block, MPI_INT, comm);
  check("allgather in place", in_place, all, gathered);

  for (int root = 0; root < ranks; ++root) {
    Ints data(k_block + 3, on_device.output);
    if (rank == root) fill(data, k_block, [&](std::size_t i) { return value(root, 1, i); });
    MPI_Bcast(data.address(), k_block, MPI_INT, root, comm);
    check("bcast", data, k_block, [&](std::size_t i) { return value(root, 1, i); });
  }
}

// Every second int: what lies between comes back as it was.
void spread(MPI_Comm comm, Ways on_device) {
  const int rank = rank_in(comm), ranks = ranks_of(comm);
  const std::size_t all = k_block * static_cast<std::size_t>(ranks);
  MPI_Datatype every_second = MPI_DATATYPE_NULL;
  MPI_Type_create_resized(MPI_INT, 0, 2 * static_cast<MPI_Aint>(sizeof(int)), &every_second);
  MPI_Type_commit(&every_second);
  Ints in(2 * all, on_device.input), out(2 * all, on_device.output);
  fill(in, 2 * all, [&](std::size_t i) { return i % 2 == 0 ? value(rank, static_cast<int>(i / 2 / k_block), i) : -2; });
  MPI_Alltoall(in.address(), k_block, every_second, out.address(), k_block, every_second, comm);
  check("alltoall of every second int", out, 2 * all, [&](std::size_t i) {
    const std::size_t from = i / 2 / k_block, place = static_cast<std::size_t>(rank) * 2 * k_block + i % (2 * k_block);
    return i % 2 == 0 ? value(static_cast<int>(from), rank, place) : -1;
  });
  MPI_Type_free(&every_second);
}

void reductions(MPI_Comm comm, Ways on_device) {
  const int rank = rank_in(comm), ranks = ranks_of(comm), root = ranks - 1;
  const std::size_t all = k_block * static_cast<std::size_t>(ranks);
  const auto put_in = [&](std::size_t i) { return value(rank, 0, i); };
  const auto sum = [&](std::size_t i) { return sum_of(ranks, i); };
  const auto own_sum = [&](std::size_t i) { return sum_of(ranks, static_cast<std::size_t>(rank) * k_block + i); };
  const std::vector<int> counts(static_cast<std::size_t>(ranks), static_cast<int>(k_block));
  const int elements = static_cast<int>(all);
  Ints in(all, on_device.input), out(all + 3, on_device.output), both(all + 3, on_device.output);
  Ints at_root(all + 3, on_device.output), shard(k_block + 3, on_device.output), part(k_block + 3, on_device.output);
  fill(in, all, put_in);
  MPI_Allreduce(in.address(), out.address(), elements, MPI_INT, MPI_SUM, comm);
  check("allreduce", out, all, sum);
  fill(both, all, put_in);
  MPI_Allreduce(MPI_IN_PLACE, both.address(), elements, MPI_INT, MPI_SUM, comm);
  check("allreduce in place", both, all, sum);
  MPI_Reduce(in.address(), rank == root ? at_root.address() : nullptr, elements, MPI_INT, MPI_SUM, root, comm);
  check("reduce", at_root, rank == root ? all : 0, sum);
  MPI_Reduce_scatter_block(in.address(), shard.address(), k_block, MPI_INT, MPI_SUM, comm);
  check("reduce_scatter_block", shard, k_block, own_sum);
  MPI_Reduce_scatter(in.address(), part.address(), counts.data(), MPI_INT, MPI_SUM, comm);
  check("reduce_scatter", part, k_block, own_sum);
}

// The first calls of a communicator, so that its ranks agree in the calls' turns.
void requests(MPI_Comm comm, Ways on_device) {
  const int rank = rank_in(comm), ranks = ranks_of(comm);
  const std::size_t all = k_block * static_cast<std::size_t>(ranks);
  const auto sent = [&](std::size_t i) { return value(rank, static_cast<int>(i / k_block), i % k_block); };
  const auto received = [&](std::size_t i) { return value(static_cast<int>(i / k_block), rank, i % k_block); };
  Ints in(all, on_device.input), out(all + 3, on_device.output), again(all + 3, on_device.output);
  Ints vector(all, on_device.input), sums(all + 3, on_device.output);
  fill(in, all, sent);
  fill(vector, all, [&](std::size_t i) { return value(rank, 0, i); });
  MPI_Request pair[2], persistent = MPI_REQUEST_NULL;
  MPI_Ialltoall(in.address(), k_block, MPI_INT, out.address(), k_block, MPI_INT, comm, &pair[0]);
  MPI_Iallreduce(vector.address(), sums.address(), static_cast<int>(all), MPI_INT, MPI_SUM, comm, &pair[1]);
  MPI_Waitall(2, pair, MPI_STATUSES_IGNORE);
  check("ialltoall", out, all, received);
  check("iallreduce", sums, all, [&](std::size_t i) { return sum_of(ranks, i); });
  MPI_TEST_INIT(Alltoall)
  (in.address(), k_block, MPI_INT, again.address(), k_block, MPI_INT, comm, MPI_INFO_NULL, &persistent);
  for (int round = 0; round < 2; ++round) {
    fill(in, all, [&](std::size_t i) { return sent(i) + round; });
    MPI_Start(&persistent);
    MPI_Wait(&persistent, MPI_STATUS_IGNORE);
    check("persistent alltoall", again, all, [&](std::size_t i) { return received(i) + round; });
  }
  MPI_Request_free(&persistent);
}

}  // namespace

// What coll_topo_device.c looks for.
struct TestDevice {
  bool (*holds)(const void*);
  void (*copy)(void*, const void*, std::size_t);
};
extern "C" __attribute__((visibility("default"))) const TestDevice coll_topo_test_device;
const TestDevice coll_topo_test_device{holds, copy};

int main(int argc, char** argv) {
  mpi_test::Job job(&argc, &argv);
  const std::string ways = argc > 1 ? argv[1] : "mixed";
  const bool everywhere = ways == "everywhere", mixed = ways == "mixed";
  is_open = everywhere;
  range = static_cast<char*>(
      mmap(nullptr, k_bytes, everywhere ? PROT_READ | PROT_WRITE : PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  const bool here = everywhere || (mixed && job.rank % 2 == 0);
  const Counter served("coll_topo_calls"), left("coll_topo_fallbacks");
  for (const Ways way : {Ways{here, here}, Ways{here, false}, Ways{false, here}}) {
    if (everywhere && !(way.input && way.output)) continue;
    MPI_Comm comm = with_settings(MPI_COMM_WORLD, {"alltoall_algorithm", "tra:radix=2", "allgather_algorithm", "ring",
                                                   "bcast_algorithm", "binomial", "allreduce_algorithm", "ring",
                                                   "reduce_algorithm", "binomial", "reduce_scatter_algorithm", "ring"});
    const int before = copies;
    requests(comm, way);
    moves(comm, way);
    spread(comm, way);
    reductions(comm, way);
    if (!here) expect(copies == before, "no copies where nothing is on a device, not %d", copies - before);
    MPI_Comm_free(&comm);
    used = 0;
  }
  const auto blocking = static_cast<unsigned long long>(job.ranks) + 10;
  const auto wanted = everywhere ? 0 : 3 * (blocking + 4), wanted_left = everywhere ? blocking + 3 : 0;
  expect(served.since_made() == wanted, "%llu calls served, not %llu", wanted, served.since_made());
  expect(left.since_made() == wanted_left, "%llu calls left to the next component, not %llu", wanted_left,
         left.since_made());
  return job.verdict();
}
