// colltopo explain: what the component would run for a call, at which price, and what it would cost otherwise.
//
// The decision is the component's own code; only the place of ranks is told instead of found out. What only a job can
// tell, whether a schedule in a folder fits its hosts, is left out.
#include <unistd.h>

#include <algorithm>
#include <array>
#include <iostream>
#include <memory>
#include <optional>

#include <fmt/format.h>

#include "base/lines.h"
#include "cli/command.h"
#include "colltopo/choice.h"
#include "colltopo/error.h"
#include "colltopo/node_network.h"
#include "colltopo/placement.h"
#include "colltopo/text.h"
#include "comm/constants.h"
#include "comm/decisions.h"
#include "comm/machine_network.h"
#include "comm/rules.h"
#include "comm/selector.h"
#include "comm/settings.h"

namespace colltopo::cli {

namespace {

constexpr Rank k_most_explained_ranks = 65536;

struct ExplainArguments {
  std::string collective;
  std::string bytes;
  std::string on;
  std::string rules;
  std::vector<std::string> settings;
  Rank ranks = 0;
  Rank ranks_per_node = 1;
  std::string map_by = "slot";
  Rank root = 0;
  bool not_commutative = false;
  bool floating = false;
};

Settings settings_from(const ExplainArguments& arguments) {
  Settings settings;
  for (const std::string& setting : arguments.settings) {
    const std::size_t equals = setting.find('=');
    if (equals == std::string::npos)
      throw Error(fmt::format("--set {}; expected NAME=VALUE, as in --set latency_network=5us", in_quotes(setting)));
    settings.set(setting.substr(0, equals), setting.substr(equals + 1));
  }
  return settings;
}

std::vector<int> nodes_by_rank(const ExplainArguments& arguments) {
  std::vector<int> node_of;
  node_of.reserve(static_cast<std::size_t>(arguments.ranks));
  const Rank nodes = (arguments.ranks - 1) / arguments.ranks_per_node + 1;
  for (Rank rank = 0; rank < arguments.ranks; ++rank)
    node_of.push_back(arguments.map_by == "node" ? rank % nodes : rank / arguments.ranks_per_node);
  return node_of;
}

/// The network of nodes, which may be part of the one that a parameter names; nothing where none is named.
std::optional<Topology> network_on(const ExplainArguments& arguments, const Settings& settings) {
  if (arguments.on.empty())
    return settings.topology.empty() ? std::optional<Topology>() : *machine_network(settings.topology);
  Topology topology = topology_argument(arguments.on);
  const int nodes = Placement{nodes_by_rank(arguments), {}}.nodes();
  if (topology.hosts() != nodes)
    throw Error(fmt::format("{} has {} hosts; {} ranks with {} per node need {}", topology.name(), topology.hosts(),
                            arguments.ranks, arguments.ranks_per_node, nodes));
  return topology;
}

struct Known {
  Machine machine;
  std::vector<SourcedConstant> sources = {};
  MeasuredRows measured = nullptr;
};

/// The constants of a job with so many ranks on this host.
Known known_of(const ExplainArguments& arguments, const Settings& settings, const Topology* network) {
  Settings on = settings;
  if (on.topology.empty()) on.topology = arguments.on;
  std::array<char, 256> host{};
  gethostname(host.data(), host.size() - 1);
  const LinkConstants links = network == nullptr ? LinkConstants{} : link_constants(*network);
  const std::string line = constants_line(on, {without_domain(host.data())}, Placement{nodes_by_rank(arguments), {}});
  Known known;
  known.machine = machine_with(on, line, links, &known.sources);
  known.measured = measured_rows(line);
  return known;
}

std::shared_ptr<Chooser> chooser_for(const ExplainArguments& arguments, const Settings& settings,
                                     const Topology* network, const Known& known) {
  const std::vector<int> node_of = nodes_by_rank(arguments);
  Placement placement{node_of, {}};
  if (network != nullptr && network->hosts() == placement.nodes())  // a part of a machine counts as a crossbar
    placement = placement_on(std::make_shared<const Topology>(*network), node_of, node_of, network->sides());
  AlgorithmOptions options;
  if (settings.group.size > 0) options.values.set("group", settings.group.size);
  return shared_chooser(arguments.ranks, placement, known.machine, options, settings.values, known.measured);
}

/// Where no rank knows all sizes, what may be asked for, priced for blocks of one size.
std::vector<Candidate> candidates_of(Chooser& chooser, const Request& request) {
  if (is_sized(request)) return chooser.candidates(of_schedules(request));
  std::vector<Candidate> all;
  for (const Algorithm& algorithm : algorithms())
    if (serves(algorithm, request.collective)) all.push_back(chooser.price(algorithm, {}, of_schedules(request)));
  std::ranges::stable_sort(all, {}, &Candidate::seconds);
  return all;
}

std::vector<Candidate>::const_iterator fallback_in(const std::vector<Candidate>& candidates) {
  return std::find_if(candidates.begin(), candidates.end(), [](const Candidate& c) { return c.algorithm == nullptr; });
}

std::string reason_of(Chooser& chooser, const Request& request, const Candidate& chosen,
                      const std::vector<Candidate>& candidates) {
  const auto fallback = fallback_in(candidates);
  if (fallback == candidates.end() && chosen.algorithm == nullptr)
    return "nothing is known of the previous component; what is neither forced nor filed is left to it";
  if (fallback == candidates.end()) return "the cheapest candidate";
  if (chosen.algorithm != nullptr)
    return fmt::format("the cheapest candidate; the previous component is predicted to take {:.2f} times as long",
                       fallback->seconds / chosen.seconds);
  const auto ours =
      std::find_if(candidates.begin(), candidates.end(), [](const Candidate& c) { return c.algorithm != nullptr; });
  const Algorithm* const first = ours == candidates.end() ? nullptr : ours->algorithm;
  return fmt::format("no candidate is predicted to take less than {:.0f}% of the previous component's time{}",
                     100 * chooser.lead_over_previous(request, first),
                     request.tried                 ? ""
                     : reduces(request.collective) ? ", and no trial may change bits"
                                                   : ", and both were measured");
}

nlohmann::ordered_json candidates_json(const std::vector<Candidate>& candidates) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const Candidate& candidate : candidates) {
    nlohmann::ordered_json one = {
        {"name", candidate.name}, {"seconds", candidate.seconds}, {"excluded", candidate.excluded}};
    if (!candidate.excluded.empty()) one["seconds"] = nullptr;
    list.push_back(one);
  }
  return list;
}

