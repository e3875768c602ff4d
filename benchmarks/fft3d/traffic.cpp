#include "traffic.h"

#include <array>
#include <set>
#include <vector>

namespace colltopo::fft3d {

namespace {

constexpr std::string_view k_calls_of = "calls_";
constexpr int k_fields = 4;

std::array<unsigned long long, k_fields> fields(const Traffic& t) {
  return {t.messages, t.bytes, t.messages_between_nodes, t.bytes_between_nodes};
}

Traffic summed(const Traffic& mine, MPI_Comm comm) {
  const auto part = fields(mine);
  std::array<unsigned long long, k_fields> sum{};
  MPI_Reduce(part.data(), sum.data(), k_fields, MPI_UNSIGNED_LONG_LONG, MPI_SUM, 0, comm);
  return {sum[0], sum[1], sum[2], sum[3]};
}

std::set<std::string> node_names(MPI_Comm comm) {
  int ranks = 0;
  MPI_Comm_size(comm, &ranks);
  std::array<char, MPI_MAX_PROCESSOR_NAME> mine{};
  int length = 0;
  MPI_Get_processor_name(mine.data(), &length);
  std::vector<char> all(mine.size() * static_cast<std::size_t>(ranks));
  MPI_Allgather(mine.data(), MPI_MAX_PROCESSOR_NAME, MPI_CHAR, all.data(), MPI_MAX_PROCESSOR_NAME, MPI_CHAR, comm);
  std::set<std::string> names;
  for (std::size_t from = 0; from < all.size(); from += mine.size()) names.emplace(all.data() + from);
  return names;
}

}  // namespace

TrafficMeter::TrafficMeter(MPI_Comm comm) : comm_(comm) { nodes_ = static_cast<int>(node_names(comm).size()); }

void TrafficMeter::begin() { counters_before_ = counters_.values(); }

TrafficReport TrafficMeter::end(unsigned long long calls) {
  // Read before the sums below, which send messages of their own.
  auto grown = counters_.values();
  for (auto& [name, value] : grown) value -= counters_before_[name];

  TrafficReport report;
  report.nodes = nodes_;
  report.has_topo = counters_.any();
  report.topo = summed(
      {grown["messages"], grown["bytes_sent"], grown["messages_between_nodes"], grown["bytes_between_nodes"]}, comm_);
  const std::array<unsigned long long, 2> mine = {calls, grown["calls"]};
  std::array<unsigned long long, 2> all{};
  MPI_Reduce(mine.data(), all.data(), 2, MPI_UNSIGNED_LONG_LONG, MPI_SUM, 0, comm_);
  report.calls = all[0];
  report.topo_calls = all[1];
  for (const auto& [name, value] : grown)
    if (name.starts_with(k_calls_of) && value > 0)
      report.topo_algorithm += (report.topo_algorithm.empty() ? "" : ", ") + name.substr(k_calls_of.size());
  return report;
}

}  // namespace colltopo::fft3d
