// Every collective by the schedule files of folders: filed_collectives FOLDER... . A folder has COLLECTIVE.sched, and
// beside it COLLECTIVE.json, what `colltopo verify --json` says of it. Every element of every rank is compared, in one
// segment or few and in many, and that a file served all calls but those that its proof does not allow.
#include <fstream>
#include <numeric>
#include <sstream>

#include "affine.h"
#include "layout.h"

namespace {

using namespace mpi_test;

std::string contents(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

class Folder {
 public:
  explicit Folder(std::string path) : path_(std::move(path)) {}
  bool has(const std::string& collective) const { return !contents(proof(collective)).empty(); }
  bool proves(const std::string& collective, const std::string& property) const {
    return contents(proof(collective)).find('"' + property + "\": true") != std::string::npos;
  }
  std::vector<std::string> settings() const {
    std::vector<std::string> settings;
    for (const char* collective : {"allgather", "reduce_scatter", "allreduce", "bcast", "reduce"})
      if (has(collective))
        settings.insert(settings.end(),
                        {std::string(collective) + "_algorithm", "file:" + path_ + "/" + collective + ".sched"});
    return settings;
  }

 private:
  std::string proof(const std::string& collective) const { return path_ + "/" + collective + ".json"; }
  std::string path_;
};

struct Place {
  MPI_Comm comm;
  int rank, ranks, root;
  const Folder& folder;
  unsigned long long by_file = 0;  // calls that a file must have served
};

void moves(Place& place, const Layout& layout, std::size_t count) {
  const auto elements = static_cast<int>(count);
  const std::size_t shard = count * layout.places.size(), ints = shard * static_cast<std::size_t>(place.ranks);
  const auto gathered = [&](std::size_t i) { return value(static_cast<int>(i / shard), 2, i % shard); };
  Buffer out(layout, shard), in(layout, ints), both(layout, ints);
  out.fill(shard, [&](std::size_t i) { return value(place.rank, 2, i); });
  MPI_Allgather(out.address(), elements, layout.type, in.address(), elements, layout.type, place.comm);
  in.check("allgather", ints, gathered);
  const std::size_t own = shard * static_cast<std::size_t>(place.rank);
  for (std::size_t i = own; i < own + shard; ++i) both.at(i) = gathered(i);
  MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, both.address(), elements, layout.type, place.comm);
  both.check("allgather in place", ints, gathered);
  place.by_file += 2;
  if (!place.folder.has("bcast")) return;
  Buffer buffer(layout, shard);
  const auto sent = [&](std::size_t i) { return value(place.root, 1, i); };
  if (place.rank == place.root) buffer.fill(shard, sent);
  MPI_Bcast(buffer.address(), elements, layout.type, place.root, place.comm);
  buffer.check("bcast", shard, sent);
  ++place.by_file;
}

/// What ranks have put in, added up.
int sum(const Place& place, std::size_t i) {
  int total = 0;
  for (int from = 0; from < place.ranks; ++from) total += value(from, 3, i);
  return total;
}

// Shards of `count` elements; of others, or of none, where `unequal`.
void reduce_scatter(Place& place, const Layout& layout, MPI_Op op, std::size_t count, bool unequal, bool in_place) {
  std::vector<int> counts(static_cast<std::size_t>(place.ranks), static_cast<int>(count));
  for (int to = 0; to < place.ranks && unequal; ++to)
    counts[static_cast<std::size_t>(to)] = to % 3 == 1 ? 0 : static_cast<int>(count) + to;
  const auto ints_of = [&](auto end) {
    return static_cast<std::size_t>(std::accumulate(counts.begin(), end, 0)) * layout.places.size();
  };
  const std::size_t before = ints_of(counts.begin() + place.rank), all = ints_of(counts.end());
  const std::size_t own = ints_of(counts.begin() + place.rank + 1) - before;
  Buffer out(layout, all), in(layout, all);
  Buffer& source = in_place ? in : out;
  source.fill(all, [&](std::size_t i) { return value(place.rank, 3, i); });
  const void* const from = in_place ? MPI_IN_PLACE : out.address();
  if (unequal) {
    MPI_Reduce_scatter(from, in.address(), counts.data(), layout.type, op, place.comm);
  } else {
    MPI_Reduce_scatter_block(from, in.address(), counts[0], layout.type, op, place.comm);
  }
  for (std::size_t i = 0; i < own; ++i)
    expect(in.at(i) == sum(place, before + i), "%s of %zu: int %zu to be %d, not %d",
           unequal ? "reduce_scatter" : "reduce_scatter_block", count, i, sum(place, before + i), in.at(i));
  if (!in_place) in.check("reduce_scatter's margins", own, [&](std::size_t i) { return sum(place, before + i); });
  ++place.by_file;
}

// `any_order`: whatever the order of the operands, the result has the same bits.
void reductions(Place& place, const Layout& layout, MPI_Op op, bool any_order, std::size_t count) {
  reduced = &layout;
  const auto elements = static_cast<int>(count);
  const std::size_t ints = count * layout.places.size();
  const auto put_in = [&](std::size_t i) { return value(place.rank, 3, i); };
  const auto sums = [&](std::size_t i) { return sum(place, i); };
  Buffer out(layout, ints), in(layout, ints), both(layout, ints);
  out.fill(ints, put_in);
  both.fill(ints, put_in);
  MPI_Allreduce(out.address(), in.address(), elements, layout.type, op, place.comm);
  in.check("allreduce", ints, sums);
  MPI_Allreduce(MPI_IN_PLACE, both.address(), elements, layout.type, op, place.comm);
  both.check("allreduce in place", ints, sums);
  if (any_order || place.folder.proves("allreduce", "same_on_all_ranks")) place.by_file += 2;
  for (const bool in_place : {false, true})
    for (const bool unequal : {false, true}) reduce_scatter(place, layout, op, count, unequal, in_place);
  if (!place.folder.has("reduce")) return;
  const bool at_root = place.rank == place.root;
  Buffer result(layout, ints);
  MPI_Reduce(out.address(), at_root ? result.address() : nullptr, elements, layout.type, op, place.root, place.comm);
  if (at_root) result.check("reduce", ints, sums);
  if (at_root) out.fill(ints, put_in);
  MPI_Reduce(at_root ? MPI_IN_PLACE : out.address(), at_root ? out.address() : nullptr, elements, layout.type, op,
             place.root, place.comm);
  out.check("reduce in place", ints, at_root ? std::function<int(std::size_t)>(sums) : put_in);
  place.by_file += 2;
}

// Files that keep the order of ranks serve; the next component does the rest, and may call others of these for it.
void non_commutative(Place& place, std::size_t count) {
  MPI_Datatype pair = MPI_DATATYPE_NULL;
  MPI_Type_contiguous(2, MPI_UINT32_T, &pair);
  MPI_Type_commit(&pair);
  MPI_Op op = MPI_OP_NULL;
  MPI_Op_create(compose, 0, &op);
  const Counter by_file("coll_topo_calls_file"), left("coll_topo_fallbacks");
  const std::size_t all = count * static_cast<std::size_t>(place.ranks);
  std::vector<Affine> out(all), wanted(all), in(all), shard(count), at_root(all);
  for (std::size_t i = 0; i < all; ++i) {
    out[i] = map_of(place.rank, i);
    wanted[i] = map_of(0, i);
    for (int from = 1; from < place.ranks; ++from) wanted[i] = after(wanted[i], map_of(from, i));
  }
  const auto check = [&](const char* collective, const std::vector<Affine>& got, std::size_t first) {
    for (std::size_t i = 0; i < got.size(); ++i)
      expect(got[i].a == wanted[first + i].a && got[i].b == wanted[first + i].b, "%s in order: element %zu of %zu",
             collective, i, got.size());
  };
  unsigned long long served = 0, fallbacks = 0;
  const auto called = [&](const char* collective) {
    (place.folder.proves(collective, "keeps_rank_order") ? served : fallbacks) += 1;
  };
  MPI_Allreduce(out.data(), in.data(), static_cast<int>(all), pair, op, place.comm);
  check("allreduce", in, 0);
  called("allreduce");
  MPI_Reduce_scatter_block(out.data(), shard.data(), static_cast<int>(count), pair, op, place.comm);
  check("reduce_scatter_block", shard, static_cast<std::size_t>(place.rank) * count);
  called("reduce_scatter");
  if (place.folder.has("reduce")) {
    MPI_Reduce(out.data(), at_root.data(), static_cast<int>(all), pair, op, place.root, place.comm);
    if (place.rank == place.root) check("reduce", at_root, 0);
    called("reduce");
  }
  expect(by_file.since_made() >= served, "%llu calls in order served, not %llu", served, by_file.since_made());
  expect(left.since_made() >= fallbacks, "%llu calls left, not %llu", fallbacks, left.since_made());
  MPI_Op_free(&op);
  MPI_Type_free(&pair);
}

void run(const Folder& folder, const std::string& segment_bytes) {
  std::vector<std::string> settings = folder.settings();
  settings.insert(settings.end(), {"segment_bytes", segment_bytes});
  MPI_Comm comm = with_settings(MPI_COMM_WORLD, settings);
  Place place{comm, rank_in(comm), ranks_of(comm), ranks_of(comm) / 2, folder};
  MPI_Op op = MPI_OP_NULL;
  MPI_Op_create(add_laid_out, 1, &op);
  const Layout plain{"int", MPI_INT, {0}, 1}, gaps{"vector", resized(indexed({0, 2}), 0, 4), {0, 2}, 4};
  const Counter by_file("coll_topo_calls_file"), left("coll_topo_fallbacks");
  const std::size_t large = 60001 / static_cast<std::size_t>(place.ranks);
  for (const std::size_t count : {std::size_t{1}, std::size_t{13}, large}) {
    moves(place, plain, count);
    moves(place, gaps, count);
    reductions(place, plain, MPI_SUM, true, count);
    reductions(place, gaps, op, false, count);
  }
  expect(by_file.since_made() == place.by_file, "%llu calls served by files, not %llu", place.by_file,
         by_file.since_made());
  expect(place.by_file > 30, "more than 30 calls that files must serve, not %llu", place.by_file);
  for (const std::size_t count : {std::size_t{1}, std::size_t{7}, large / 8}) non_commutative(place, count);
  MPI_Op_free(&op);
  MPI_Datatype type = gaps.type;
  MPI_Type_free(&type);
  MPI_Comm_free(&comm);
}

}  // namespace

int main(int argc, char** argv) {
  mpi_test::Job job(&argc, &argv);
  for (int folder = 1; folder < argc; ++folder)
    for (const char* segment_bytes : {"auto", "4000"}) run(Folder(argv[folder]), segment_bytes);
  return job.verdict();
}