nlohmann::ordered_json times_json(const std::vector<Outcome::Time>& times) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const Outcome::Time& time : times)
    list.push_back(
        {{"name", time.name},
         {"seconds", time.seconds < 0 ? nlohmann::ordered_json(nullptr) : nlohmann::ordered_json(time.seconds)}});
  return list;
}

nlohmann::ordered_json constants_json(const std::vector<SourcedConstant>& constants) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const SourcedConstant& constant : constants)
    list.push_back({{"name", constant.name}, {"value", constant.value}, {"source", constant.source}});
  return list;
}

void print_table(const std::vector<Candidate>& candidates, const Candidate& chosen) {
  std::cout << '\n';
  for (const Candidate& candidate : candidates)
    std::cout << fmt::format("{} {:>12}  {}{}\n", candidate.name == chosen.name ? '*' : ' ',
                             candidate.excluded.empty() ? seconds_text(candidate.seconds) : "-", candidate.name,
                             candidate.excluded.empty() ? "" : ": " + candidate.excluded);
}

RuleQuery query_of(const ExplainArguments& arguments, const Settings& settings, const Request& request) {
  RuleQuery query{
      request.collective, arguments.ranks, arguments.ranks_per_node == 1, arguments.ranks_per_node == arguments.ranks,
      settings.topology,  request.bytes};
  const std::string network = arguments.on.empty() ? settings.topology : arguments.on;
  if (!network.empty() && arguments.ranks % arguments.ranks_per_node == 0) {
    const Topology machine = topology_argument(network);
    const std::vector<int> ranks_on(static_cast<std::size_t>(machine.hosts()), arguments.ranks_per_node);
    if (machine.hosts() * arguments.ranks_per_node == arguments.ranks)
      query.fingerprint = fingerprint(with_ranks(machine, ranks_on));
  }
  if (settings.own_lanes && settings.lanes.kind != LaneKind::shared) query.lanes = settings.lanes.lanes();
  return query;
}

