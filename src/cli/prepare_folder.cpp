// The folder of `colltopo prepare` on disk.
#include <filesystem>
#include <fstream>
#include <sstream>

#include <fmt/format.h>

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
constexpr const char* k_lengths = "lengths.csv";
// Tables beyond this are hundreds of megabytes of text.
constexpr std::size_t k_most_linux_entries = 1'000'000;
constexpr std::size_t k_most_json_entries = 4'000'000;

/// Under another name first: who reads meanwhile reads the old file or the new one.
void replace_file(const std::string& path, const std::string& contents) {
  const std::string draft = path + ".new";
  std::ofstream out(draft, std::ios::binary | std::ios::trunc);
  out << contents << std::flush;
  if (!out) throw Error(unwritable(draft));
  out.close();
  std::error_code error;
  std::filesystem::rename(draft, path, error);
  if (error) throw Error(fmt::format("{}: cannot be written: {}", path, error.message()));
}

template <typename Write>
std::string text_by(const Write& write) {
  std::ostringstream out;
  write(out);
  return std::move(out).str();
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
  std::error_code ignored;
  std::filesystem::remove(json, ignored);
  std::filesystem::remove(script, ignored);
  if (prepared.planes == 0) return;
  const Topology& network = prepared.ground.network;
  Schedule routes;
  const ForwardingTables tables = tables_of(prepared, &routes);
  if (tables.entries() <= k_most_json_entries) {
    replace_file(json, text_by([&](std::ostream& out) { write_json_routes(out, routes, network, tables); }));
    written.json_tables = true;
  }
  if (tables.entries() > k_most_linux_entries || !prepared.ground.one_per_host()) return;
  replace_file(script, text_by([&](std::ostream& out) { write_linux_routes(out, routes, network, tables, {}); }));
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
  if (!std::filesystem::exists(report)) return earlier;
  const Json json = Json::parse(file_contents(report), nullptr, false);
  if (!json.is_object() || json.value("version", "") != COLLTOPO_VERSION) return earlier;
  try {
    for (const Json& file : json.at("files")) earlier.files.insert(file.at("file").get<std::string>());
    // A closed form is the same program on any network of as many ranks.
    if (json.at("ranks") == network.hosts())
      for (const Json& one : json.at("proved")) earlier.proved.insert(one.get<std::string>());
    const std::string flow = folder + "/" + json.value("flow", "");
    if (json.value("flow", "").empty()) return earlier;
    const Topology before = topology_argument(folder + "/" + json.at("network_file").get<std::string>());
    const Schedule schedule = read_schedule(flow);
    if (schedule.topology != fingerprint(before)) return earlier;
    earlier.start.routing = carried_over(before, routing_of(schedule), network);
    earlier.start.lengths = carried_over(before, read_certificate(folder + "/" + k_lengths, before).lengths, network);
    earlier.remark = fmt::format("the routes of {}", json.value("flow", ""));
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
  const auto write = [&](const std::string& name, const std::string& contents) {
    say("writing " + name);
    replace_file(folder + "/" + name, contents);
  };
  WrittenFolder written;
  const prepare::Ground& ground = prepared.ground;
  write(k_topology, text_by([&](std::ostream& out) { write_topology(out, ground.machine); }));
  std::string network_file = k_topology;
  if (!ground.one_per_host()) {
    network_file = "network-of-ranks.json";
    write(network_file, text_by([&](std::ostream& out) { write_topology(out, ground.network); }));
  }
  for (const prepare::FiledSchedule& filed : prepared.files)
    write(filed.file, text_by([&](std::ostream& out) { write_schedule(out, filed.schedule); }));
  say("writing tables");
  write_tables(prepared, folder, written);
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
      std::filesystem::remove(folder + "/" + file, error);
  const std::string absolute = std::filesystem::absolute(folder).lexically_normal().string();
  written.page = folder + "/index.html";
  write("index.html",
        page_of(prepared, {absolute, command, absolute + "/" + k_topology, written.linux_tables, written.json_tables}));
  return written;
}

}  // namespace colltopo::cli
