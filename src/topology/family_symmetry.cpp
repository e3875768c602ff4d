// Symmetries of families whose hosts' numbers do not show them as turns of digits.
#include <map>
#include <optional>

#include "base/index.h"
#include "base/lines.h"
#include "colltopo/error.h"
#include "colltopo/turns.h"
#include "topology/families.h"
#include "topology/finite_field.h"
#include "topology/link_images.h"

namespace colltopo {

namespace {

using GeneratorList = std::vector<Generator>;

/// [digit] p to its power: a basis of the field over its prime field.
std::vector<int> basis_of(const FiniteField& field) {
  std::vector<int> basis;
  for (int element = 1; element < field.size(); element *= field.characteristic()) basis.push_back(element);
  return basis;
}

/// Kautz graphs of Imase and Itoh's numbering with d^D + d^(D-1) hosts are those of words: D letters out of d + 1, no
/// two neighbours equal; a link drops the first and appends a last. Every permutation of letters is an automorphism. If
/// the letters can be a field's elements, those that x -> a x + b makes act freely, for none but the identity leaves
/// two letters where they are. Words of two letters are one orbit; so are letters, of the shifts alone.
class KautzWords {
 public:
  KautzWords(NodeId hosts, NodeId degree) : hosts_(hosts), degree_(degree) {
    std::int64_t words = degree + 1;
    while (words < hosts && degree > 1) {
      words *= degree;
      ++length_;
    }
    if (words != hosts) length_ = 0;
    for (NodeId host = 0; host < (length_ == 0 ? 0 : hosts); ++host) host_of_.emplace(word_of(host), host);
  }
  bool are_hosts() const { return length_ > 0 && std::ssize(host_of_) == hosts_; }
  int letters() const { return degree_ + 1; }

  /// Where hosts go when every letter goes to `image` of it.
  template <typename Letter>
  std::vector<NodeId> permuted(const Letter& image) const {
    std::vector<NodeId> hosts(index(hosts_));
    for (const auto& [word, host] : host_of_) {
      std::vector<int> other;
      for (const int letter : word) other.push_back(image(letter));
      hosts[index(host)] = host_of_.at(other);
    }
    return hosts;
  }

 private:
  /// The last letter is the host's number modulo d + 1; the letters before it are those of any host with a link to it.
  std::vector<int> word_of(NodeId host) const {
    std::vector<int> word(static_cast<std::size_t>(length_));
    for (auto letter = word.rbegin(); letter != word.rend(); ++letter) {
      *letter = host % letters();
      host = (hosts_ - 1 - host) / degree_;
    }
    return word;
  }

  NodeId hosts_, degree_;
  int length_ = 1;
  std::map<std::vector<int>, NodeId> host_of_;
};

GeneratorList kautz_symmetry(const Topology& topology, const FamilySpec& spec) {
  if (spec.parameters.size() != 2) return {};
  const int degree = number(spec, spec.parameters[1], "degree", 1, k_most_hosts);
  const PrimePower power = prime_power(degree + 1);
  const KautzWords words(topology.hosts(), degree);
  if (power.prime == 0 || !words.are_hosts()) return {};
  const FiniteField field(power);
  GeneratorList generators;
  // One letter: all multiples leave 0 where it is.
  if (topology.hosts() > words.letters())
    generators.push_back({degree, words.permuted([&](int letter) { return field.times(letter, field.x_to_the(1)); })});
  for (const int step : basis_of(field))
    generators.push_back({power.prime, words.permuted([&](int letter) { return field.plus(letter, step); })});
  return generators;
}

/// Shears (x, y) -> (x + a, y + a x + b) of the one half of the hosts and (m, c) -> (m + a, c + b - (m + a) a) of the
/// other keep y = m x + c and the differences within a row. They act freely, and each half is one orbit. No free group
/// does better: the graphs with one orbit are no Cayley graphs (McKay, Miller, Siran 1998, section 4), and where q is
/// not 1 modulo 4 the halves are not alike.
GeneratorList slimfly_symmetry(const Topology& topology, const FamilySpec& spec) {
  if (spec.parameters.size() != 1) return {};
  const int q = number(spec, spec.parameters[0], "Q", 3, 1 << 10);
  const PrimePower power = prime_power(q);
  if (power.prime == 0 || topology.hosts() != 2 * q * q) return {};
  const FiniteField field(power);
  const auto shear = [&](int a, int b) {
    Generator generator{power.prime, {}};
    for (int half = 0; half < 2; ++half)
      for (int row = 0; row < q; ++row)
        for (int place = 0; place < q; ++place) {
          const int to = field.plus(row, a);
          const int moved = field.plus(place, b);
          const int shifted =
              half == 0 ? field.plus(moved, field.times(a, row)) : field.minus(moved, field.times(to, a));
          generator.image.push_back((half * q + to) * q + shifted);
        }
    return generator;
  };
  GeneratorList generators;
  for (const int a : basis_of(field)) generators.push_back(shear(a, 0));
  for (const int b : basis_of(field)) generators.push_back(shear(0, b));
  return generators;
}

/// The first host of every orbit.
std::vector<NodeId> first_hosts(NodeId hosts, const GeneratorList& generators) {
  std::vector<NodeId> first, waiting;
  std::vector<bool> reached(index(hosts), false);
  for (NodeId host = 0; host < hosts; ++host) {
    if (reached[index(host)]) continue;
    first.push_back(host);
    reached[index(host)] = true;
    for (waiting.push_back(host); !waiting.empty();) {
      const NodeId from = waiting.back();
      waiting.pop_back();
      for (const Generator& generator : generators) {
        const NodeId to = generator.image[index(from)];
        if (!reached[index(to)]) waiting.push_back(to);
        reached[index(to)] = true;
      }
    }
  }
  return first;
}

bool is_automorphism(const Topology& topology, const Generator& generator) {
  std::string fault;
  link_images(topology, generator.image, &fault);
  return fault.empty();
}

/// What the family says that the network's name names. The name is only a text: the network may be another.
std::optional<Symmetry> symmetry_of_family(const Topology& topology) {
  const std::vector<std::string> words = split_at(topology.name(), ':');
  const FamilySpec spec{topology.name(), words.front(), {words.begin() + 1, words.end()}};
  GeneratorList generators;
  try {
    if (spec.name == "kautz") generators = kautz_symmetry(topology, spec);
    if (spec.name == "slimfly") generators = slimfly_symmetry(topology, spec);
    for (const Generator& generator : generators)
      if (generator.image.size() != index(topology.nodes()) || !is_automorphism(topology, generator)) return {};
    if (generators.empty()) return {};
    std::vector<NodeId> representatives = first_hosts(topology.hosts(), generators);
    Symmetry symmetry(topology.hosts(), std::move(generators), std::move(representatives));
    if (symmetry.fault().empty()) return symmetry;
  } catch (const Error&) {  // of a name whose parameters are no family's
  }
  return {};
}

}  // namespace

Symmetry symmetry_of(const Topology& topology) {
  Symmetry turns = turns_of(topology);
  if (turns.orbits() == 1) return turns;
  std::optional<Symmetry> known = symmetry_of_family(topology);
  return known && known->elements() > turns.elements() ? *std::move(known) : turns;
}

}  // namespace colltopo
