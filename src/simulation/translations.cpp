#include "simulation/translations.h"

#include <algorithm>
#include <map>
#include <memory>

#include "base/random.h"

namespace colltopo::simulation {

namespace {

constexpr int k_samples = 12;        // ranks compared with their representatives
constexpr std::size_t k_paths = 64;  // of each of them
constexpr int k_most_unit = 4;       // beyond it, a side counts as one that nothing moves along

class Comparison {
 public:
  Comparison(const Subject& subject, const Topology& topology, const ShortestPaths& paths)
      : subject_(subject), topology_(topology), paths_(paths) {
    Lots lots(1);
    for (int i = 0; i < k_samples; ++i)
      samples_.push_back(static_cast<Rank>(lots.below(static_cast<std::uint64_t>(topology.hosts()))));
    samples_.push_back(topology.hosts() - 1);
  }

  bool holds(const Translations& translations) {
    return translations.fit_network() &&
           std::ranges::all_of(samples_, [&](Rank rank) { return alike(rank, translations); });
  }
  Rank compared() const { return static_cast<Rank>(samples_.size()); }

 private:
  bool alike(Rank rank, const Translations& translations) {
    const Rank representative = translations.representative(rank);
    if (rank == representative) return true;
    const std::vector<Message>&mine = sends(rank), &its = sends(representative);
    if (mine.size() != its.size()) return false;
    for (std::size_t i = 0; i < mine.size(); ++i) {
      if (mine[i].step != its[i].step || mine[i].chunks != its[i].chunks || mine[i].lane != its[i].lane ||
          translations.moved(mine[i].target, rank) != its[i].target)
        return false;
    }
    const std::size_t every = std::max<std::size_t>(1, mine.size() / k_paths);
    for (std::size_t i = 0; i < mine.size(); i += every)
      if (!same_path(mine[i], its[i], translations)) return false;
    return true;
  }

  bool same_path(const Message& mine, const Message& its, const Translations& translations) const {
    const auto here = paths_.path(mine.source, mine.target), there = paths_.path(its.source, its.target);
    return std::ranges::equal(here, there, [&](LinkId a, LinkId b) {
      return translations.representative_link(a) == translations.representative_link(b);
    });
  }

  const std::vector<Message>& sends(Rank rank) {
    auto& known = sends_[rank];
    if (!known) known = std::make_unique<std::vector<Message>>(sends_of(subject_.program_of(rank)));
    return *known;
  }

  const Subject& subject_;
  const Topology& topology_;
  const ShortestPaths& paths_;
  std::vector<Rank> samples_;
  std::map<Rank, std::unique_ptr<std::vector<Message>>> sends_;
};

}  // namespace

std::vector<Message> sends_of(const Program& program) {
  std::vector<Message> sends;
  for (std::size_t i = 0; i < program.size(); ++i) {
    const Op op = program.op(i);
    if (op.action == Action::send) sends.push_back({op.step, program.rank(), op.peer, op.lane, chunks_in(op.source)});
  }
  return sends;
}

Translations::Translations(const Topology& topology, std::vector<int> sides, std::vector<int> units)
    : topology_(topology), sides_(std::move(sides)), units_(std::move(units)), known_(topology.links().size(), -2) {
  for (std::size_t d = 0; d < sides_.size(); ++d) alike_ *= sides_[d] / units_[d];
  for (Rank rank = 0; rank < topology.hosts(); ++rank)
    if (representative(rank) == rank) representatives_.push_back(rank);
}

std::vector<int> Translations::coordinates(Rank rank) const {
  std::vector<int> at(sides_.size());
  for (std::size_t d = sides_.size(); d-- > 0; rank /= sides_[d]) at[d] = rank % sides_[d];
  return at;
}

Rank Translations::rank_at(const std::vector<int>& coordinates) const {
  Rank rank = 0;
  for (std::size_t d = 0; d < sides_.size(); ++d) rank = rank * sides_[d] + coordinates[d];
  return rank;
}

Rank Translations::representative(Rank rank) const {
  std::vector<int> at = coordinates(rank);
  for (std::size_t d = 0; d < at.size(); ++d) at[d] %= units_[d];
  return rank_at(at);
}

NodeId Translations::moved(NodeId node, Rank from) const {
  if (!topology_.is_host(node)) return node;
  std::vector<int> at = coordinates(node);
  const std::vector<int> start = coordinates(from);
  for (std::size_t d = 0; d < at.size(); ++d)
    at[d] = (at[d] - (start[d] - start[d] % units_[d]) + sides_[d]) % sides_[d];
  return rank_at(at);
}

LinkId Translations::representative_link(LinkId link) const {
  LinkId& known = known_[static_cast<std::size_t>(link)];
  if (known != -2) return known;
  const Link& here = topology_.link(link);
  // Switches stay where they are; what joins two of them would have to carry what all ranks send.
  if (!topology_.is_host(here.tail) && !topology_.is_host(here.head)) return known = -1;
  const NodeId from = topology_.is_host(here.tail) ? here.tail : here.head;
  const NodeId tail = moved(here.tail, from), head = moved(here.head, from);
  // Of parallel links, the one with the same place among them.
  int before = 0;
  for (const LinkId other : topology_.links_out(here.tail))
    if (topology_.link(other).head == here.head && other < link) ++before;
  known = -1;
  for (const LinkId other : topology_.links_out(tail))
    if (topology_.link(other).head == head && before-- == 0) return known = other;
  return known;
}

bool Translations::fit_network() const {
  for (LinkId link = 0; link < static_cast<LinkId>(topology_.links().size()); ++link) {
    const LinkId other = representative_link(link);
    if (other < 0) return false;
    if (topology_.link(other).bandwidth != topology_.link(link).bandwidth ||
        topology_.link(other).latency != topology_.link(link).latency)
      return false;
  }
  return true;
}

Translations translations_of(const Subject& subject, const Topology& topology, const ShortestPaths& paths,
                             Rank* compared) {
  std::vector<int> sides = topology.arrangement();
  if (sides.empty()) sides = {topology.hosts()};  // all on one switch, say
  Comparison comparison(subject, topology, paths);
  std::vector<int> units = sides;
  for (std::size_t d = 0; d < sides.size(); ++d) {
    for (int unit = 1; unit <= k_most_unit && unit < sides[d]; ++unit) {
      if (sides[d] % unit != 0) continue;
      std::vector<int> finer = units;
      finer[d] = unit;
      if (!comparison.holds(Translations(topology, sides, finer))) continue;
      units = finer;
      break;
    }
  }
  *compared = comparison.compared();
  return {topology, sides, units};
}

}  // namespace colltopo::simulation