/// What a parameter or rule says; a choice that may not serve the call leaves it to the previous component, as in the
/// component.
Choice told_choice(const Forced& told, Chooser& chooser, const Request& request) {
  Choice fallback{{nullptr, {}, "fallback", 0, ""}};
  if (told.kind == Forced::Kind::fallback) return fallback;
  if (told.kind == Forced::Kind::file) return {{nullptr, {}, "file:" + told.path, 0, ""}};
  Choice chosen = chooser.price(*told.algorithm, told.over({}), of_schedules(request));
  if (chosen.excluded.empty()) return chosen;
  fallback.excluded = fmt::format("{} {}", chosen.algorithm->name, chosen.excluded);
  return fallback;
}

struct Explained {
  Candidate chosen;
  std::string why;
  std::size_t from = 0, to = k_any_bytes;
  std::vector<Outcome::Time> measured = {};
};

/// What a file of decisions says of the request; null: nothing.
const Outcome* decided_outcome(const ExplainArguments& arguments, const Settings& settings, const Request& request,
                               const DecisionFile& decisions) {
  if (settings.choosing == Choosing::off) return nullptr;
  const Decisions* const of_kind = decisions.find(
      kind_of_communicator(nodes_by_rank(arguments), settings.canonical, machine_checksum(settings.topology)));
  return of_kind == nullptr ? nullptr : of_kind->find(Selector::key_of(request));
}

std::string times_text(const std::vector<Outcome::Time>& times) {
  std::string text;
  for (const Outcome::Time& time : times)
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", time.name,
                        time.seconds < 0 ? "never" : seconds_text(time.seconds));
  return text;
}

/// What a parameter, a rule or a file leaves to the previous component costs what the model says of that.
Candidate with_price(const Candidate& chosen, const std::vector<Candidate>& candidates) {
  const auto fallback = fallback_in(candidates);
  return chosen.name == "fallback" && fallback != candidates.end() ? *fallback : chosen;
}

/// In the component's order: a parameter, a rule, what was measured, the model.
Explained explained(const ExplainArguments& arguments, const Settings& settings, const Rules& rules, Chooser& chooser,
                    const DecisionFile& decisions, const Request& request, const std::vector<Candidate>& candidates) {
  const auto told = [&](const Forced& choice, const std::string& source) {
    const Choice chosen = told_choice(choice, chooser, request);
    return Explained{chosen, chosen.excluded.empty() ? source : fmt::format("{}; {}", source, chosen.excluded),
                     chosen.from, chosen.to};
  };
  const Forced& forced = settings.forced[static_cast<std::size_t>(request.collective)];
  if (forced.kind != Forced::Kind::automatic)
    return told(forced, fmt::format("the parameter {}_algorithm", name(request.collective)));
  const Rule* const rule = rules.match(query_of(arguments, settings, request));
  if (rule != nullptr && rule->choice.kind != Forced::Kind::automatic) return told(rule->choice, rule->place);
  if (const Outcome* const outcome = decided_outcome(arguments, settings, request, decisions);
      outcome != nullptr && outcome->winner != k_by_schedules) {
    const std::string source = fmt::format("{}: measured {}", settings.decisions, times_text(outcome->times));
    Explained by_file = told(forced_from(settings.decisions, request.collective, outcome->winner), source);
    by_file.from = outcome->key.from;
    by_file.to = outcome->key.to;
    by_file.measured = outcome->times;
    return by_file;
  }
  if (may_try(settings, request) && !is_sized(request))
    return {
        {nullptr, {}, "fallback", 0, ""},
        fmt::format("no rank knows all sizes: the first {} calls are left to the previous component, then it is tried "
                    "beside the cheapest two for the mean of their blocks",
                    settings.trial_after)};
  if (!is_sized(request))
    return {{nullptr, {}, "fallback", 0, ""},
            "no rank knows all sizes, so they decide nothing: without a parameter, a rule or a schedule of the folders "
            "the call is left to the previous component"};
  if (settings.choosing == Choosing::off && request.fallback_allowed)
    return {Candidate{nullptr, {}, "fallback", 0, ""}, "the parameter choice is off"};
  const Request asked = for_model(settings, chooser, request);
  const Choice& choice = chooser.choose(asked);
  return {choice, reason_of(chooser, asked, choice, candidates), choice.from, choice.to};
}

