// What may serve a collective on a network: every schedule that is worth a price there.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "colltopo/forest.h"
#include "colltopo/routing.h"
#include "prepare/network_profile.h"
#include "prepare/request.h"

namespace colltopo::prepare {

/// How a schedule came about, as people call it.
enum class Kind : std::uint8_t { closed_form, hierarchical, single_path, routed, stepped, trees, ring };
std::string_view name(Kind kind);

struct Offer {
  Collective collective = Collective::alltoall;
  Kind kind = Kind::closed_form;
  std::string name;                      // "tra radix=4", "mcf"
  std::string choice;                    // of a rules file: "tra:radix=4", "file:alltoall-mcf.sched"
  const Algorithm* algorithm = nullptr;  // of closed forms; null: a file
  AlgorithmOptions options;
  Schedule schedule;              // of a file, with its routes
  bool same_on_all_ranks = true;  // an allreduce that floating point can use

  std::optional<Priced> as_is;        // messages take the network's own paths
  std::optional<Priced> with_tables;  // messages take the schedule's routes; none: it has no routes
};

/// Of closed forms: all variants of all rows that can win at one of `sizes`, by their programs.
std::vector<Offer> closed_form_offers(const Ground& ground, Collective collective,
                                      const std::vector<std::size_t>& sizes, const Say& say);

/// What is known of an all-to-all before: its routes and what proved how good they are.
struct FlowStart {
  Routing routing;
  std::vector<double> lengths;  // [link]
};

/// Routed all-to-alls, by one flow: with all of its paths, with two and with one for each pair. `bound`: of the flow.
std::vector<Offer> routed_offers(const Ground& ground, const FlowStart& start, double gap, int threads, const Say& say,
                                 FlowBound* bound);

/// Programmes of the best allreduce that are larger take longer than they can gain.
inline constexpr std::size_t k_most_columns = 2000;

/// Packed forests: an allgather's serve what combines too, where links go both ways.
class Forests {
 public:
  Forest forest(const Ground& ground, Collective collective, std::int64_t trees, int threads);

 private:
  std::map<std::int64_t, std::optional<Forest>> allgathers_;  // by trees of each root
};

/// Trees and rings.
std::vector<Offer> tree_offers(const Ground& ground, Collective collective, int threads, Forests& forests,
                               const Say& say);

/// Prices of a schedule whose routes may stand in no table of the network.
void price(Offer& offer, const Ground& ground);

/// The schedule of a closed form; of a file its own.
Schedule schedule_of(const Offer& offer, const Ground& ground);

}  // namespace colltopo::prepare
