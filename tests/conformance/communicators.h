// The communicators of a run: some slots, whose communicators are made at their first use and freed and made anew after
// some operations. What a slot holds at an operation follows from the seed alone.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include <mpi.h>

#include "dice.h"

namespace conformance {

/// A block of a neighbourhood call: who it goes to (comes from), and its number of several between the two.
struct Edge {
  int peer;    // MPI_PROC_NULL at the border of a grid
  int number;  // as the sender counts its edges
};

/// A communicator and what this process is in it.
struct Place {
  MPI_Comm comm = MPI_COMM_NULL;
  int rank = 0, ranks = 0;
  std::uint64_t key = 0;  // different for communicators side by side
  std::string about;
  bool world = false;
  bool has_edges = false;
  std::vector<Edge> to, from;
};

enum Slot { k_world, k_duplicate, k_part, k_part_of_part, k_grid, k_graph, k_distributed, k_named, k_slots };

/// Info keys with values to choose from: "alltoall_algorithm" -> {"tra", "linear"}.
using InfoChoices = std::map<std::string, std::vector<std::string>>;

class Communicators {
 public:
  Communicators(std::uint64_t seed, InfoChoices choices) : seed_(seed), choices_(std::move(choices)) {}

  /// The slot's communicator at an operation; nothing where this process is in none. All processes call this alike.
  std::shared_ptr<Place> at(Slot slot, int operation);
  /// Those that end before this operation, and have been made.
  std::vector<Slot> ending(int operation) const;
  std::shared_ptr<Place> held(Slot slot) const { return held_[slot]; }
  void free(Slot slot);

 private:
  int life_of(Slot slot) const;
  int epoch_of(Slot slot, int operation) const;
  std::shared_ptr<Place> make(Slot slot, int epoch);
  void part(Place& place, Dice& dice, MPI_Comm of);
  void grid(Place& place, Dice& dice);
  void graph(Place& place, Dice& dice);
  void distributed(Place& place, Dice& dice);
  void name(Place& place, Dice& dice, bool always);

  std::uint64_t seed_;
  InfoChoices choices_;
  std::shared_ptr<Place> held_[k_slots];
  int epochs_[k_slots] = {-1, -1, -1, -1, -1, -1, -1, -1};
  bool made_[k_slots] = {};
};

}  // namespace conformance
