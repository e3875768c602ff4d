// The families that a spec string can name, in one table, and how their parameters are read.
#include "topology/families.h"

#include <array>
#include <charconv>

#include <fmt/format.h>

#include "base/lines.h"
#include "colltopo/error.h"

namespace colltopo {

void refuse(const FamilySpec& spec, std::string_view fault, std::string_view expected) {
  throw Error(fmt::format("{}: {}; expected {}", short_text(spec.text), fault, expected));
}

int number(const FamilySpec& spec, std::string_view text, std::string_view what, int least, int most) {
  int value = 0;
  const char* const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc{} || rest != end || value < least || value > most)
    refuse(spec, fmt::format("{} {}", what, in_quotes(text)), fmt::format("a whole number in {}..{}", least, most));
  return value;
}

void expect_parameters(const FamilySpec& spec, std::size_t count, std::string_view expected, std::size_t optional) {
  const std::size_t given = spec.parameters.size();
  if (given < count || given > count + optional) refuse(spec, fmt::format("{} parameters", given), expected);
}

std::vector<int> sides_in(const FamilySpec& spec, std::string_view text) {
  std::vector<int> sides;
  for (;;) {
    const std::size_t end = text.find('x');
    if (sides.size() == k_most_sides) refuse(spec, "too many sides", fmt::format("up to {}", k_most_sides));
    sides.push_back(number(spec, text.substr(0, end), "side", 1, k_most_hosts));
    if (end == std::string_view::npos) break;
    text.remove_prefix(end + 1);
  }
  return sides;
}

std::int64_t points_of(const FamilySpec& spec, const std::vector<int>& sides) {
  std::int64_t points = 1;
  for (const int side : sides) {
    points *= side;
    if (points > k_most_hosts) refuse(spec, "too many hosts", fmt::format("a product of sides up to {}", k_most_hosts));
  }
  return points;
}

namespace {

constexpr std::array k_families{
    Family{"ring", "HOSTS", "hosts in a circle, each joined to the next", ring},
    Family{"mesh", "AxBx...", "a grid without wrap-around", mesh},
    Family{"torus", "AxBx...", "a grid that wraps around on every side (a side of 2 has one cable)", torus},
    Family{"hypercube", "DIMENSIONS", "2^DIMENSIONS hosts, joined where their numbers differ in one bit", hypercube},
    Family{"twisted-hypercube", "DIMENSIONS", "a hypercube with two cables of a square crossed", twisted_hypercube},
    Family{"complete", "HOSTS", "every host joined to every other", complete},
    Family{"bipartite", "A:B", "each of A hosts joined to each of B more", bipartite},
    Family{"circulant", "HOSTS:STRIDE,STRIDE...", "hosts in a circle, each joined to those STRIDE places on and back",
           circulant},
    Family{"kautz", "HOSTS:DEGREE", "generalized Kautz graph: one-way links, short paths for any size", kautz},
    Family{"xpander", "HOSTS:DEGREE[:SEED]", "random lift of a complete graph of DEGREE + 1 nodes", xpander},
    Family{"jellyfish", "HOSTS:DEGREE[:SEED]", "random regular graph", jellyfish},
    Family{"slimfly", "Q", "2*Q^2 hosts at most two hops apart; Q a power of a prime", slimfly},
    Family{"hyperx", "AxBx...", "a grid whose every row and column is completely joined", hyperx},
    Family{"hammingmesh", "AxB:XxY", "XxY boards, each a mesh of AxB; switches join their rows and columns",
           hamming_mesh},
    Family{"dragonfly", "ROUTERS:HOSTS:GLOBAL", "groups of ROUTERS with HOSTS and GLOBAL cables to other groups each",
           dragonfly},
    Family{"fattree", "PORTS", "three levels of switches with PORTS ports, PORTS^3/4 hosts", fat_tree},
    Family{"switch", "HOSTS", "hosts on one switch", single_switch},
    Family{"dgx-a100", "BOXES", "boxes of 8 GPUs on an NVSwitch; two InfiniBand rails", dgx_a100},
    Family{"mi250", "BOXES[:8]", "boxes of 16 GPUs on Infinity Fabric, or of their first 8; one InfiniBand switch",
           mi250},
};

}  // namespace

std::span<const Family> families() { return k_families; }

}  // namespace colltopo
