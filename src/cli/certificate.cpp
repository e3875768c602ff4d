// Writing and reading lengths.
#include "cli/certificate.h"

#include <charconv>
#include <cmath>
#include <sstream>

#include <fmt/format.h>

#include "base/lines.h"
#include "cli/command.h"
#include "colltopo/error.h"

namespace colltopo::cli {

namespace {

constexpr const char* k_lengths_head = "link,tail,head,length";

/// A name as a field of a CSV file.
std::string field(const std::string& name) {
  if (name.find_first_of(",\"\n") == std::string::npos) return name;
  std::string quoted = "\"";
  for (const char letter : name) quoted += letter == '"' ? "\"\"" : std::string(1, letter);
  return quoted + '"';
}

bool parse_finite(std::string_view text, double& value) {
  const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc{} && rest == text.data() + text.size() && std::isfinite(value);
}

}  // namespace

std::string line_start(const Topology& topology, LinkId id) {
  const Link& link = topology.link(id);
  return fmt::format("{},{},{},", id, field(topology.node_name(link.tail)), field(topology.node_name(link.head)));
}

std::string lengths_file(const Topology& topology, const FlowBound& bound) {
  std::string file =
      fmt::format("# alltoall on {}: 1/F >= {:.17g}\n{}\n", fingerprint(topology), bound.time_lower, k_lengths_head);
  for (LinkId link = 0; link < static_cast<LinkId>(bound.lengths.size()); ++link)
    file += fmt::format("{}{:.17g}\n", line_start(topology, link), bound.lengths[static_cast<std::size_t>(link)]);
  return file;
}

Certificate read_certificate(const std::string& path, const Topology& topology) {
  std::istringstream in(file_contents(path));
  Certificate certificate;
  std::string line;
  std::size_t number = 0;
  const auto fault = [&](const std::string& expectation) {
    return Error(fmt::format("{}:{}: {}; expected {}", input_name(path), number, in_quotes(line), expectation));
  };
  const auto next = [&] {
    line.clear();
    ++number;
    std::getline(in, line);
  };
  next();
  const std::string start = fmt::format("# alltoall on {}: 1/F >= ", fingerprint(topology));
  if (!line.starts_with(start) || !parse_finite(std::string_view(line).substr(start.size()), certificate.claim))
    throw fault(fmt::format("'{}' and a number: lengths for {}", start, topology.name()));
  next();
  if (line != k_lengths_head) throw fault(fmt::format("'{}'", k_lengths_head));
  for (LinkId link = 0; link < static_cast<LinkId>(topology.links().size()); ++link) {
    next();
    const std::string ends = line_start(topology, link);
    double length = 0;
    if (!line.starts_with(ends) || !parse_finite(std::string_view(line).substr(ends.size()), length) || length < 0)
      throw fault(fmt::format("'{}' and a length of 0 or more", ends));
    certificate.lengths.push_back(length);
  }
  next();
  if (!line.empty()) throw fault(fmt::format("the end: {} has {} links", topology.name(), topology.links().size()));
  return certificate;
}

}  // namespace colltopo::cli
