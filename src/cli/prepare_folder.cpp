// The folder of `colltopo prepare` on disk.
#include <unistd.h>

#include <filesystem>

#include <fmt/format.h>

#include "base/file_lock.h"
#include "base/json.h"
#include "base/replace_file.h"
#include "base/trusted_file.h"
#include "cli/certificate.h"
#include "cli/prepare.h"
#include "colltopo/error.h"
#include "colltopo/routed.h"
#include "colltopo/text.h"
#include "prepare/page.h"

namespace colltopo::cli {

namespace {

using Json = nlohmann::ordered_json;

constexpr const char* k_report = "prepared.json";
constexpr const char* k_topology = "topology.json";
constexpr const char* k_network = "network-of-ranks.json";
constexpr const char* k_lengths = "lengths.csv";
// Tables beyond this are hundreds of megabytes of text.
constexpr std::size_t k_most_linux_entries = 1'000'000;
constexpr std::size_t k_most_json_entries = 4'000'000;
constexpr std::chrono::minutes k_folder_wait{10};  // for another run that writes the same folder

/// A file of the folder by a name of ours: whoever reads meanwhile reads the old one or the new one, and a link that
/// stands in its place is replaced, not followed.
template <typename Write>
void write_file(const std::string& path, const Write& write) {
  FileDraft draft(path, FinalLink::replace);
  write(draft.out());
  draft.replace();
}

/// Not a folder, and not what a link leads to.
void remove_file(const std::string& path) { unlink(path.c_str()); }

/// As folder.cpp of src/prepare names files: what else a report names is nobody's to remove or to read.
bool is_name_of_ours(const std::string& file) {
  return is_plain_file_name(file) && file.ends_with(".sched") &&
         collective_named(file.substr(0, file.find('-'))).has_value();
}

Json intervals_json(const std::vector<prepare::Interval>& intervals) {
  Json list = Json::array();
  for (const prepare::Interval& interval : intervals) {
    const bool last = interval.most == std::numeric_limits<std::size_t>::max();
    list.push_back({{"from_bytes", interval.least},
                    {"to_bytes", last ? Json(nullptr) : Json(interval.most)},
                    {"algorithm", interval.offer == nullptr ? "auto" : interval.offer->choice},
                    {"kind", interval.offer == nullptr ? "model" : std::string(name(interval.offer->kind))}});
  }
  return list;
}

Json seconds_json(double seconds) { return seconds >= 0 ? Json(seconds) : Json(nullptr); }
Json name_json(const prepare::Offer* offer) { return offer == nullptr ? Json(nullptr) : Json(offer->name); }

Json plan_json(const prepare::CollectivePlan& plan) {
  Json sizes = Json::array();
  for (const prepare::SizeRow& row : plan.sizes)
    sizes.push_back({{"bytes", row.bytes},
                     {"open_mpi", row.previous},
                     {"open_mpi_s", seconds_json(row.previous_s)},
                     {"model", row.model},
                     {"model_s", seconds_json(row.model_s)},
                     {"as_is", name_json(row.as_is)},
                     {"as_is_s", seconds_json(row.as_is_s)},
                     {"with_tables", name_json(row.with_tables)},
                     {"with_tables_s", seconds_json(row.with_tables_s)},
                     {"lower_bound_s", row.bound_s}});
  Json offers = Json::array();
  for (const prepare::Offer& offer : plan.offers) {
    const prepare::Priced& price = offer.with_tables ? *offer.with_tables : *offer.as_is;
    offers.push_back({{"name", offer.name},
                      {"kind", std::string(name(offer.kind))},
                      {"busiest_link_s_per_byte", price.found().busiest_link_s_per_byte}});
  }
  return {{"collective", std::string(name(plan.collective))},
          {"bound_s_per_byte", plan.bound.seconds_per_byte},
          {"bound_is_optimum", plan.bound.optimum},
          {"as_is", intervals_json(plan.as_is)},
          {"with_tables", intervals_json(plan.with_tables)},
          {"offers", offers},
          {"sizes", sizes}};
}

/// The routes of the flow, as a schedule to begin with next time, unless they stand in a file already.
const prepare::FiledSchedule* flow_of(const prepare::Prepared& prepared) {
  for (const prepare::FiledSchedule& filed : prepared.files)
    if (filed.offer->name == "mcf") return &filed;
  return nullptr;
}

void write_tables(const prepare::Prepared& prepared, const std::string& folder, WrittenFolder& written) {
  const std::string json = folder + "/routes.json", script = folder + "/routes.sh";
  if (prepared.planes == 0) return;
  const Topology& network = prepared.ground.network;
  Schedule routes;
  const ForwardingTables tables = tables_of(prepared, &routes);
  if (tables.entries() <= k_most_json_entries) {
    write_file(json, [&](std::ostream& out) { write_json_routes(out, routes, network, tables); });
    written.json_tables = true;
  }
  if (tables.entries() > k_most_linux_entries || !prepared.ground.one_per_host()) return;
  write_file(script, [&](std::ostream& out) { write_linux_routes(out, routes, network, tables, {}); });
  written.linux_tables = true;
}

}  // namespace

Json json_of(const prepare::Prepared& prepared) {
  Json files = Json::array(), collectives = Json::array();
  for (const prepare::FiledSchedule& filed : prepared.files)
    files.push_back({{"file", filed.file},
                     {"collective", std::string(name(filed.offer->collective))},
                     {"kind", std::string(name(filed.offer->kind))},
                     {"steps", filed.schedule.steps()},
                     {"chunks", filed.schedule.shape.chunks},
                     {"routes", filed.schedule.routes.size()},
                     {"layers", filed.layers}});
  for (const prepare::CollectivePlan& plan : prepared.plans) collectives.push_back(plan_json(plan));
  return {{"topology", prepared.ground.network.name()},
          {"fingerprint", fingerprint(prepared.ground.network)},
          {"hosts", prepared.ground.machine.hosts()},
          {"ranks", prepared.ground.ranks()},
          {"planes", prepared.planes},
          {"files", files},
          {"proved", prepared.proved},
          {"collectives", collectives}};
}

Earlier earlier_in(const std::string& folder, const Topology& network) {
  Earlier earlier;
  const std::string report = folder + "/" + k_report;
  std::error_code error;
  if (!std::filesystem::exists(report, error)) return earlier;
  if (const std::string why = distrust_of(report); !why.empty()) {
    earlier.remark = fmt::format("nothing: {} {}; all is made and proved anew", report, why);
    return earlier;
  }
  try {
    const Json json = read_json<Json>(file_contents(report), report, "what colltopo prepare writes");
    if (json.at("version") != COLLTOPO_VERSION) return earlier;
    for (const Json& file : json.at("files"))
      if (const auto name = file.at("file").get<std::string>(); is_name_of_ours(name)) earlier.files.insert(name);
    // A closed form is the same program on any network of as many ranks.
    if (json.at("ranks") == network.hosts())
      for (const Json& one : json.at("proved")) earlier.proved.insert(one.get<std::string>());
    const std::string flow = json.value("flow", ""), network_file = json.at("network_file");
    if (!is_name_of_ours(flow) || (network_file != k_topology && network_file != k_network)) return earlier;
    const Topology before = topology_argument(folder + "/" + network_file);
    const Schedule schedule = read_schedule(folder + "/" + flow);
    if (schedule.topology != fingerprint(before)) return earlier;
    earlier.start.routing = carried_over(before, routing_of(schedule), network);
    earlier.start.lengths = carried_over(before, read_certificate(folder + "/" + k_lengths, before).lengths, network);
    earlier.remark = fmt::format("the routes of {}", flow);
  } catch (const std::exception&) {
    earlier.start = {};
    earlier.remark.clear();
  }
  return earlier;
}

WrittenFolder write_folder(const prepare::Prepared& prepared, const std::string& folder, const std::string& command,
                           const FlowBound& flow, const Earlier& earlier, const prepare::Say& say) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) throw Error(fmt::format("{}: cannot be made: {}", folder, error.message()));
  const FileLock lock(folder + "/" + k_report, k_folder_wait);
  const auto write_by = [&](const std::string& name, const auto& write_to) {
    say("writing " + name);
    write_file(folder + "/" + name, write_to);
  };
  const auto write = [&](const std::string& name, const std::string& contents) {
    write_by(name, [&](std::ostream& out) { out << contents; });
  };
  WrittenFolder written;
  const prepare::Ground& ground = prepared.ground;
  write_by(k_topology, [&](std::ostream& out) { write_topology(out, ground.machine); });
  std::string network_file = k_topology;
  if (!ground.one_per_host()) {
    network_file = k_network;
    write_by(network_file, [&](std::ostream& out) { write_topology(out, ground.network); });
  }
  for (const prepare::FiledSchedule& filed : prepared.files)
    write_by(filed.file, [&](std::ostream& out) { write_schedule(out, filed.schedule); });
  say("writing tables");
  write_tables(prepared, folder, written);
  if (!written.json_tables) remove_file(folder + "/routes.json");
  if (!written.linux_tables) remove_file(folder + "/routes.sh");
  const prepare::FiledSchedule* const routes = flow_of(prepared);
  Json report = {{"version", COLLTOPO_VERSION},
                 {"command", command},
                 {"network_file", network_file},
                 {"flow", routes == nullptr ? "" : routes->file}};
  if (routes != nullptr) write(k_lengths, lengths_file(ground.network, flow));
  report.update(json_of(prepared));
  write(k_report, report.dump(1) + "\n");
  write("rules.json", rules_of(prepared));
  for (const std::string& file : earlier.files)
    if (std::ranges::none_of(prepared.files, [&](const auto& filed) { return filed.file == file; }))
      remove_file(folder + "/" + file);
  const std::string absolute = std::filesystem::absolute(folder).lexically_normal().string();
  written.page = folder + "/index.html";
  write("index.html",
        page_of(prepared, {absolute, command, absolute + "/" + k_topology, written.linux_tables, written.json_tables}));
  return written;
}

}  // namespace colltopo::cli
