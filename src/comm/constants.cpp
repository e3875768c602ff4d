#include "comm/constants.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <limits>
#include <mutex>
#include <sstream>

#include "base/file_lock.h"
#include "base/json.h"
#include "base/json_number.h"
#include "base/lines.h"
#include "base/numbers.h"
#include "base/read_file.h"
#include "base/trusted_file.h"
#include "colltopo/colltopo.h"
#include "colltopo/error.h"
#include "colltopo/node_network.h"
#include "comm/agreement.h"
#include "comm/forced.h"

namespace colltopo {

namespace {

using Json = nlohmann::ordered_json;

constexpr std::string_view k_line = "constants ";
constexpr std::string_view k_times = " times";
constexpr std::string_view k_from = " from ";
constexpr std::string_view k_fallback = "fallback:";
constexpr const char* k_cut = "bandwidth_cut";

constexpr std::array<ConstantName, 8> k_names = {{{"latency_node", &Machine::latency_node, false},
                                                  {"latency_network", &Machine::latency_network, false},
                                                  {"latency_hop", &Machine::latency_hop, false},
                                                  {"message_overhead", &Machine::overhead, false},
                                                  {"bandwidth_node", &Machine::bandwidth_node, true},
                                                  {"bandwidth_network", &Machine::bandwidth_network, true},
                                                  {"bandwidth_copy", &Machine::bandwidth_copy, true},
                                                  {"bandwidth_reduce", &Machine::bandwidth_reduce, true}}};

// Asked for each name at every communicator's first call: a stream of lines would be most of that call.
bool is_given(const Settings& settings, std::string_view name) {
  const std::string_view lines = settings.canonical;
  for (std::size_t at = lines.find(name); at != lines.npos; at = lines.find(name, at + 1)) {
    const std::size_t end = at + name.size();
    if ((at == 0 || lines[at - 1] == '\n') && end < lines.size() && lines[end] == '=') return true;
  }
  return false;
}

// What a user sets goes before what was measured: a fit would take it back.
bool sets_prices(const Settings& settings) {
  return settings.group.size > 0 || settings.values != CollectiveValues{} ||
         std::ranges::any_of(k_names, [&](const ConstantName& name) { return is_given(settings, name.name); });
}

bool same_key(const ConstantsRecord& a, const ConstantsRecord& b) {
  return a.hosts == b.hosts && a.ranks_per_host == b.ranks_per_host && a.transport == b.transport &&
         a.version == b.version && (a.library == b.library || a.library.empty() || b.library.empty());
}

// Both known, and not the same.
bool of_other_library(const ConstantsRecord& record, std::string_view library) {
  return !library.empty() && !record.library.empty() && record.library != library;
}

/// Names that another version knows are kept: its records stay in the file.
ConstantsRecord::Times times_from(const Json& json) {
  ConstantsRecord::Times times;
  json.at("collective").get_to(times.collective);
  json.at("algorithm").get_to(times.algorithm);
  times.component = json.value("component", "");
  const auto read = [&](const Json& all, double least, const char* what, std::map<std::size_t, double>& to) {
    for (const auto& [bytes, value] : all.items()) {
      std::size_t size = 0;
      if (!parse_number(bytes, size) || !value.is_number() || value.get<double>() < least)
        throw Error(fmt::format("{} of {} bytes: {}; must be {}", in_quotes(times.algorithm), in_quotes(bytes),
                                shown(value), what));
      to[size] = value.get<double>();
    }
  };
  read(json.at("seconds"), std::numeric_limits<double>::min(), "seconds above 0", times.seconds);
  read(json.value("errors", Json::object()), 0, "a part of its time, 0 or more", times.errors);
  return times;
}

ConstantsRecord record_from(const Json& json) {
  ConstantsRecord record;
  json.at("hosts").get_to(record.hosts);
  record.ranks_per_host = whole_number_of<int>(json.at("ranks_per_host"), "ranks_per_host");
  json.at("transport").get_to(record.transport);
  json.at("version").get_to(record.version);
  record.library = json.value("library", "");
  json.at("constants").get_to(record.constants);
  json.at("alone").get_to(record.alone);
  record.seconds = json.value("seconds", 0.0);
  for (const Json& times : json.value("times", Json::array())) record.times.push_back(times_from(times));
  if (json.contains("places")) record.places = whole_number_of<long long>(json["places"], "places");
  record.by_lanes = json.value("by_lanes", false);
  std::ranges::sort(record.hosts);
  for (const auto& [name, value] : record.constants)
    if (!std::isfinite(value) || value <= 0) throw Error(fmt::format("{} is {}; must be above 0", name, value));
  return record;
}

std::string number_text(const SourcedConstant& constant) {
  return constant.is_rate ? fmt::format("{} {:.3g} GB/s", constant.name, constant.value * 1e-9)
                          : fmt::format("{} {:.3g} us", constant.name, constant.value * 1e6);
}

}  // namespace

nlohmann::ordered_json json_of(const ConstantsRecord& record) {
  Json times = Json::array();
  for (const ConstantsRecord::Times& one : record.times) {
    Json seconds = Json::object(), errors = Json::object();
    for (const auto& [bytes, taken] : one.seconds) seconds[std::to_string(bytes)] = taken;
    for (const auto& [bytes, error] : one.errors) errors[std::to_string(bytes)] = error;
    Json row = {{"collective", one.collective}, {"algorithm", one.algorithm}, {"seconds", seconds}, {"errors", errors}};
    if (!one.component.empty()) row["component"] = one.component;
    times.push_back(std::move(row));
  }
  return {{"hosts", record.hosts},         {"ranks_per_host", record.ranks_per_host},
          {"transport", record.transport}, {"version", record.version},
          {"library", record.library},     {"constants", record.constants},
          {"alone", record.alone},         {"times", times},
          {"places", record.places},       {"by_lanes", record.by_lanes},
          {"seconds", record.seconds}};
}

std::span<const ConstantName> constant_names() { return k_names; }

std::string default_constants_path() {
  const char* const cache = std::getenv("XDG_CACHE_HOME");
  if (cache != nullptr && *cache != '\0') return std::string(cache) + "/colltopo/constants.json";
  const char* const home = std::getenv("HOME");
  return home == nullptr || *home == '\0' ? "" : std::string(home) + "/.cache/colltopo/constants.json";
}

std::string transport_of_environment() {
  std::string text;
  for (const auto& [variable, word] : {std::pair{"OMPI_MCA_pml", "pml"}, {"OMPI_MCA_btl", "btl"}, {"UCX_TLS", "ucx"}}) {
    const char* const value = std::getenv(variable);
    if (value != nullptr && *value != '\0') text += fmt::format("{}{} {}", text.empty() ? "" : ", ", word, value);
  }
  return text.empty() ? "default" : text;
}

std::string this_version() { return colltopo_version(); }

std::string without_domain(std::string host) {
  host.resize(std::min(host.size(), host.find('.')));
  return host;
}

namespace {

std::vector<ConstantsRecord> records_in(const std::string& text, const std::string& path) {
  const Json json = read_json<Json>(text, path, k_constants_file.expected);
  try {
    std::vector<ConstantsRecord> records;
    for (const Json& one : json.at("colltopo_constants")) records.push_back(record_from(one));
    return records;
  } catch (const std::exception& error) {
    throw Error(fmt::format("{}: no file of constants ({}); colltopo-probe writes them", path, error.what()));
  }
}

std::string records_text(const std::vector<ConstantsRecord>& records) {
  Json list = Json::array();
  for (const ConstantsRecord& one : records) list.push_back(json_of(one));
  return Json{{"colltopo_constants", list}}.dump(1) + '\n';
}

std::string with_record(std::vector<ConstantsRecord> records, ConstantsRecord record) {
  const auto before =
      std::ranges::find_if(records, [&](const ConstantsRecord& other) { return same_key(other, record); });
  if (before != records.end() && record.times.empty()) {
    record.times = before->times;
    record.places = before->places;
    record.by_lanes = before->by_lanes;
  }
  std::erase_if(records, [&](const ConstantsRecord& other) { return same_key(other, record); });
  records.insert(records.begin(), std::move(record));
  return records_text(records);
}

}  // namespace

std::vector<ConstantsRecord> read_constants(const std::string& path) {
  const std::optional<std::string> text = read_file_if_there(path, k_constants_file);
  return text ? records_in(*text, path) : std::vector<ConstantsRecord>();
}

void write_constants(const std::string& path, ConstantsRecord record) {
  std::error_code ignored;
  const std::filesystem::path folder = std::filesystem::path(path).parent_path();
  if (!folder.empty()) std::filesystem::create_directories(folder, ignored);
  std::ranges::sort(record.hosts);
  try {
    change_file(path, k_constants_file, [&](const std::string& before) {
      return with_record(before.empty() ? std::vector<ConstantsRecord>() : records_in(before, path), record);
    });
  } catch (const Error& error) {
    throw Error(fmt::format("{}; the constants are lost", error.what()));
  }
}

std::size_t forget_constants(const std::string& path, const std::string& host) {
  std::size_t gone = 0;
  if (read_constants(path).empty()) return gone;  // and no file is made
  change_file(path, k_constants_file, [&](const std::string& before) {
    std::vector<ConstantsRecord> records = records_in(before, path);
    gone = std::erase_if(records, [&](const ConstantsRecord& record) {
      return host.empty() || std::ranges::find(record.hosts, without_domain(host)) != record.hosts.end();
    });
    return records_text(records);
  });
  return gone;
}

const ConstantsRecord* fitting(std::span<const ConstantsRecord> records, const std::vector<std::string>& hosts,
                               int ranks_per_host, std::string_view library) {
  const ConstantsRecord* best = nullptr;
  const auto apart = [&](const ConstantsRecord& record) {
    return std::abs(std::log(static_cast<double>(record.ranks_per_host) / ranks_per_host));
  };
  const auto rank = [&](const ConstantsRecord& record) {
    return std::pair(of_other_library(record, library), apart(record));
  };
  for (const ConstantsRecord& record : records) {
    const bool has_all = std::ranges::all_of(
        hosts, [&](const std::string& host) { return std::ranges::binary_search(record.hosts, host); });
    if (!has_all || record.version != this_version() || record.transport != transport_of_environment()) continue;
    if (best == nullptr || rank(record) < rank(*best)) best = &record;
  }
  return best;
}

namespace {

bool is_of_a_name(char c) { return c == '_' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z'); }

// "tra", "tra:radix=4", or "fallback:tuned".
std::optional<MeasuredRow> row_named(std::string_view collective, std::string_view algorithm) {
  const auto of = collective_named(collective);
  if (of && algorithm.starts_with(k_fallback)) {
    const std::string component(algorithm.substr(k_fallback.size()));
    if (component.empty() || !std::ranges::all_of(component, is_of_a_name)) return std::nullopt;
    return MeasuredRow{*of, nullptr, {}, component};
  }
  if (!of) return std::nullopt;
  try {
    Forced named = forced_from("a measured algorithm", *of, algorithm);
    if (named.kind != Forced::Kind::algorithm) return std::nullopt;
    return MeasuredRow{*of, named.algorithm, {}, {}, std::move(named.values)};
  } catch (const Error&) {
    return std::nullopt;  // of another version
  }
}

std::string row_name(const ConstantsRecord::Times& times) {
  return times.algorithm + (times.component.empty() ? "" : ":" + times.component);
}

/// " times alltoall/tra/8/1.2e-05/0.02/16384/0.0012/1 ...": words without spaces, of algorithms that this version has.
std::string times_text(const ConstantsRecord& record) {
  std::string text;
  for (const ConstantsRecord::Times& one : record.times) {
    if (!row_named(one.collective, row_name(one)) || one.seconds.empty()) continue;
    text += fmt::format(" {}/{}", one.collective, row_name(one));
    for (const auto& [bytes, seconds] : one.seconds) {
      const auto error = one.errors.find(bytes);
      text += fmt::format("/{}/{:.4g}/{:.2g}", bytes, seconds, error == one.errors.end() ? 1 : error->second);
    }
  }
  return text.empty() ? "" : std::string(k_times) + text;
}

struct KnownFile {
  std::vector<ConstantsRecord> records;
  std::vector<std::string> times;  // [record] text
  std::string distrust;            // why one that nobody named does not count
};

std::string distrust_of_found(const std::string& path) {
  std::error_code error;
  if (!std::filesystem::exists(path, error)) return "";
  return distrust_of(path);
}

// A process reads a file once.
const KnownFile& known_file(const std::string& path, bool named) {
  static auto* const mutex = new std::mutex;  // communicators may be made on any thread, and end after static objects
  static auto* const known = new std::map<std::string, KnownFile>;
  const std::lock_guard lock(*mutex);
  if (const auto found = known->find(path); found != known->end()) return found->second;
  KnownFile file;
  file.distrust = named ? "" : distrust_of_found(path);
  if (file.distrust.empty()) file.records = read_constants(path);
  for (const ConstantsRecord& record : file.records) file.times.push_back(times_text(record));
  return known->emplace(path, std::move(file)).first->second;
}

MeasuredRows rows_in(const std::string& times) {
  std::vector<MeasuredRow> rows;
  std::istringstream words(times);
  for (std::string word; words >> word;) {
    const std::vector<std::string> parts = split_at(word, '/');
    std::optional<MeasuredRow> row = parts.size() < 2 ? std::nullopt : row_named(parts[0], parts[1]);
    if (!row) continue;
    for (std::size_t i = 2; i + 2 < parts.size(); i += 3) {
      MeasuredRow::Time time;
      if (parse_number(parts[i], time.bytes) && parse_number(parts[i + 1], time.seconds) &&
          parse_number(parts[i + 2], time.error))
        row->times.push_back(time);
    }
    if (!row->times.empty()) rows.push_back(*std::move(row));
  }
  return rows.empty() ? nullptr : std::make_shared<const std::vector<MeasuredRow>>(std::move(rows));
}

}  // namespace

long long places_of(std::span<const int> node_of) { return checksum_of(node_of); }

bool has_constants(const Settings& settings) {
  if (settings.constants != "auto") return settings.constants != "off";
  const std::string path = default_constants_path();
  if (path.empty()) return false;
  const KnownFile& file = known_file(path, false);
  if (!file.distrust.empty())
    throw Error(fmt::format("{} {}; coll_topo_constants does not name it, so it does not count", path, file.distrust));
  return !file.records.empty();
}

std::string constants_line(const Settings& settings, const std::vector<std::string>& hosts, const Placement& placement,
                           std::string_view library) {
  if (!has_constants(settings)) return "";
  const bool named = settings.constants != "auto";
  const std::string path = named ? settings.constants : default_constants_path();
  const KnownFile& file = known_file(path, named);
  const ConstantsRecord* record = fitting(file.records, hosts, placement.ranks_per_node(), library);
  if (record == nullptr) {
    if (!named) return "";
    throw Error(fmt::format("{}: no record of {} hosts from {} on, transport {}, version {}; colltopo-probe makes one",
                            path, hosts.size(), hosts.empty() ? "?" : hosts.front(),
                            in_quotes(transport_of_environment()), this_version()));
  }
  std::map<std::string, double> constants = record->constants;
  // Of a network that is not known, what all nodes get through its middle at once.
  if (const auto cut = constants.find(k_cut); cut != constants.end() && settings.topology.empty())
    constants["bandwidth_network"] = cut->second;
  std::string line(k_line);
  for (const ConstantName& name : k_names)
    if (const auto found = constants.find(name.name); found != constants.end())
      line += fmt::format("{}={:.6g} ", name.name, found->second);
  line.pop_back();
  if (!of_other_library(*record, library) && record->places == places_of(placement.node_of) &&
      record->by_lanes == settings.own_lanes && !sets_prices(settings))
    line += file.times[static_cast<std::size_t>(record - file.records.data())];
  return line + std::string(k_from) + path + (record->library.empty() ? "" : ", " + record->library);
}

bool is_constants_line(const std::string& line) { return line.starts_with(k_line); }

Machine machine_with(const Settings& settings, const std::string& line, const LinkConstants& links,
                     std::vector<SourcedConstant>* sources) {
  Machine machine = settings.machine;
  const Machine on = machine_on(links, machine);
  std::map<std::string, double> measured;
  std::string path;
  if (is_constants_line(line)) {
    const std::size_t end = line.find(k_from);
    path = line.substr(end + k_from.size());
    std::istringstream words(line.substr(k_line.size(), std::min(end, line.find(k_times)) - k_line.size()));
    for (std::string word; words >> word;) {
      const std::size_t equals = word.find('=');
      parse_number(std::string_view(word).substr(equals + 1), measured[word.substr(0, equals)]);
    }
  }
  for (const ConstantName& name : k_names) {
    std::string source = "default";
    const auto found = measured.find(name.name);
    if (is_given(settings, name.name)) {
      source = "setting";
    } else if (found != measured.end()) {
      machine.*name.field = found->second;
      source = "measured, " + path;
    } else if (on.*name.field != machine.*name.field) {
      machine.*name.field = on.*name.field;
      source = "topology";
    }
    if (sources != nullptr) sources->push_back({name.name, machine.*name.field, source, name.is_rate});
  }
  return machine;
}

MeasuredRows measured_rows(const std::string& line) {
  const std::size_t begin = line.find(k_times), end = line.find(k_from);
  if (!is_constants_line(line) || begin >= end) return nullptr;
  // The same line comes with every communicator.
  constexpr std::size_t k_most_known = 16;
  static auto* const mutex = new std::mutex;
  static auto* const known = new std::map<std::string, MeasuredRows, std::less<>>;
  const std::string times = line.substr(begin + k_times.size(), end - begin - k_times.size());
  const std::lock_guard lock(*mutex);
  if (const auto found = known->find(times); found != known->end()) return found->second;
  if (known->size() == k_most_known) known->clear();
  return known->emplace(times, rows_in(times)).first->second;
}

std::size_t measured_algorithms(const MeasuredRows& measured) {
  if (measured == nullptr) return 0;
  const auto is_one = [](const MeasuredRow& row) { return row.algorithm != nullptr && row.values.all().empty(); };
  return static_cast<std::size_t>(std::ranges::count_if(*measured, is_one));
}

std::string error_text(const MeasuredRows& measured, std::optional<double> error) {
  if (measured == nullptr)
    return "prices are not fitted: no times of algorithms were measured on ranks that lie like these";
  const std::string rows =
      fmt::format("prices are fitted to the measured times of {} algorithms", measured_algorithms(measured));
  return error ? fmt::format("{}; half of them are expected to be off by less than {:.0f}%", rows, 100 * *error) : rows;
}

std::string text_of(const std::vector<SourcedConstant>& constants) {
  std::string text;
  for (std::size_t i = 0; i < constants.size(); ++i) {
    const bool last_of_source = i + 1 == constants.size() || constants[i + 1].source != constants[i].source;
    text += number_text(constants[i]);
    text += last_of_source ? fmt::format(" ({}){}", constants[i].source, i + 1 == constants.size() ? "" : "; ") : ", ";
  }
  return text;
}

}  // namespace colltopo
