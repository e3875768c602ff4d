#include "contender.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <stdexcept>

namespace colltopo::bench {

namespace {

constexpr std::string_view k_calls_of = "calls_";

// A setting of one collective when coll/topo has one of that name (coll_topo_alltoall_radix), else of all
// (coll_topo_group).
std::string parameter_of(Kind kind, const std::string& option) {
  std::string own = fmt::format("coll_topo_{}_{}", name_of(kind).parameter, option);
  std::string shared = "coll_topo_" + option;
  if (has_parameter(own)) return own;
  if (has_parameter(shared)) return shared;
  if (!has_parameter("coll_topo_priority"))
    throw std::invalid_argument("coll/topo is not loaded: source env.sh of the build folder, or compare native only");
  throw std::invalid_argument(
      fmt::format("coll/topo has neither {} nor {}; ompi_info --param coll topo --level 9 lists "
                  "what it has",
                  own, shared));
}

std::vector<std::string> parts_between_colons(const std::string& text) {
  std::vector<std::string> parts;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(':', begin), text.size());
    parts.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

MPI_Comm graph_of(Spread spread) {
  int rank = 0, ranks = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const std::vector<int> from = sources_of(spread, ranks, rank), to = destinations_of(spread, ranks, rank);
  MPI_Comm graph = MPI_COMM_NULL;
  MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, static_cast<int>(from.size()), from.data(), MPI_UNWEIGHTED,
                                 static_cast<int>(to.size()), to.data(), MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &graph);
  return graph;
}

}  // namespace

Contender::Contender(const std::string& given, Kind kind, const std::string& pace, Spread spread) : name_(given) {
  const auto [text, form] = formed(given);
  form_ = form;
  const bool is_file = text.starts_with("file:");
  std::vector<std::string> parts = is_file ? std::vector{text} : parts_between_colons(text);
  const std::string algorithm = parts.front();
  if (algorithm == "native") {
    if (parts.size() > 1) throw std::invalid_argument(fmt::format("\"{}\": native has no options", text));
    server_ = Server::previous;
    keys_.push_back({"ompi_comm_coll_preference", "^topo"});
  } else if (text == "set") {
    server_ = Server::either;
  } else {
    server_ = algorithm == "fallback" ? Server::previous : algorithm == "auto" ? Server::either : Server::topo;
    keys_.push_back({parameter_of(kind, "algorithm"), algorithm});
    if (!pace.empty()) keys_.push_back({parameter_of(kind, "pace"), pace});
    for (auto part = parts.begin() + 1; part != parts.end(); ++part) {
      const auto equals = part->find('=');
      if (equals == 0 || equals == std::string::npos || equals + 1 == part->size())
        throw std::invalid_argument(fmt::format("\"{}\": \"{}\" is not option=value, as in tra:radix=4", text, *part));
      std::string option = part->substr(0, equals);
      const std::string value = part->substr(equals + 1), parameter = parameter_of(kind, option);
      if (parameter.size() < MPI_MAX_INFO_KEY) {
        keys_.push_back({parameter, value});
      } else {  // too long a key for MPI, but an algorithm's name takes its options
        std::ranges::replace(option, '_', '-');
        std::string& name = keys_.front().value;
        name += fmt::format("{}{}={}", name.find(':') == std::string::npos ? ':' : ',', option, value);
      }
    }
  }
  for (const InfoKey& key : keys_)
    if (key.value.size() >= MPI_MAX_INFO_VAL)
      throw std::invalid_argument(
          fmt::format("{} is longer than the {} characters that MPI allows", key.key, MPI_MAX_INFO_VAL - 1));
  if (kind == Kind::neighbor_alltoallv) graph_ = graph_of(spread);
  comm_ = duplicate();
}

Contender::~Contender() {
  MPI_Comm_free(&comm_);
  if (graph_ != MPI_COMM_NULL) MPI_Comm_free(&graph_);
}

MPI_Comm Contender::duplicate() const {
  MPI_Info info = MPI_INFO_NULL;
  MPI_Info_create(&info);
  for (const InfoKey& key : keys_) MPI_Info_set(info, key.key.c_str(), key.value.c_str());
  MPI_Comm comm = MPI_COMM_NULL;
  MPI_Comm_dup_with_info(graph_ == MPI_COMM_NULL ? MPI_COMM_WORLD : graph_, info, &comm);
  MPI_Info_free(&info);
  return comm;
}

Served ServedSince::now() const {
  const auto after = counters_.values();
  const auto grown = [&](const std::string& name) {
    const auto found = after.find(name);
    if (found == after.end()) return 0ULL;
    const auto earlier = before_.find(name);
    return found->second - (earlier == before_.end() ? 0 : earlier->second);
  };
  Served served;
  served.by_topo = grown("calls");
  served.plan_hits = grown("plan_hits");
  served.messages = grown("messages");
  served.messages_between_nodes = grown("messages_between_nodes");
  unsigned long long most = 0;
  for (const auto& [name, value] : after) {
    if (!name.starts_with(k_calls_of) || grown(name) <= most) continue;
    most = grown(name);
    served.algorithm = name.substr(k_calls_of.size());
  }
  return served;
}

std::string complaint(const Contender& contender, const Served& served, unsigned long long calls, int ranks) {
  const bool must = contender.server() == Server::topo && ranks > 1;  // Open MPI asks no component to serve one rank
  if (must && served.by_topo != calls)
    return fmt::format("coll/topo served {} of {} calls by {}; --mca coll_topo_verbose 1 says why", served.by_topo,
                       calls, contender.name());
  if (contender.server() == Server::previous && served.by_topo != 0)
    return fmt::format("coll/topo served {} of {} calls that were {}'s", served.by_topo, calls, contender.name());
  return {};
}

}  // namespace colltopo::bench
