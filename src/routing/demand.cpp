// Demands out of texts, and what they load.
#include "colltopo/demand.h"

#include <fmt/format.h>

#include "base/lines.h"
#include "base/numbers.h"

namespace colltopo {

double Demand::total() const {
  double sum = 0;
  for (NodeId source = 0; source < hosts_; ++source)
    for (NodeId target = 0; target < hosts_; ++target)
      if (source != target) sum += bytes(source, target);
  return sum;
}

std::vector<double> link_loads(const Topology& topology, const Routing& routing, const Demand& demand) {
  std::vector<double> loads(topology.links().size(), 0);
  for (std::size_t i = 0; i < routing.paths(); ++i) {
    const WeightedPath path = routing.path(i);
    const double load = path.weight * demand.bytes(path.source, path.target);
    for (const LinkId link : path.links) loads[static_cast<std::size_t>(link)] += load;
  }
  return loads;
}

namespace {

/// Reads one form after having seen which it is.
class DemandReader {
 public:
  DemandReader(const std::string& text, const std::string& file, NodeId hosts)
      : file_{text, file}, lines_(text), demand_(hosts) {}

  Demand read() {
    std::string_view line;
    if (!next(line)) throw file_.error(1, "is empty; expected a matrix of bytes, one line per source");
    if (lower_case(line).starts_with("%%matrixmarket"))
      read_matrix_market(line);
    else if (lower_case(line).starts_with("source"))
      read_entries();
    else
      read_rows(line);
    if (demand_.total() <= 0) throw file_.error(lines_.number(), "no pair of hosts has bytes; expected one that has");
    return std::move(demand_);
  }

 private:
  /// The next line with something in it.
  bool next(std::string_view& line) {
    while (lines_.next(line))
      if (line = trimmed(line); !line.empty()) return true;
    return false;
  }

  /// Words between commas, or between spaces.
  static std::vector<std::string> words_of(std::string_view line) {
    std::vector<std::string> words;
    if (line.find(',') != std::string_view::npos) {
      for (const std::string& word : split_at(line, ',')) words.emplace_back(trimmed(word));
      return words;
    }
    for (std::string_view word = take_word(line); !word.empty(); word = take_word(line)) words.emplace_back(word);
    return words;
  }

  double bytes_of(const std::string& word) const {
    double bytes = 0;
    if (!parse_number(word, bytes) || bytes < 0)
      throw file_.error(lines_.number(), fmt::format("{}; expected bytes, a number of 0 or more", in_quotes(word)));
    return bytes;
  }

  NodeId host_of(const std::string& word, NodeId first) const {
    NodeId host = 0;
    if (!parse_number(word, host) || host < first || host >= demand_.hosts() + first)
      throw file_.error(lines_.number(), fmt::format("{}; expected a host, {} to {}", in_quotes(word), first,
                                                     demand_.hosts() - 1 + first));
    return host - first;
  }

  void read_entry(std::string_view line, NodeId first) {
    const std::vector<std::string> words = words_of(line);
    if (words.size() != 3)
      throw file_.error(lines_.number(), fmt::format("{} fields; expected 3: source, target, bytes", words.size()));
    const NodeId source = host_of(words[0], first), target = host_of(words[1], first);
    demand_.add(source, target, bytes_of(words[2]));
  }

  void read_entries() {
    for (std::string_view line; next(line);) read_entry(line, 0);
  }

  void read_matrix_market(std::string_view header) {
    const std::string kind = lower_case(header);
    if (kind.find("coordinate") == std::string::npos || kind.find("general") == std::string::npos ||
        (kind.find("real") == std::string::npos && kind.find("integer") == std::string::npos))
      throw file_.error(
          1, fmt::format("{}; expected %%MatrixMarket matrix coordinate real (or integer) general", in_quotes(header)));
    bool sized = false;
    std::size_t promised = 0, found = 0;
    for (std::string_view line; next(line);) {
      if (line.starts_with('%')) continue;
      if (sized) {
        read_entry(line, 1);
        ++found;
        continue;
      }
      const std::vector<std::string> words = words_of(line);
      const std::string hosts = std::to_string(demand_.hosts());
      if (words.size() != 3 || words[0] != hosts || words[1] != hosts || !parse_number(words[2], promised))
        throw file_.error(lines_.number(),
                          fmt::format("{}; expected {} rows and columns, the network's hosts, and a number of entries",
                                      in_quotes(line), hosts));
      sized = true;
    }
    if (found != promised)
      throw file_.error(lines_.number(), fmt::format("{} entries; expected {}, as the file promises", found, promised));
  }

  void read_rows(std::string_view line) {
    const auto hosts = static_cast<std::size_t>(demand_.hosts());
    std::size_t source = 0;
    do {
      const std::vector<std::string> words = words_of(line);
      if (source == hosts || words.size() != hosts)
        throw file_.error(lines_.number(),
                          fmt::format("{} numbers in row {}; expected {} rows of {}, as the network has hosts",
                                      words.size(), source + 1, hosts, hosts));
      for (std::size_t target = 0; target < hosts; ++target)
        demand_.add(static_cast<NodeId>(source), static_cast<NodeId>(target), bytes_of(words[target]));
      ++source;
    } while (next(line));
    if (source < hosts)
      throw file_.error(lines_.number(),
                        fmt::format("ends after {} rows; expected {}, as the network has hosts", source, hosts));
  }

  TextFile file_;
  TextLines lines_;
  Demand demand_;
};

}  // namespace

Demand read_demand(const std::string& text, const std::string& file, NodeId hosts) {
  constexpr NodeId k_most_hosts = 8192;  // half a gibibyte for all pairs, however few the file names
  if (hosts > k_most_hosts)
    throw Error(fmt::format("{}: a demand of {} hosts; expected at most {}", file, hosts, k_most_hosts));
  return DemandReader(text, file, hosts).read();
}

}  // namespace colltopo
