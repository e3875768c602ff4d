// Edge lists: one link or cable per line, names as they are, as graph libraries write them (docs/import.md, "Edge
// list").
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/numbers.h"
#include "import/formats.h"
#include "import/network.h"

namespace colltopo::import {

namespace {

struct Word {
  std::string text;
  bool in_quotes = false;

  bool is(std::string_view keyword) const { return !in_quotes && text == keyword; }
};

/// Words are parted by blanks; those in quotes may have blanks, \" and \\ in them and are never keywords.
std::vector<Word> words_of(std::string_view line, const Source& source, std::int64_t number) {
  std::vector<Word> words;
  while (true) {
    line = trimmed(line);
    if (line.empty() || line.starts_with('#')) return words;
    if (!line.starts_with('"')) {
      words.push_back({std::string(take_word(line)), false});
      continue;
    }
    Word word{"", true};
    std::size_t at = 1;
    for (; at < line.size() && line[at] != '"'; ++at) {
      if (line[at] == '\\' && at + 1 < line.size()) ++at;
      word.text += line[at];
    }
    if (at >= line.size()) throw source.error(number, "a quote is not closed; expected another \" in the line");
    line.remove_prefix(at + 1);
    words.push_back(std::move(word));
  }
}

class EdgeList {
 public:
  explicit EdgeList(const Source& source)
      : source_(source),
        network_(source),
        bandwidth_(source.bandwidth("bandwidth", k_default_bandwidth)),
        latency_(source.latency("latency", k_default_latency)) {}

  Topology read() {
    TextLines lines(source_.contents);
    std::string_view line;
    while (lines.next(line)) {
      const std::vector<Word> words = words_of(line, source_, lines.number());
      if (!words.empty()) take(words, lines.number());
    }
    return std::move(network_).topology();
  }

 private:
  void take(const std::vector<Word>& words, std::int64_t line) {
    const Word& first = words.front();
    if (first.is("host") || first.is("switch")) {
      if (words.size() == 1)
        throw source_.error(line, fmt::format("{} without a name; expected one or more", first.text));
      for (std::size_t i = 1; i < words.size(); ++i)
        network_.declare(words[i].text, first.is("host") ? Kind::host : Kind::switching, line);
    } else if (first.is("topology")) {
      if (words.size() != 2)
        throw source_.error(line, "topology; expected one name after it, in quotes if it has blanks");
      network_.set_name(words[1].text);
    } else if (first.is("grid")) {
      take_grid(words, line);
    } else {
      take_link(words, line);
    }
  }

  void take_grid(const std::vector<Word>& words, std::int64_t line) {
    if (words.size() != 3 || (!words[2].is("wraps") && !words[2].is("open")))
      throw source_.error(line, "grid; expected its sides and wraps or open, as in: grid 4x4 wraps");
    std::vector<int> sides;
    if (!parse_sides(words[1].text, sides))
      throw source_.error(line, fmt::format("grid {}; expected sides such as 4x4", in_quotes(words[1].text)));
    network_.set_grid(std::move(sides), words[2].is("wraps"), line);
  }

  void take_link(const std::vector<Word>& words, std::int64_t line) {
    const bool has_arrow = words.size() > 1 && (words[1].is("->") || words[1].is("--"));
    const bool one_way = has_arrow && words[1].is("->");
    const std::size_t second = has_arrow ? 2 : 1;
    if (words.size() <= second || words.size() > second + 3)
      throw source_.error(
          line, fmt::format("{} words; expected A B [BANDWIDTH [LATENCY]], A -> B for one direction", words.size()));
    const double bandwidth =
        words.size() > second + 1 ? source_.link_bandwidth(words[second + 1].text, line) : bandwidth_;
    const double latency = words.size() > second + 2 ? source_.link_latency(words[second + 2].text, line) : latency_;
    const Network::Node a = node(words[0], line), b = node(words[second], line);
    if (one_way)
      network_.link(a, b, bandwidth, latency, line);
    else
      network_.cable(a, b, bandwidth, latency, line);
  }

  Network::Node node(const Word& word, std::int64_t line) {
    if (word.text.empty()) throw source_.error(line, "an empty name; expected the name of a node");
    return network_.node(word.text);
  }

  const Source& source_;
  Network network_;
  double bandwidth_, latency_;
};

Topology read_edges(const Source& source) { return EdgeList(source).read(); }

bool is_edges(std::string_view contents) {
  std::string_view line = first_line(contents);
  if (line.starts_with('"')) return true;
  int words = 0;
  while (!take_word(line).empty()) ++words;
  return words >= 2 && words <= 5;
}

std::string edges_name(const std::string& name) {
  const bool plain = !name.empty() && name != "host" && name != "switch" && name != "topology" && name != "grid" &&
                     name.find_first_of(" \t\r\n\f\v\"\\#") == std::string::npos;
  if (plain && name != "->" && name != "--") return name;
  std::string text = "\"";
  for (const char letter : name) {
    if (letter == '\n' || letter == '\r')
      throw Error(fmt::format("node {}: an edge list cannot hold a name of two lines; write JSON", in_quotes(name)));
    if (letter == '"' || letter == '\\') text += '\\';
    text += letter;
  }
  return text + '"';
}

std::string write_edges(const Topology& topology) {
  std::string text = fmt::format("topology {}\n", edges_name(topology.name()));
  if (!topology.sides().empty())
    text += fmt::format("grid {} {}\n", fmt::join(topology.sides(), "x"), topology.wraps() ? "wraps" : "open");
  for (NodeId node = 0; node < topology.nodes(); ++node)
    text += fmt::format("{} {}\n", topology.is_host(node) ? "host" : "switch", edges_name(topology.node_name(node)));
  const std::span<const Link> links = topology.links();
  for (std::size_t i = 0; i < links.size(); ++i) {
    const bool cable = i + 1 < links.size() && is_other_direction(links[i], links[i + 1]);
    text += fmt::format("{} {} {} {} {}\n", edges_name(topology.node_name(links[i].tail)), cable ? "--" : "->",
                        edges_name(topology.node_name(links[i].head)), links[i].bandwidth, links[i].latency);
    if (cable) ++i;
  }
  return text;
}

}  // namespace

Format edges_format() {
  return {"edges",    "edge list: A B [BANDWIDTH [LATENCY]]", "bandwidth=25Gbps latency=1us", is_edges, read_edges,
          write_edges};
}

}  // namespace colltopo::import