/// Chunks that each shard, or the vector of bcast and reduce, is cut into; 0: the previous component serves, or a file
/// that cannot be read.
Chunk chunks_of(const Candidate& chosen, const Request& request, Rank ranks) {
  constexpr std::string_view k_file = "file:";
  if (chosen.algorithm != nullptr) {
    const Rank root = rooted(request.collective) ? request.root : 0;
    return chosen.algorithm->chunks({scheduled(request.collective), ranks, 1, root}, chosen.options);
  }
  if (!chosen.name.starts_with(k_file)) return 0;
  try {
    return read_header(chosen.name.substr(k_file.size())).shape.chunks;
  } catch (const Error&) {
    return 0;
  }
}

std::string empty_chunks_text(Chunk chunks, std::size_t bytes) {
  if (chunks <= 0 || bytes >= static_cast<std::size_t>(chunks)) return "";
  return fmt::format("chunks: {} of {}: some are empty, and messages of nothing but these are not sent\n", chunks,
                     counted(bytes, "byte"));
}

void check(const ExplainArguments& arguments) {
  if (arguments.ranks < 1 || arguments.ranks > k_most_explained_ranks)
    throw Error(fmt::format("--ranks {}; expected 1..{}", arguments.ranks, k_most_explained_ranks));
  if (arguments.ranks_per_node < 1 || arguments.ranks_per_node > arguments.ranks)
    throw Error(fmt::format("--ranks-per-node {}; expected 1..{}", arguments.ranks_per_node, arguments.ranks));
  if (arguments.root < 0 || arguments.root >= arguments.ranks)
    throw Error(fmt::format("--root {}; expected 0..{}", arguments.root, arguments.ranks - 1));
}

