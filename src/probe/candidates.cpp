#include "probe/candidates.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdlib>
#include <iterator>
#include <set>
#include <sstream>

#include "colltopo/error.h"
#include "comm/forced.h"
#include "comm/machine_network.h"
#include "comm/settings.h"

namespace colltopo::probe {

namespace {

constexpr std::size_t k_likely = 4, k_most = 8;                // algorithms of a collective
constexpr std::size_t k_siblings = 6, k_siblings_of_row = 3;   // further variants of the likely ones
constexpr int k_parts = static_cast<int>(k_common_sizes) - 1;  // that sizes divide the octaves into
constexpr std::size_t k_small_call = 8, k_large_call = std::size_t{256} << 10, k_together = std::size_t{1} << 20;
constexpr std::size_t k_long_vector = std::size_t{1} << 20;

// Times the cheapest: dearer ones are not worth their time. Small calls take little of it, and their prices are
// latencies above all, which are what is most often measured wrong where ranks share processors.
double worth(std::size_t bytes) { return bytes <= 512 ? 8 : 2; }

// The same of variants, where one is near the cheapest of all at some size: the model has them wrong against each other
// by what it leaves out of messages within a node and between nodes, and a trial knows the cheapest of each algorithm.
constexpr double k_near_variant = 1.5;
double worth_of_variant(std::size_t bytes) { return bytes <= 512 ? 3 : k_near_variant; }

Settings settings_of_environment() {
  Settings settings;
  for (const colltopo_setting& row : setting_table()) {
    if (row.name == nullptr) break;
    const char* const value = std::getenv((std::string("OMPI_MCA_coll_topo_") + row.name).c_str());
    if (value != nullptr) settings.set(row.name, value);
  }
  return settings;
}

// Where the ranks are, on the network of the settings if that is theirs.
Placement placement_of(const Places& places, const Settings& settings) {
  Placement alone{places.node_of, {}};
  if (settings.topology.empty()) return alone;
  const auto network = machine_network(settings.topology);
  std::string why;
  const auto hosts = hosts_of_ranks(*network, settings.hosts, places.host_of, &why);
  return hosts ? placement_on(network, places.node_of, *hosts, settings.dimensions) : alone;
}

// As jobs will have it.
Machine machine_of(const Places& places, Settings settings, const std::string& constants) {
  settings.constants = constants;
  const std::string line = constants_line(settings, places.hosts, Placement{places.node_of, {}});
  const LinkConstants links = settings.topology.empty() ? LinkConstants{} : machine_links(settings.topology);
  return machine_with(settings, line, links, nullptr);
}

/// Of every collective and size, best first.
class Leading {
 public:
  Leading(Chooser& chooser, Rank ranks) : chooser_(chooser) {
    for (int i = 0; i < k_collectives; ++i) {
      const auto collective = static_cast<Collective>(i);
      sizes_[static_cast<std::size_t>(i)] = telling_first(sizes_of(collective, ranks));
      for (const std::size_t bytes : sizes_[static_cast<std::size_t>(i)])
        leading_[static_cast<std::size_t>(i)].push_back(chooser.leading(request_of(collective, bytes), k_most));
    }
  }

  // What comes `place`th at some size and is not known yet, as long as fewer than `most` are, with the sizes at which
  // it may be worth something.
  void add(std::size_t place, std::size_t most, std::vector<Contender>& all) {
    for (int i = 0; i < k_collectives; ++i) {
      const auto of = static_cast<std::size_t>(i);
      auto& known = known_[of];
      for (std::size_t at = 0; at < sizes_[of].size(); ++at) {
        const std::vector<Candidate>& here = leading_[of][at];
        if (known.size() == most || here.size() <= place || !is_worth(of, at, here[place])) continue;
        if (!known.insert(here[place].algorithm).second) continue;
        const auto collective = static_cast<Collective>(i);
        all.push_back(
            {collective, std::string(here[place].algorithm->name), "", sizes(collective, *here[place].algorithm)});
      }
    }
  }

  // Variants of the likely ones that are near the cheapest of all at some size.
  void add_siblings(std::vector<Contender>& all) {
    for (int i = 0; i < k_collectives; ++i) {
      const auto collective = static_cast<Collective>(i);
      for (const Candidate& one : siblings(collective))
        all.push_back({collective, text_of(*one.algorithm, one.options.values), "", sizes_of_variant(collective, one)});
    }
  }

 private:
  static Request request_of(Collective collective, std::size_t bytes) {
    Request request;
    request.collective = collective;
    request.bytes = bytes;
    return request;
  }

  // The nearest of every algorithm before the second nearest of any: some differ in little.
  std::vector<Candidate> siblings(Collective collective) {
    const auto of = static_cast<std::size_t>(collective);
    std::vector<std::vector<Candidate>> of_rows;
    for (std::size_t at = 0; at < sizes_[of].size(); ++at) {
      const std::vector<Candidate>& here = leading_[of][at];
      const Request request = request_of(collective, sizes_[of][at]);
      for (std::size_t place = 0; place < std::min(k_likely, here.size()); ++place)
        of_rows.push_back(chooser_.siblings(request, here[place], k_near_variant * here[0].seconds));
    }
    std::vector<Candidate> some;
    for (std::size_t near = 0; near < k_siblings_of_row; ++near)
      for (const std::vector<Candidate>& row : of_rows) {
        if (row.size() <= near || some.size() == k_siblings) continue;
        const bool is_known = std::ranges::find(some, row[near].name, &Candidate::name) != some.end();
        if (!is_known && !row[near].options.values.all().empty()) some.push_back(row[near]);
      }
    return some;
  }

