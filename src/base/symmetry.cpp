// Elements by their digits. With generators that commute, numbers of elements are added digit by digit; otherwise by
// the two actions of the group on itself, from the left (what a generator does to hosts) and from the right.
#include "colltopo/symmetry.h"
#include "base/index.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "colltopo/error.h"

namespace colltopo {

namespace {

using Numbers = std::vector<std::int32_t>;

Numbers identity(std::size_t size) {
  Numbers numbers(size);
  std::iota(numbers.begin(), numbers.end(), 0);
  return numbers;
}

/// First `first`, then `then`.
Numbers followed(const Numbers& first, const Numbers& then) {
  Numbers result(first.size());
  for (std::size_t i = 0; i < first.size(); ++i) result[i] = then[index(first[i])];
  return result;
}

Numbers power(Numbers base, std::int32_t exponent) {
  Numbers result = identity(base.size());
  for (; exponent > 0; exponent /= 2) {
    if (exponent % 2 == 1) result = followed(result, base);
    if (exponent > 1) base = followed(base, base);
  }
  return result;
}

void require_permutation(std::int32_t hosts, const Generator& generator, std::size_t number) {
  const auto nodes = static_cast<std::int32_t>(generator.image.size());
  std::vector<bool> taken(generator.image.size(), false);
  for (std::int32_t node = 0; node < nodes; ++node) {
    const std::int32_t image = generator.image[index(node)];
    if (image < 0 || image >= nodes || taken[index(image)] || (node < hosts) != (image < hosts))
      throw Error(
          fmt::format("generator {} takes node {} to {}, expected another host for each host and another switch "
                      "for each switch",
                      number, node, image));
    taken[index(image)] = true;
  }
}

}  // namespace

Symmetry::Symmetry(std::int32_t hosts, std::vector<Generator> generators, std::vector<std::int32_t> representatives)
    : hosts_(hosts), generators_(std::move(generators)), representatives_(std::move(representatives)) {
  behind_.resize(generators_.size());
  std::int64_t elements = 1;
  for (std::size_t i = generators_.size(); i-- > 0;) {
    behind_[i] = static_cast<std::int32_t>(elements);
    elements *= generators_[i].order;
    if (generators_[i].order < 2 || elements > hosts)
      throw Error(fmt::format("generator {} has order {}, expected 2 or more and no more elements than the {} hosts", i,
                              generators_[i].order, hosts));
    if (generators_[i].image.size() != generators_.front().image.size() || generators_[i].image.size() < index(hosts))
      throw Error(fmt::format("generator {} moves {} nodes, expected all of them", i, generators_[i].image.size()));
    require_permutation(hosts, generators_[i], i);
  }
  elements_ = static_cast<std::int32_t>(elements);
  if (representatives_.size() * index(elements_) != index(hosts))
    throw Error(fmt::format("{} orbits of {} hosts, expected {} hosts", representatives_.size(), elements_, hosts));
  lay_out();
}

void Symmetry::lay_out() {
  host_.resize(index(hosts_));
  place_.assign(index(hosts_), -1);
  for (std::size_t orbit = 0; orbit < representatives_.size(); ++orbit) {
    if (representatives_[orbit] < 0 || representatives_[orbit] >= hosts_)
      throw Error(fmt::format("representative {}, expected a host of 0..{}", representatives_[orbit], hosts_ - 1));
    std::int32_t* const host = host_.data() + orbit * index(elements_);
    host[0] = representatives_[orbit];
    for (std::size_t i = generators_.size(); i-- > 0;) {
      const Numbers& image = generators_[i].image;
      const std::size_t block = index(behind_[i]);
      for (std::size_t e = block; e < block * index(generators_[i].order); ++e) host[e] = image[index(host[e - block])];
    }
  }
  for (std::size_t place = 0; place < host_.size(); ++place) {
    std::int32_t& known = place_[index(host_[place])];
    if (known >= 0)
      throw Error(
          fmt::format("host {} is reached from the representatives twice, expected every host once", host_[place]));
    known = static_cast<std::int32_t>(place);
  }
}

std::vector<std::int32_t> Symmetry::moved_by(std::int32_t element) const {
  if (generators_.empty()) return identity(index(hosts_));
  Numbers result = identity(generators_.front().image.size());
  for (std::size_t i = generators_.size(); i-- > 0;)
    if (const std::int32_t exponent = digit(element, i); exponent > 0)
      result = followed(result, power(generators_[i].image, exponent));
  return result;
}

/// Whether the group is a product of cyclic groups, of these orders. That it is a group is known, and that it acts
/// freely: two elements are equal when they take one host to the same place.
bool Symmetry::commute() const {
  for (std::size_t i = 0; i < generators_.size(); ++i) {
    const Numbers& a = generators_[i].image;
    if (a[index(host((generators_[i].order - 1) * behind(i), 0))] != host(0, 0)) return false;
    for (std::size_t j = i + 1; j < generators_.size(); ++j)
      if (generators_[j].image[index(host(behind(i), 0))] != host(behind(i) + behind(j), 0)) return false;
  }
  return true;
}

std::vector<std::int32_t> Symmetry::products(std::int32_t element) const {
  Numbers result(index(elements_));
  if (!commute()) {
    const Numbers moved = moved_by(element);
    for (std::int32_t m = 0; m < elements_; ++m) result[index(m)] = element_of(moved[index(host(m, 0))]);
    return result;
  }
  // Digits are added one by one, each to all numbers of the generators behind it.
  result[0] = element;
  for (std::size_t i = generators_.size(); i-- > 0;) {
    const std::int32_t block = behind(i), order = generators_[i].order;
    for (std::int32_t e = 1, now = digit(element, i); e < order; ++e) {
      const std::int32_t step = now + 1 < order ? block : block * (1 - order);
      now = now + 1 < order ? now + 1 : 0;
      for (std::int32_t b = 0; b < block; ++b) result[index(e * block + b)] = result[index((e - 1) * block + b)] + step;
    }
  }
  return result;
}

std::vector<std::int32_t> Symmetry::inverses() const {
  Numbers result(index(elements_), 0);
  const bool by_digits = commute();
  for (std::size_t i = generators_.size(); i-- > 0;) {
    const std::int32_t block = behind(i), order = generators_[i].order;
    if (by_digits) {
      for (std::int32_t e = 1; e < order; ++e)
        for (std::int32_t b = 0; b < block; ++b) result[index(e * block + b)] = result[index(b)] + (order - e) * block;
      continue;
    }
    // The inverse of a m is that of m times that of a. From the right a takes m to m a: 1 to a, and b m to b (m a).
    Numbers without(index(elements_));
    Numbers with(index(elements_));
    with[0] = block;
    for (std::size_t j = generators_.size(); j-- > 0;)
      for (std::int32_t m = behind(j); m < behind(j) * generators_[j].order; ++m)
        with[index(m)] = element_of(generators_[j].image[index(host(with[index(m - behind(j))], 0))]);
    for (std::int32_t m = 0; m < elements_; ++m) without[index(with[index(m)])] = m;
    for (std::int32_t m = block; m < block * order; ++m) result[index(m)] = without[index(result[index(m - block)])];
  }
  return result;
}

std::string Symmetry::fault() const {
  // Where a product must lie in the group of the generators behind one of them, the element is known by what it does to
  // a host, and must be that on all nodes.
  const auto is_behind = [&](const Numbers& product, std::size_t generator) {
    const std::int32_t image = product[index(host(0, 0))];
    return orbit_of(image) == 0 && element_of(image) < behind(generator) && moved_by(element_of(image)) == product;
  };
  for (std::size_t i = 0; i < generators_.size(); ++i) {
    const Numbers& a = generators_[i].image;
    if (!is_behind(power(a, generators_[i].order), i))
      return fmt::format("generator {} to the power of its order {} is not an element of the generators behind it", i,
                         generators_[i].order);
    Numbers back(a.size());
    for (std::size_t node = 0; node < a.size(); ++node) back[index(a[node])] = static_cast<std::int32_t>(node);
    for (std::size_t j = i + 1; j < generators_.size(); ++j)
      if (const Numbers moved = followed(followed(a, generators_[j].image), back);
          moved != generators_[j].image && !is_behind(moved, i))
        return fmt::format("generator {} moved by generator {} is not an element of the generators behind that", j, i);
  }
  return "";
}

Generator turn(std::int32_t hosts, std::int32_t block, std::int32_t order, std::vector<std::int32_t> switches) {
  Generator generator{order, {}};
  generator.image.reserve(index(hosts) + switches.size());
  for (std::int32_t first = 0; first < hosts; first += block * order) {
    for (std::int32_t host = first; host < first + block * (order - 1); ++host) generator.image.push_back(host + block);
    for (std::int32_t host = 0; host < block; ++host) generator.image.push_back(first + host);
  }
  generator.image.insert(generator.image.end(), switches.begin(), switches.end());
  return generator;
}

std::int32_t block_of_turn(std::int32_t hosts, const Generator& generator) {
  const std::int32_t block = generator.image[0];
  if (block < 1 || generator.order > hosts / block || hosts % (block * generator.order) != 0) return 0;
  const Numbers image = turn(hosts, block, generator.order).image;
  return std::equal(image.begin(), image.end(), generator.image.begin()) ? block : 0;
}

}  // namespace colltopo
