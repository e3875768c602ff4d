#include "prepare/folder.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "colltopo/error.h"
#include "colltopo/layers.h"
#include "colltopo/verify.h"

namespace colltopo::prepare {

namespace {

using Json = nlohmann::ordered_json;

// Beyond this, saving a layer takes seconds for each schedule.
constexpr std::size_t k_many_routes = 5000;

std::string proof_name(const Offer& offer) { return fmt::format("{} {}", name(offer.collective), offer.choice); }

void require(const Verdict& verdict, const std::string& what) {
  if (!verdict.valid())
    throw Error(fmt::format("{}: {}; nothing is written", what, to_string(verdict.violations.front())));
}

void prove_file(FiledSchedule& filed, const Topology& network, int threads) {
  Schedule& schedule = filed.schedule;
  std::vector<std::span<const LinkId>> links;
  for (const Route& route : schedule.routes) links.emplace_back(route.links);
  const LayerMethod method = links.size() > k_many_routes ? LayerMethod::lash : LayerMethod::lash_sequential;
  const std::vector<std::int32_t> layers = layers_of(network, RouteLinks(links), method, threads);
  for (std::size_t i = 0; i < layers.size(); ++i) schedule.routes[i].layer = layers[i];
  filed.layers = layers_in(layers);
  const Verdict verdict = verify(schedule);
  require(verdict, filed.file);
  schedule.proof = proof_of(verdict);
  if (const auto misfits = verify_on(schedule, network); !misfits.empty())
    throw Error(fmt::format("{}: {}; nothing is written", filed.file, to_string(misfits.front())));
}

Json number_or_inf(std::size_t number) {
  return number == std::numeric_limits<std::size_t>::max() ? Json("inf") : Json(number);
}

Json communicators(const Prepared& prepared, const std::vector<Interval>& intervals, std::int32_t lanes) {
  Json rules = Json::array();
  for (const Interval& interval : intervals)
    rules.push_back({{"msg_size_min", interval.least},
                     {"msg_size_max", number_or_inf(interval.most)},
                     {"alg", interval.offer == nullptr ? "auto" : interval.offer->choice}});
  Json entry = {{"comm_size_min", prepared.ground.ranks()},
                {"comm_size_max", prepared.ground.ranks()},
                {"topology", fingerprint(prepared.ground.network)}};
  if (lanes > 0) entry["lanes"] = lanes;
  entry["rules"] = rules;
  return entry;
}

/// Lanes that the files among the intervals use.
std::int32_t lanes_of(const Prepared& prepared, const std::vector<Interval>& intervals) {
  std::int32_t lanes = 0;
  for (const FiledSchedule& filed : prepared.files)
    if (std::ranges::any_of(intervals, [&](const Interval& one) { return one.offer == filed.offer; }))
      lanes = std::max(lanes, planes_in(filed.schedule.routes));
  return lanes;
}

}  // namespace

void prove(Prepared& prepared, const std::set<std::string>& known, int threads, const Say& say) {
  const Topology& network = prepared.ground.network;
  std::vector<Schedule> schedules;
  for (CollectivePlan& plan : prepared.plans)
    for (const Offer* const winner : plan.winners()) {
      Offer& offer = plan.offers[static_cast<std::size_t>(winner - plan.offers.data())];
      if (offer.algorithm == nullptr) {
        const std::string file = fmt::format("{}-{}.sched", name(plan.collective), offer.name);
        offer.choice = "file:" + file;
        prepared.files.push_back({&offer, file, {}, 0});
        schedules.push_back(offer.schedule);
        continue;
      }
      const std::string proof = proof_name(offer);
      if (!known.contains(proof)) {
        say(fmt::format("proving {}", proof));
        require(verify(schedule_of(offer, prepared.ground)), proof);
      }
      prepared.proved.push_back(proof);
    }
  say("finding planes for the routes of all schedules");
  schedules = with_shared_planes(std::move(schedules), network);
  for (std::size_t i = 0; i < schedules.size(); ++i) {
    FiledSchedule& filed = prepared.files[i];
    filed.schedule = std::move(schedules[i]);
    say(fmt::format("proving {}", filed.file));
    prove_file(filed, network, threads);
    prepared.planes = std::max(prepared.planes, planes_in(filed.schedule.routes));
    const Priced& price = filed.offer->with_tables ? *filed.offer->with_tables : *filed.offer->as_is;
    filed.schedule.bound = fmt::format("{} {:.8g} s per byte of a call", name(filed.offer->collective),
                                       price.found().busiest_link_s_per_byte);
  }
}

std::string rules_of(const Prepared& prepared) {
  Json collectives = Json::object();
  for (const CollectivePlan& plan : prepared.plans) {
    Json list = Json::array();
    // With tables goes first: it asks for lanes, and what a communicator without them has follows.
    if (!plan.with_tables.empty())
      list.push_back(communicators(prepared, plan.with_tables, lanes_of(prepared, plan.with_tables)));
    list.push_back(communicators(prepared, plan.as_is, 0));
    collectives[std::string(name(plan.collective))] = list;
  }
  const Json rules = {{"rule_file_version", 3}, {"module", "topo"}, {"collectives", collectives}};
  return rules.dump(2) + "\n";
}

ForwardingTables tables_of(const Prepared& prepared, Schedule* routes) {
  std::vector<Schedule> shown;
  for (const FiledSchedule& filed : prepared.files) {
    Schedule one;
    one.name = filed.schedule.name;
    one.shape = filed.schedule.shape;
    one.topology = filed.schedule.topology;
    one.topology_name = filed.schedule.topology_name;
    one.routes = filed.schedule.routes;
    shown.push_back(std::move(one));
  }
  *routes = routes_of_all(shown);
  const Topology& network = prepared.ground.network;
  ForwardingTables tables = forwarding_tables(*routes, network);
  if (const auto faults = forwarding_faults(*routes, network, tables); !faults.empty())
    throw Error(fmt::format("tables: {}; nothing is written", faults.front()));
  return tables;
}

}  // namespace colltopo::prepare
