#include "cli/command.h"

#include <sys/resource.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <limits>
#include <sstream>

#include <fmt/format.h>

#include "base/lines.h"
#include "base/numbers.h"
#include "base/plain.h"
#include "base/read_file.h"
#include "base/replace_file.h"
#include "colltopo/error.h"
#include "colltopo/formats.h"
#include "colltopo/import.h"
#include "colltopo/text.h"
#include "colltopo/verify_symmetric.h"

namespace colltopo::cli {

namespace {

std::string plain(const nlohmann::ordered_json& value) {
  if (value.is_string()) return value.get<std::string>();
  if (value.is_boolean()) return value.get<bool>() ? "yes" : "no";
  if (value.is_number_float()) return fmt::format("{:.6g}", value.get<double>());
  return value.dump();
}

bool is_file(const std::string& path) {
  std::error_code ignored;
  return std::filesystem::exists(path, ignored);
}

}  // namespace

CLI::App* subcommand(CLI::App& app, Session& session, const std::string& name, const std::string& about) {
  CLI::App* command = app.add_subcommand(name, about);
  command->add_flag("--json", session.json, "Print one JSON object on standard output and nothing else there");
  return command;
}

Report& Report::add(const std::string& name, nlohmann::ordered_json value, std::string text) {
  std::string label = name;
  std::replace(label.begin(), label.end(), '_', ' ');
  for (const std::string_view unit : {" bytes", " GBps"})  // the text for people has its own unit
    if (label.ends_with(unit)) label.resize(label.size() - unit.size());
  lines_.emplace_back(std::move(label), text.empty() ? plain(value) : std::move(text));
  return add_hidden(name, std::move(value));
}

Report& Report::add_hidden(const std::string& name, nlohmann::ordered_json value) {
  values_[name] = std::move(value);
  return *this;
}

std::string Report::text() const {
  std::size_t width = 0;
  for (const auto& [label, value] : lines_) width = std::max(width, label.size());
  std::string all;
  for (const auto& [label, value] : lines_) all += fmt::format("{:<{}}  {}\n", label, width, plain_lines(value));
  return all;
}

std::string json_text(const nlohmann::ordered_json& value) {
  // Names come from others' files and arguments, which need not be UTF-8; dump() would throw.
  return value.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

CLI::Validator number(double least, double most) {
  return {[least, most](const std::string& text) -> std::string {
            double value = 0;
            if (parse_number(text, value) && value >= least && value <= most) return "";
            const std::string range = std::isfinite(most) ? fmt::format("from {:.10g} to {:.10g}", least, most)
                                                          : fmt::format("of {:g} or more", least);
            return fmt::format("{}; expected a number {}", colltopo::in_quotes(text), range);
          },
          ""};
}

std::string Report::json() const { return json_text(values_); }

void Report::print(const Session& session, const std::string& output) const {
  if (session.json)
    std::cout << json();
  else
    (output == "-" ? std::cerr : std::cout) << text();
}

std::string input_name(const std::string& path) { return path == "-" ? "standard input" : path; }

std::string file_contents(const std::string& path) { return read_file_or_pipe(path); }

void write_output(const std::string& path, const std::string& contents, const Session& session) {
  if (path == "-") {
    if (session.json) throw Error("-o - with --json: standard output cannot take both; give -o a file");
    std::cout << contents;
    return end_output();
  }
  replace_file(path, contents);
}

void end_output() {
  std::cout.flush();
  if (!std::cout) throw Error("standard output: cannot be written");
}

Topology topology_argument(const std::string& argument, const std::string& format) {
  constexpr std::string_view k_switches = "switches:";
  const bool is_switch_list = argument.starts_with(k_switches);
  const std::string path = is_switch_list ? argument.substr(k_switches.size()) : argument;
  if (const std::size_t end = end_of_file_name(path); end > 0 && end < path.size())
    return modified(topology_argument(argument.substr(0, argument.size() - path.size() + end), format),
                    path.substr(end + 1), argument);
  if (is_switch_list || path == "-" || is_file(path))
    return import_topology(file_contents(path), input_name(path), format);
  if (!format.empty()) throw Error(fmt::format("{}: no such file; --format is for topology files", argument));
  return topology_of(argument);
}

void add_without(CLI::App& command, std::vector<Breakage>& without) {
  command
      .add_option("--without", without,
                  "What is broken, by its names in TOPO: link A-B (all between the two, both ways) or host A; may be "
                  "given again")
      ->type_name("KIND NAME");
}

Topology topology_argument(const std::string& argument, const std::vector<Breakage>& without,
                           const std::string& format) {
  std::vector<std::string> links, hosts;
  for (const auto& [kind, name] : without) {
    if (kind != "link" && kind != "host")
      throw Error(fmt::format("--without {} {}; expected link A-B or host A", kind, name));
    (kind == "link" ? links : hosts).push_back(name);
  }
  Topology topology = topology_argument(argument, format);
  if (!hosts.empty()) topology = without_hosts(topology, hosts);
  if (!links.empty()) topology = without_links(topology, links);
  return topology;
}

void add_schedule_format(CLI::App& command, std::string& format) {
  command.add_option("--format", format, "Format of the schedule file; otherwise its contents tell")
      ->check(CLI::IsMember({"text", "msccl-xml"}));
}

Schedule schedule_argument(const std::string& path, const std::string& format, const std::string& on) {
  return schedule_in(file_contents(path), input_name(path), format, on);
}

std::optional<SymmetricSchedule> symmetric_in(const std::string& contents, const std::string& name) {
  // The header's last line; a header has a dozen lines.
  constexpr std::size_t k_most_header = 1 << 16;
  if (!contents.starts_with("topo-schedule ")) return {};
  const std::string_view head = std::string_view(contents).substr(0, k_most_header);
  const std::size_t orbits = head.find("\norbits "), symmetry = head.find("\nsymmetry ");
  if (orbits == std::string_view::npos || symmetry == std::string_view::npos || symmetry < orbits) return {};
  std::istringstream in(contents);
  return read_symmetric(in, name);
}

Schedule schedule_in(const std::string& contents, const std::string& name, const std::string& format,
                     const std::string& on) {
  const std::optional<SymmetricSchedule> symmetric = symmetric_in(contents, name);
  if (!symmetric) return read_any_schedule(contents, name, format);
  if (symmetric->shape.ranks > k_most_ranks_expanded)
    throw Error(
        fmt::format("{}: {} ranks of a symmetric schedule; at most {} are written out whole, but verify, cost, "
                    "draw --on and routes --host take it as it is",
                    name, symmetric->shape.ranks, k_most_ranks_expanded));
  const std::vector<Violation> violations = verify_symmetric(*symmetric);
  if (!violations.empty()) throw Error(fmt::format("{}: {}", name, to_string(violations.front())));
  return expanded(*symmetric, topology_of_schedule(*symmetric, on));
}

namespace {

/// `schedule`: one kind or the other.
template <class AnySchedule>
Topology topology_of_any(const AnySchedule& schedule, const std::string& on) {
  if (!on.empty()) return topology_argument(on);
  if (schedule.topology_name.empty())
    throw Error(fmt::format("{}: the file does not say what it was made for; expected --on TOPO", schedule.name));
  try {
    Topology topology = topology_argument(schedule.topology_name);
    if (fingerprint(topology) == schedule.topology) return topology;
    throw Error(
        fmt::format("its fingerprint is {} now; the file was made for {}", fingerprint(topology), schedule.topology));
  } catch (const Error& error) {
    throw Error(fmt::format("{}: made for {}: {}; --on TOPO says where that topology is", schedule.name,
                            in_quotes(schedule.topology_name), error.what()));
  }
}

}  // namespace

Topology topology_of_schedule(const Schedule& schedule, const std::string& on) { return topology_of_any(schedule, on); }

Topology topology_of_schedule(const SymmetricSchedule& schedule, const std::string& on) {
  return topology_of_any(schedule, on);
}

std::vector<int> sides_argument(const std::string& dimensions, const Topology& topology, std::vector<int> own) {
  std::vector<int> sides = std::move(own);
  if (!dimensions.empty()) {
    const Topology torus = topology_of("torus:" + dimensions);
    if (torus.hosts() != topology.hosts())
      throw Error(fmt::format("--dimensions {} are a torus of {} ranks; {} has {} hosts", dimensions, torus.hosts(),
                              topology.name(), topology.hosts()));
    sides = torus.sides();
  }
  std::erase(sides, 1);
  return sides;
}

Collective collective_argument(const std::string& name) {
  const auto collective = collective_named(name);
  if (collective) return *collective;
  throw Error(fmt::format("collective {} is unknown; expected one of: {}", in_quotes(name), collective_names(" ")));
}

Collective call_argument(const std::string& name) {
  const auto call = call_named(name);
  if (call) return *call;
  throw Error(fmt::format("collective {} is unknown; expected one of: {}", in_quotes(name), call_names(" ")));
}

std::vector<std::size_t> bytes_argument(const std::string& list) {
  std::vector<std::size_t> all;
  std::istringstream in(list);
  for (std::string item; std::getline(in, item, ',');) {
    std::size_t value = 0;
    const char* const end = item.data() + item.size();
    auto [rest, error] = std::from_chars(item.data(), end, value);
    std::size_t unit = 1;
    if (error == std::errc{} && rest + 1 == end) {
      const std::size_t place = std::string_view("KMG").find(*rest);
      if (place != std::string_view::npos) {
        unit = std::size_t{1} << (10 * (place + 1));
        ++rest;
      }
    }
    if (error != std::errc{} || rest != end || value > std::numeric_limits<std::size_t>::max() / unit)
      throw Error(fmt::format("bytes {}; expected whole numbers with K, M or G, separated by commas", in_quotes(item)));
    all.push_back(value * unit);
  }
  if (all.empty()) throw Error(fmt::format("bytes {}; expected at least one number", in_quotes(list)));
  return all;
}

long peak_memory_bytes() {
  struct rusage usage = {};
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_maxrss * 1024;
}

std::string peak_memory_text() { return fmt::format("{:.1f} MiB", static_cast<double>(peak_memory_bytes()) / 1048576); }

std::string counted(std::size_t count, const std::string& noun) {
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

}  // namespace colltopo::cli
