// colltopo prepare: from a network to a folder that coll/topo takes its schedules from.
#include "cli/prepare.h"

#include <algorithm>
#include <chrono>
#include <iostream>
#include <memory>
#include <sstream>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/machine.h"
#include "cli/prepare_hosts.h"
#include "cli/progress.h"
#include "colltopo/error.h"
#include "colltopo/placement.h"
#include "prepare/chart.h"
#include "prepare/plan.h"

namespace colltopo::cli {

namespace {

constexpr Rank k_most_proved_ranks = 2048;  // more are not expanded, so not proved
constexpr double k_most_per_host = 4096;
constexpr const char* k_sizes = "8,32,128,512,2K,8K,32K,128K,512K,2M,8M,32M";

struct PrepareArguments {
  std::string topology;
  std::string folder;
  std::string hosts;  // file
  int ranks_per_host = 1;
  std::string sizes = k_sizes;
  std::string collectives;
  std::vector<Breakage> without;
  std::vector<std::string> settings;
  double gap = 0.01;
  int threads = 0;
  std::string command;  // as it was typed
};

std::vector<Collective> collectives_of(const std::string& list) {
  std::vector<Collective> all;
  if (list.empty()) {
    for (const CollectiveRow& row : collectives())
      if (scheduled(row.collective) == row.collective) all.push_back(row.collective);
    return all;
  }
  std::istringstream in(list);
  for (std::string one; std::getline(in, one, ',');) all.push_back(collective_argument(one));
  return all;
}

prepare::Ground ground_of(const PrepareArguments& arguments) {
  Topology machine = topology_argument(arguments.topology, arguments.without);
  std::vector<int> ranks_on(static_cast<std::size_t>(machine.hosts()), arguments.ranks_per_host);
  if (!arguments.hosts.empty()) {
    Hosts hosts = hosts_of_file(std::move(machine), arguments.hosts);
    machine = std::move(hosts.machine);
    ranks_on = std::move(hosts.ranks_on);
  }
  const Machine prices = machine_on(machine, arguments.settings);
  prepare::Ground ground = prepare::ground_on(std::move(machine), std::move(ranks_on), prices);
  if (ground.ranks() < 2)
    throw Error(fmt::format("{}: {}; expected at least 2", ground.network.name(), counted(1, "rank")));
  if (ground.ranks() > k_most_proved_ranks)
    throw Error(fmt::format("{}: {} ranks; expected at most {}, of which all programs are proved",
                            ground.network.name(), ground.ranks(), k_most_proved_ranks));
  expect_connected(ground.network);
  return ground;
}

/// What does not go on a network (trees through one-way switches, say) is said and left out.
template <typename Make>
void add_offers(std::vector<prepare::Offer>& offers, std::vector<std::string>& left_out, const Make& make) {
  try {
    for (prepare::Offer& offer : make()) offers.push_back(std::move(offer));
  } catch (const Error& error) {
    left_out.emplace_back(error.what());
  }
}

struct Run {
  prepare::Prepared prepared;
  FlowBound flow;
  std::vector<std::string> left_out;
  prepare::Forests forests;
};

void plan_one(Run& run, Collective collective, const PrepareArguments& arguments, const std::vector<std::size_t>& sizes,
              const Earlier& earlier, const prepare::Say& say) {
  const prepare::Ground& ground = run.prepared.ground;
  prepare::CollectivePlan plan;
  plan.collective = collective;
  if (collective == Collective::alltoall)
    add_offers(plan.offers, run.left_out, [&] {
      return prepare::routed_offers(ground, earlier.start, arguments.gap, arguments.threads, say, &run.flow);
    });
  add_offers(plan.offers, run.left_out,
             [&] { return prepare::tree_offers(ground, collective, arguments.threads, run.forests, say); });
  for (prepare::Offer& offer : plan.offers) {
    say(fmt::format("{}: prices of {}", name(collective), offer.name));
    prepare::price(offer, ground);
  }
  add_offers(plan.offers, run.left_out, [&] { return prepare::closed_form_offers(ground, collective, sizes, say); });
  say(fmt::format("{}: bound", name(collective)));
  plan.bound = prepare::bound_of(ground.network, {collective, ground.ranks(), 1, 0}, run.flow, arguments.threads);
  say(fmt::format("{}: crossovers", name(collective)));
  prepare::decide(plan, ground, sizes);
  run.prepared.plans.push_back(std::move(plan));
}

std::string interval_lines(const std::vector<prepare::Interval>& intervals, std::string_view when) {
  std::string text;
  for (const prepare::Interval& interval : intervals) {
    const std::string to =
        interval.most == std::numeric_limits<std::size_t>::max() ? "" : fmt::format("{}", interval.most);
    text += fmt::format("{:>12} .. {:<12} {:<12} {}\n", interval.least, to, when,
                        interval.offer == nullptr ? "auto" : interval.offer->choice);
  }
  return text;
}

void print_plans(const prepare::Prepared& prepared) {
  for (const prepare::CollectivePlan& plan : prepared.plans)
    std::cout << fmt::format("\n{}: bytes of {}\n{}{}", name(plan.collective),
                             row(plan.collective).counts_shards() ? "a shard" : "the vector",
                             interval_lines(plan.as_is, "as it is"), interval_lines(plan.with_tables, "with tables"));
}

void run_prepare(const PrepareArguments& arguments, const Session& session) {
  const auto start = std::chrono::steady_clock::now();
  Progress progress(session);
  const prepare::Say say = [&](const std::string& line) { progress.show(line); };
  std::vector<std::size_t> sizes = bytes_argument(arguments.sizes);
  std::ranges::sort(sizes);
  sizes.erase(std::unique(sizes.begin(), sizes.end()), sizes.end());
  const std::vector<Collective> wanted = collectives_of(arguments.collectives);
  Run run;
  run.prepared.ground = ground_of(arguments);
  say("looking at what is in " + arguments.folder);
  const Earlier earlier = earlier_in(arguments.folder, run.prepared.ground.network);
  for (const Collective collective : wanted) plan_one(run, collective, arguments, sizes, earlier, say);
  prepare::prove(run.prepared, earlier.proved, arguments.threads, say);
  const WrittenFolder written = write_folder(run.prepared, arguments.folder, arguments.command, run.flow, earlier, say);
  progress.clear();

  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  Report report;
  const nlohmann::ordered_json json = json_of(run.prepared);
  for (const char* const name : {"topology", "fingerprint", "hosts", "ranks"}) report.add(name, json[name]);
  report
      .add("schedules", run.prepared.files.size(),
           fmt::format("{}, proved", counted(run.prepared.files.size(), "file")))
      .add("planes", run.prepared.planes,
           run.prepared.planes == 0 ? "0: no tables are needed"
                                    : fmt::format("{} in the tables for all of them", run.prepared.planes));
  if (!earlier.remark.empty()) report.add("begun_with", earlier.remark);
  if (!run.left_out.empty()) report.add("left_out", run.left_out, fmt::format("{}", fmt::join(run.left_out, "; ")));
  report.add_hidden("files", json["files"]).add_hidden("proved", json["proved"]);
  report.add_hidden("collectives", json["collectives"]);
  report.add("seconds", seconds, seconds_text(seconds))
      .add("peak_memory_bytes", peak_memory_bytes(), peak_memory_text())
      .add("page", written.page)
      .add("use", fmt::format("--mca coll_topo_topology {}/topology.json", arguments.folder))
      .print(session);
  if (!session.json) print_plans(run.prepared);
}

}  // namespace

void add_prepare(CLI::App& app, Session& session) {
  CLI::App* command = subcommand(app, session, "prepare", "A folder of schedules, rules and tables for a network");
  const auto arguments = std::make_shared<PrepareArguments>();
  command->add_option("TOPO", arguments->topology, "A topology file or a spec such as torus:4x4")->required();
  command->add_option("-o,--output", arguments->folder, "Folder to write; what is there is used and replaced")
      ->required();
  command->add_option("--ranks-per-host", arguments->ranks_per_host, "Ranks on every host")
      ->check(number(1, k_most_per_host))
      ->capture_default_str();
  command
      ->add_option("--hosts", arguments->hosts,
                   "Or as a host file says: lines 'node1 slots=4' or 'node1:4', names of TOPO or, in order, new ones")
      ->excludes("--ranks-per-host");
  command->add_option("--sizes", arguments->sizes, "At which prices are compared; crossovers between them are searched")
      ->capture_default_str();
  command->add_option("--collectives", arguments->collectives, "A list such as alltoall,allreduce; default: all");
  add_without(*command, arguments->without);
  command->add_option("--gap", arguments->gap, "How near the optimum the flow of the all-to-all must be")
      ->check(number(0))
      ->capture_default_str();
  command->add_option("--threads", arguments->threads, "0: all cores")
      ->check(number(0, k_most_threads))
      ->capture_default_str();
  command->add_option("--set", arguments->settings,
                      "A parameter of the component, NAME=VALUE (docs/open-mpi.md); repeatable");
  command->footer(
      "The folder has topology.json, schedules (*.sched), rules.json with the sizes that each serves, tables of "
      "routes\n"
      "(routes.json, routes.sh), prepared.json with every prediction, and a page for people: index.html. Then\n"
      "  mpirun --mca coll_topo_topology FOLDER/topology.json ./app");
  command->callback([arguments, command, &session] {
    arguments->command = "colltopo " + command->get_name();
    for (const CLI::Option* const option : command->parse_order())
      arguments->command += (option->get_positional() ? "" : " " + option->get_name(false, false)) + " " +
                            fmt::format("{}", fmt::join(option->results(), " "));
    run_prepare(*arguments, session);
  });
}

}  // namespace colltopo::cli