  // Those at which it is worth its time and its algorithm, which is measured too, takes another variant; ascending.
  std::vector<std::size_t> sizes_of_variant(Collective collective, const Candidate& variant) {
    const auto of = static_cast<std::size_t>(collective);
    std::vector<std::size_t> all;
    for (std::size_t at = 0; at < sizes_[of].size(); ++at) {
      const std::vector<Candidate>& here = leading_[of][at];
      const std::size_t bytes = sizes_[of][at];
      if (here.empty() || std::ranges::find(here, variant.name, &Candidate::name) != here.end()) continue;
      const Choice& priced = chooser_.price(*variant.algorithm, variant.options, request_of(collective, bytes));
      if (priced.excluded.empty() && priced.seconds <= worth_of_variant(bytes) * here[0].seconds) all.push_back(bytes);
    }
    std::ranges::sort(all);
    return all;
  }

  // Those in the middle, where most algorithms are near each other, before the least and the largest.
  static std::vector<std::size_t> telling_first(const std::vector<std::size_t>& sizes) {
    std::vector<std::size_t> all;
    for (const std::size_t i : {3u, 6u, 0u, 7u, 4u, 1u, 5u, 2u, 8u})
      if (i < sizes.size()) all.push_back(sizes[i]);
    return all;
  }

  bool is_worth(std::size_t of, std::size_t at, const Candidate& candidate) const {
    return candidate.seconds <= worth(sizes_[of][at]) * leading_[of][at][0].seconds;
  }

  // Those at which it is worth its time, ascending.
  std::vector<std::size_t> sizes(Collective collective, const Algorithm& algorithm) const {
    std::vector<std::size_t> all;
    const auto of = static_cast<std::size_t>(collective);
    for (std::size_t at = 0; at < sizes_[of].size(); ++at) {
      const std::vector<Candidate>& here = leading_[of][at];
      const auto found = std::ranges::find(here, &algorithm, &Candidate::algorithm);
      if (found != here.end() && is_worth(of, at, *found)) all.push_back(sizes_[of][at]);
    }
    std::ranges::sort(all);
    return all;
  }

  Chooser& chooser_;
  std::array<std::vector<std::size_t>, k_collectives> sizes_;               // [collective][size]
  std::array<std::vector<std::vector<Candidate>>, k_collectives> leading_;  // [collective][size][place]
  std::array<std::set<const Algorithm*>, k_collectives> known_;
};

// Previous components change their algorithms at powers of two that only they know, up to three times as fast behind
// one as before it.
std::vector<std::size_t> octaves_of(Collective collective, Rank ranks) {
  std::vector<std::size_t> all;
  for (std::size_t bytes = k_small_call; bytes <= sizes_of(collective, ranks).back(); bytes *= 2) all.push_back(bytes);
  return all;
}

// "alltoall=tuned", as far as colltopo has the collective.
std::vector<Contender> previous_ones(const std::string& previous, Rank ranks) {
  std::vector<Contender> all;
  std::istringstream words(previous);
  for (std::string word; words >> word;) {
    const std::size_t equals = std::min(word.find('='), word.size() - 1);
    const auto collective = collective_named(std::string_view(word).substr(0, equals));
    if (collective) all.push_back({*collective, k_previous, word.substr(equals + 1), octaves_of(*collective, ranks)});
  }
  return all;
}

}  // namespace

std::vector<std::size_t> sizes_of(Collective collective, int ranks) {
  const std::size_t share = std::bit_floor(k_together / static_cast<std::size_t>(ranks));
  const bool is_vector = !row(collective).counts_shards();
  const std::size_t large = is_vector ? k_large_call : std::clamp<std::size_t>(share, 4096, k_large_call);
  const int octaves = static_cast<int>(std::bit_width(large / k_small_call)) - 1;
  std::vector<std::size_t> sizes{k_small_call};
  for (int part = 1; part < k_parts; ++part) sizes.push_back(k_small_call << (part * octaves + k_parts / 2) / k_parts);
  sizes.push_back(large);
  if (is_vector) sizes.push_back(k_long_vector);
  return sizes;
}

Contenders contenders(const Places& places, const std::string& constants, const std::string& previous) {
  const Settings settings = settings_of_environment();
  AlgorithmOptions options;
  if (settings.group.size > 0) options.values.set("group", settings.group.size);
  Chooser chooser(places.ranks, placement_of(places, settings), machine_of(places, settings, constants), options,
                  settings.values);
  Contenders all;
  all.by_lanes = settings.own_lanes;
  Leading leading(chooser, places.ranks);
  for (std::size_t place = 0; place < k_likely; ++place) {
    leading.add(place, k_likely, all.list);
    if (place == 0) std::ranges::copy(previous_ones(previous, places.ranks), std::back_inserter(all.list));
  }
  leading.add_siblings(all.list);
  for (std::size_t place = 0; place < k_most; ++place) leading.add(place, k_most, all.list);
  return all;
}

}  // namespace colltopo::probe
