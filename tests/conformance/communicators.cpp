// How each slot's communicator is made, and who is whose neighbour on it.
#include "communicators.h"

#include <algorithm>

namespace conformance {

namespace {

int ranks_of(MPI_Comm comm) {
  int ranks = 0;
  MPI_Comm_size(comm, &ranks);
  return ranks;
}

int rank_in(MPI_Comm comm) {
  int rank = 0;
  MPI_Comm_rank(comm, &rank);
  return rank;
}

/// How many edges go from one rank to another: mostly none or one.
int edges_between(std::uint64_t key, int from, int to, bool one_at_most) {
  const int thrown =
      static_cast<int>(hash_of(key, static_cast<std::uint64_t>(from), static_cast<std::uint64_t>(to)) % 8);
  return thrown < 4 ? 0 : thrown == 7 && !one_at_most ? 2 : 1;
}

/// A rank's targets, in the order in which it counts them.
std::vector<int> targets_of(std::uint64_t key, int rank, int ranks) {
  std::vector<int> targets;
  for (int to = 0; to < ranks; ++to)
    targets.insert(targets.end(), static_cast<std::size_t>(edges_between(key, rank, to, false)), to);
  Dice(hash_of(key, static_cast<std::uint64_t>(rank), 77)).shuffle(targets);
  return targets;
}

/// The number that `from` gives its n-th edge to `rank`.
int number_of(const std::vector<int>& targets, int rank, int nth) {
  for (std::size_t i = 0; i < targets.size(); ++i)
    if (targets[i] == rank && nth-- == 0) return static_cast<int>(i);
  return -1;
}

}  // namespace

int Communicators::life_of(Slot slot) const {
  return 12 + static_cast<int>(hash_of(seed_, static_cast<std::uint64_t>(slot), 1) % 40);
}

int Communicators::epoch_of(Slot slot, int operation) const { return slot == k_world ? 0 : operation / life_of(slot); }

std::vector<Slot> Communicators::ending(int operation) const {
  std::vector<Slot> slots;
  for (int slot = 1; slot < k_slots; ++slot) {
    const auto which = static_cast<Slot>(slot);
    if (made_[slot] && epochs_[slot] != epoch_of(which, operation)) slots.push_back(which);
  }
  return slots;
}

void Communicators::free(Slot slot) {
  if (held_[slot] && !held_[slot]->world) MPI_Comm_free(&held_[slot]->comm);
  held_[slot].reset();
  made_[slot] = false;
}

std::shared_ptr<Place> Communicators::at(Slot slot, int operation) {
  const int epoch = epoch_of(slot, operation);
  if (!made_[slot]) {
    held_[slot] = make(slot, epoch);
    epochs_[slot] = epoch;
    made_[slot] = true;
  }
  return held_[slot];
}

std::shared_ptr<Place> Communicators::make(Slot slot, int epoch) {
  auto place = std::make_shared<Place>();
  place->key = hash_of(seed_, static_cast<std::uint64_t>(slot), static_cast<std::uint64_t>(epoch), 5);
  Dice dice(place->key);
  switch (slot) {
    case k_duplicate:
      MPI_Comm_dup(MPI_COMM_WORLD, &place->comm);
      place->about = "duplicate";
      break;
    case k_part:
      part(*place, dice, MPI_COMM_WORLD);
      break;
    case k_part_of_part:
      part(*place, dice, MPI_COMM_WORLD);
      name(*place, dice, true);
      break;
    case k_grid:
      grid(*place, dice);
      name(*place, dice, false);
      break;
    case k_graph:
      graph(*place, dice);
      name(*place, dice, false);
      break;
    case k_distributed:
      distributed(*place, dice);
      name(*place, dice, false);
      break;
    case k_named:
      MPI_Comm_dup(MPI_COMM_WORLD, &place->comm);
      place->about = "duplicate";
      name(*place, dice, true);
      break;
    default:
      place->comm = MPI_COMM_WORLD;
      place->about = "MPI_COMM_WORLD";
      place->world = true;
  }
  if (place->comm == MPI_COMM_NULL) return nullptr;
  MPI_Comm_set_errhandler(place->comm, MPI_ERRORS_RETURN);
  place->rank = rank_in(place->comm);
  place->ranks = ranks_of(place->comm);
  return place;
}

/// Some parts of different sizes, their ranks in any order, and sometimes processes in none.
void Communicators::part(Place& place, Dice& dice, MPI_Comm of) {
  const int parts = dice.between(1, std::max(1, std::min(4, ranks_of(of) / 2)));
  const bool some_outside = dice.one_in(3);
  const auto rank = static_cast<std::uint64_t>(rank_in(of));
  const std::uint64_t own = hash_of(place.key, rank);
  const int color =
      some_outside && own % 7 == 0 ? MPI_UNDEFINED : static_cast<int>(own / 7 % static_cast<unsigned>(parts));
  MPI_Comm_split(of, color, static_cast<int>(own / 64 % 1000), &place.comm);
  place.about = "part " + std::to_string(color) + " of " + std::to_string(parts);
  place.key = hash_of(place.key, static_cast<std::uint64_t>(color), 9);
}

/// With info keys instead of the parameters of the job: other rows for some of the collectives.
void Communicators::name(Place& place, Dice& dice, bool always) {
  if (choices_.empty() || (!always && dice.one_in(2))) return;
  MPI_Info info = MPI_INFO_NULL;
  MPI_Info_create(&info);
  for (const auto& [key, values] : choices_) {
    if (dice.one_in(4)) continue;
    const std::string& value = dice.one_of(values);
    MPI_Info_set(info, ("coll_topo_" + key).c_str(), value.c_str());
    place.about += " " + key + "=" + value;
  }
  MPI_Comm named = MPI_COMM_NULL;
  if (place.comm != MPI_COMM_NULL) {
    MPI_Comm_dup_with_info(place.comm, info, &named);
    MPI_Comm_free(&place.comm);
  }
  place.comm = named;
  MPI_Info_free(&info);
}

void Communicators::grid(Place& place, Dice& dice) {
  int left = ranks_of(MPI_COMM_WORLD);
  if (left > 2 && dice.one_in(4)) --left;
  std::vector<int> sides, periodic;
  const int dimensions = dice.between(1, 3);
  for (int dimension = 0; dimension < dimensions; ++dimension) {
    const bool last = dimension + 1 == dimensions;
    sides.push_back(last ? left : dice.between(1, std::min(left, 4)));
    left /= sides.back();
    periodic.push_back(dice.below(2));
  }
  MPI_Cart_create(MPI_COMM_WORLD, dimensions, sides.data(), periodic.data(), 0, &place.comm);
  place.about = "grid";
  for (int dimension = 0; dimension < dimensions; ++dimension) {
    const auto at = static_cast<std::size_t>(dimension);
    place.about += (dimension == 0 ? " " : "x") + std::to_string(sides[at]) + (periodic[at] != 0 ? "p" : "");
    if (place.comm == MPI_COMM_NULL) continue;
    int before = 0, behind = 0;
    MPI_Cart_shift(place.comm, dimension, 1, &before, &behind);
    // What comes from before left its sender for the rank behind that one.
    place.to.push_back({before, 2 * dimension});
    place.to.push_back({behind, 2 * dimension + 1});
    place.from.push_back({before, 2 * dimension + 1});
    place.from.push_back({behind, 2 * dimension});
  }
  place.has_edges = true;
}

void Communicators::graph(Place& place, Dice& dice) {
  const int ranks = ranks_of(MPI_COMM_WORLD);
  const std::uint64_t key = dice.next();
  const auto neighbours = [&](int rank) {
    std::vector<int> all;
    for (int peer = 0; peer < ranks; ++peer)
      if (edges_between(key, std::min(rank, peer), std::max(rank, peer), true) != 0) all.push_back(peer);
    return all;
  };
  std::vector<int> ends, edges;
  for (int rank = 0; rank < ranks; ++rank) {
    for (const int peer : neighbours(rank)) edges.push_back(peer);
    ends.push_back(static_cast<int>(edges.size()));
  }
  edges.push_back(0);  // so that it has an address
  MPI_Graph_create(MPI_COMM_WORLD, ranks, ends.data(), edges.data(), 0, &place.comm);
  const int own = rank_in(MPI_COMM_WORLD);
  for (const int peer : neighbours(own)) {
    place.from.push_back({peer, number_of(neighbours(peer), own, 0)});
    place.to.push_back({peer, static_cast<int>(place.to.size())});
  }
  place.about = "graph";
  place.has_edges = true;
}

void Communicators::distributed(Place& place, Dice& dice) {
  const int ranks = ranks_of(MPI_COMM_WORLD), own = rank_in(MPI_COMM_WORLD);
  const std::uint64_t key = dice.next();
  std::vector<int> to = targets_of(key, own, ranks), from;
  for (int peer = 0; peer < ranks; ++peer)
    from.insert(from.end(), static_cast<std::size_t>(edges_between(key, peer, own, false)), peer);
  Dice(hash_of(key, static_cast<std::uint64_t>(own), 78)).shuffle(from);
  std::map<int, int> seen;
  for (const int peer : from) place.from.push_back({peer, number_of(targets_of(key, peer, ranks), own, seen[peer]++)});
  for (std::size_t i = 0; i < to.size(); ++i) place.to.push_back({to[i], static_cast<int>(i)});
  to.push_back(0);  // so that they have addresses
  from.push_back(0);
  MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, static_cast<int>(place.from.size()), from.data(), MPI_UNWEIGHTED,
                                 static_cast<int>(place.to.size()), to.data(), MPI_UNWEIGHTED, MPI_INFO_NULL, 0,
                                 &place.comm);
  place.about = "distributed graph";
  place.has_edges = true;
}

}  // namespace conformance