void run_explain(const ExplainArguments& arguments, const Session& session) {
  check(arguments);
  Request request;
  request.collective = call_argument(arguments.collective);
  request.root = arguments.root;
  request.commutative = !arguments.not_commutative;
  request.associative_bits = !arguments.floating;
  const std::vector<std::size_t> sizes = bytes_argument(arguments.bytes);
  const Settings settings = settings_from(arguments);
  const std::optional<Topology> on = network_on(arguments, settings);
  const Topology* const network = on ? &*on : nullptr;
  const Known known = known_of(arguments, settings, network);
  Chooser& chooser = *chooser_for(arguments, settings, network, known);  // the process keeps it
  const std::string path = arguments.rules.empty() ? settings.rules : arguments.rules;
  const Rules rules = path.empty() ? Rules() : Rules::read(path);

  const DecisionFile decisions = settings.decisions.empty() ? DecisionFile() : DecisionFile::read(settings.decisions);

  nlohmann::ordered_json results = nlohmann::ordered_json::array();
  for (const std::size_t bytes : sizes) {
    request.bytes = bytes;
    const std::vector<Candidate> candidates = candidates_of(chooser, request);
    const auto [decided, why, from, to, measured] =
        explained(arguments, settings, rules, chooser, decisions, request, candidates);
    const Candidate chosen = with_price(decided, candidates);
    const Chunk chunks = chunks_of(chosen, request, arguments.ranks);
    results.push_back({{"collective", arguments.collective},
                       {"ranks", arguments.ranks},
                       {"ranks_per_node", arguments.ranks_per_node},
                       {"map_by", arguments.map_by},
                       {"bytes", bytes},
                       {"from_bytes", from},
                       {"to_bytes", to == k_any_bytes ? nlohmann::ordered_json(nullptr) : nlohmann::ordered_json(to)},
                       {"algorithm", chosen.name.starts_with("fallback") ? "fallback" : chosen.name},
                       {"seconds", chosen.seconds},
                       {"reason", why},
                       {"measured", times_json(measured)},
                       {"chunks", chunks},
                       {"candidates", candidates_json(candidates)}});
    if (session.json) continue;
    std::cout << fmt::format("{} of {} on {}, {} per node{}: {}\nwhy: {}\n{}", arguments.collective,
                             counted(bytes, "byte"), counted(static_cast<std::size_t>(arguments.ranks), "rank"),
                             arguments.ranks_per_node, arguments.map_by == "node" ? " at most, in turn" : "",
                             chosen.name, why, empty_chunks_text(chunks, bytes));
    print_table(candidates, chosen);
    if (bytes != sizes.back()) std::cout << '\n';
  }
  const std::optional<double> error = chooser.expected_error();
  if (session.json)
    Report()
        .add("results", results)
        .add("constants", constants_json(known.sources))
        .add("measured_algorithms", measured_algorithms(known.measured))
        .add("expected_error", error ? nlohmann::ordered_json(*error) : nlohmann::ordered_json(nullptr))
        .print(session);
  else
    std::cout << "\nconstants: " << text_of(known.sources) << '\n' << error_text(known.measured, error) << '\n';
}

}  // namespace

void add_explain(CLI::App& app, Session& session) {
  CLI::App* command = subcommand(app, session, "explain", "What coll/topo would run for a call, and why");
  const auto arguments = std::make_shared<ExplainArguments>();
  command->add_option("COLLECTIVE", arguments->collective, call_names(" "))->required();
  command->add_option("--ranks", arguments->ranks, "Ranks of the communicator")->required();
  command
      ->add_option("--bytes", arguments->bytes,
                   "Bytes per shard (alltoall, allgather, reduce_scatter, the mean of v and w calls) or of the vector "
                   "(others); a "
                   "list such as 1K,1M")
      ->required();
  command->add_option("--ranks-per-node", arguments->ranks_per_node, "Ranks that share a node")->capture_default_str();
  command
      ->add_option("--map-by", arguments->map_by,
                   "slot: consecutive ranks share a node; node: they go round the nodes, as with mpirun --map-by node")
      ->check(CLI::IsMember({"slot", "node"}))
      ->capture_default_str();
  command->add_option("--on", arguments->on, "The network of the nodes: a topology file or a spec such as torus:4x4");
  command->add_option("--rules", arguments->rules, "A rules file (docs/rules.md)");
  command->add_option("--root", arguments->root, "bcast, reduce, gather(v), scatter(v)")->capture_default_str();
  command->add_flag("--not-commutative", arguments->not_commutative, "The reduction needs the order of ranks");
  command->add_flag("--floating", arguments->floating, "The order of the reduction shows in the bits of the result");
  command->add_option("--set", arguments->settings,
                      "A parameter of the component, NAME=VALUE (docs/open-mpi.md); repeatable");
  command->callback([arguments, &session] { run_explain(*arguments, session); });
}

}  // namespace colltopo::cli
