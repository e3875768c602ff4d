// Bandwidths and times as people write them.
#include <array>
#include <charconv>
#include <cmath>

#include <fmt/format.h>

#include "colltopo/topology.h"

namespace colltopo {

namespace {

struct Unit {
  std::string_view name;
  double factor;
};
// Network speeds are powers of ten; "b" is a bit and "B" a byte.
constexpr std::array<Unit, 10> k_bandwidths{{{"bps", 1.0 / 8},
                                             {"kbps", 1e3 / 8},
                                             {"Mbps", 1e6 / 8},
                                             {"Gbps", 1e9 / 8},
                                             {"Tbps", 1e12 / 8},
                                             {"Bps", 1},
                                             {"kBps", 1e3},
                                             {"MBps", 1e6},
                                             {"GBps", 1e9},
                                             {"TBps", 1e12}}};
constexpr std::array<Unit, 4> k_times{{{"ns", 1e-9}, {"us", 1e-6}, {"ms", 1e-3}, {"s", 1}}};

bool parse(std::string_view text, std::span<const Unit> units, double& value) {
  double number = 0;
  const char* const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc{} || !std::isfinite(number)) return false;
  const std::string_view unit(rest, static_cast<std::size_t>(end - rest));
  for (const Unit& known : units) {
    if (known.name != unit) continue;
    value = number * known.factor;
    return true;
  }
  return false;
}

}  // namespace

bool parse_bandwidth(std::string_view text, double& bytes_per_second) {
  return parse(text, k_bandwidths, bytes_per_second);
}
bool parse_latency(std::string_view text, double& seconds) { return parse(text, k_times, seconds); }

std::string bandwidth_text(double bytes_per_second) {
  const double bits = bytes_per_second * 8;
  if (bits >= 1e12) return fmt::format("{:.4g} Tb/s", bits / 1e12);
  if (bits >= 1e9) return fmt::format("{:.4g} Gb/s", bits / 1e9);
  if (bits >= 1e6) return fmt::format("{:.4g} Mb/s", bits / 1e6);
  if (bits >= 1e3) return fmt::format("{:.4g} kb/s", bits / 1e3);
  return fmt::format("{:.4g} b/s", bits);
}

std::string seconds_text(double seconds) {
  if (seconds >= 1) return fmt::format("{:.4g} s", seconds);
  if (seconds >= 1e-3) return fmt::format("{:.4g} ms", seconds * 1e3);
  if (seconds >= 1e-6) return fmt::format("{:.4g} us", seconds * 1e6);
  return fmt::format("{:.4g} ns", seconds * 1e9);
}

}  // namespace colltopo
