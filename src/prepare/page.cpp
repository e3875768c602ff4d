#include "prepare/page.h"

#include <fmt/format.h>

#include "colltopo/draw.h"
#include "colltopo/error.h"
#include "prepare/chart.h"

namespace colltopo::prepare {

namespace {

constexpr std::string_view k_style = R"(
body { font: 15px/1.5 system-ui, sans-serif; color: #1b2733; max-width: 62em; margin: 2em auto; padding: 0 1em; }
h1 { font-size: 1.5em; } h2 { font-size: 1.2em; margin-top: 2em; border-bottom: 1px solid #dde3e8; }
table { border-collapse: collapse; font-size: 13px; } td, th { padding: 2px 10px; text-align: right; }
th { border-bottom: 1px solid #99a; } td.name, th.name { text-align: left; }
tr.change td { border-top: 1px solid #b9c2cc; } pre { background: #f2f5f7; padding: .7em 1em; overflow-x: auto; }
svg { max-width: 100%; height: auto; } .remark { color: #556; }
)";

std::string time_text(double seconds) { return seconds > 0 ? seconds_text(seconds) : "-"; }
std::string gain_text(double before, double after) {
  return before > 0 && after > 0 ? fmt::format("{:.2f}", before / after) : "-";
}

std::string picture(const Prepared& prepared) {
  // The loads of the schedule of the largest all-to-all that has routes; without one, of any file.
  const FiledSchedule* shown = nullptr;
  for (const FiledSchedule& filed : prepared.files)
    if (shown == nullptr || (filed.offer->kind == Kind::routed && shown->offer->kind != Kind::routed)) shown = &filed;
  try {
    if (shown == nullptr) return topology_svg(prepared.ground.network);
    const Priced& price = shown->offer->with_tables ? *shown->offer->with_tables : *shown->offer->as_is;
    return topology_svg(prepared.ground.network, price.found().loads, "Load of every link by " + shown->file);
  } catch (const Error& error) {
    return fmt::format("<p class=\"remark\">No picture: {}</p>\n", html(error.what()));
  }
}

std::string facts_of_network(const Prepared& prepared) {
  const Ground& ground = prepared.ground;
  const TopologyFacts facts = colltopo::facts_of(ground.machine);
  return fmt::format(
      "<p>{} hosts, {} switches, {} links; {} ranks; diameter {} hops, on average {:.3g}; slowest link {}; fingerprint "
      "of the ranks' network <code>{}</code>.</p>\n",
      facts.hosts, facts.switches, facts.links, ground.ranks(), facts.diameter, facts.average_distance,
      bandwidth_text(facts.slowest_link), html(fingerprint(ground.network)));
}

std::string usage(const Prepared& prepared, const PageFacts& facts) {
  std::string text = fmt::format(
      "<h2>How to use it</h2>\n<pre>mpirun --mca coll_topo_topology {} ./app</pre>\n<p>The component finds this folder "
      "beside the topology. Where the topology is given otherwise, <code>--mca coll_topo_schedules {}</code> names the "
      "folder. <code>--mca coll_topo_verbose 1</code> says what serves each call.</p>\n",
      html(facts.topology), html(facts.folder));
  if (prepared.planes == 0) return text;
  text += fmt::format(
      "<p>Rows \"with tables\" below need the network to forward by {} planes of tables, one for each lane, which "
      "<code>routes.json</code>{} has, and lanes that reach them:</p>\n<pre>mpirun --mca coll_topo_topology {} --mca "
      "coll_topo_transport ucx --mca coll_topo_lanes ... ./app</pre>\n<p>Without lanes the rows \"as it is\" hold, for "
      "messages on the network's own paths.</p>\n",
      prepared.planes, facts.has_linux_tables ? " (for Linux hosts: <code>routes.sh</code>)" : "",
      html(facts.topology));
  return text;
}

std::string who(const Offer* offer) {
  if (offer == nullptr) return "coll/topo's model";
  return fmt::format("<code>{}</code> ({})", html(offer->choice), name(offer->kind));
}

std::string interval_text(const Interval& interval) {
  const bool first = interval.least == 0;
  const bool last = interval.most == std::numeric_limits<std::size_t>::max();
  if (first && last) return "all sizes";
  if (first) return fmt::format("up to {}", interval.most);
  return last ? fmt::format("{} and more", interval.least) : fmt::format("{} to {}", interval.least, interval.most);
}

std::string crossovers(const std::vector<Interval>& intervals, std::string_view title) {
  if (intervals.empty()) return "";
  std::string text = fmt::format("<table><tr><th class=\"name\">{}</th><th class=\"name\">bytes</th></tr>\n", title);
  for (const Interval& interval : intervals)
    text += fmt::format("<tr><td class=\"name\">{}</td><td class=\"name\">{}</td></tr>\n", who(interval.offer),
                        interval_text(interval));
  return text + "</table>\n";
}

std::string chart_of(const CollectivePlan& plan) {
  std::vector<std::size_t> sizes, marks;
  Curve previous{"Open MPI's tuned", "#99a3ad", true, {}}, model{"coll/topo's model", "#2b7bba", false, {}},
      as_is{"best, as it is", "#1b9e54", false, {}}, tables{"best, with tables", "#d95f0e", false, {}},
      bound{"bound", "#1b2733", true, {}};
  for (const SizeRow& row : plan.sizes) {
    sizes.push_back(row.bytes);
    previous.values.push_back(row.previous_s);
    model.values.push_back(row.model_s);
    as_is.values.push_back(row.as_is_s);
    tables.values.push_back(row.with_tables_s);
    bound.values.push_back(row.bound_s);
  }
  for (const auto* const intervals : {&plan.as_is, &plan.with_tables})
    for (const Interval& interval : *intervals)
      if (interval.least > 0) marks.push_back(interval.least);
  std::vector<Curve> curves{previous, model, as_is};
  if (!plan.with_tables.empty()) curves.push_back(tables);
  curves.push_back(bound);
  return chart_svg(sizes, curves, marks);
}

std::string table_of(const CollectivePlan& plan) {
  const bool tables = !plan.with_tables.empty();
  std::string text = fmt::format(
      "<table><tr><th>bytes</th><th class=\"name\">Open MPI</th><th>time</th><th class=\"name\">as it is</th>"
      "<th>time</th><th>gain</th>{}<th>bound</th></tr>\n",
      tables ? "<th class=\"name\">with tables</th><th>time</th><th>gain</th>" : "");
  for (const SizeRow& row : plan.sizes) {
    text += fmt::format(
        "<tr><td>{}</td><td class=\"name\">{}</td><td>{}</td><td class=\"name\">{}</td><td>{}</td>"
        "<td>{}</td>",
        size_text(row.bytes), row.previous.empty() ? "not known" : html(row.previous), time_text(row.previous_s),
        row.as_is == nullptr ? "-" : html(row.as_is->name), time_text(row.as_is_s),
        gain_text(row.previous_s, row.as_is_s));
    if (tables)
      text += fmt::format("<td class=\"name\">{}</td><td>{}</td><td>{}</td>",
                          row.with_tables == nullptr ? "-" : html(row.with_tables->name), time_text(row.with_tables_s),
                          gain_text(row.previous_s, row.with_tables_s));
    text += fmt::format("<td>{}</td></tr>\n", time_text(row.bound_s));
  }
  return text + "</table>\n";
}

std::string section(const CollectivePlan& plan) {
  const bool shards = row(plan.collective).counts_shards();
  return fmt::format(
      "<h2>{0}</h2>\n<p>Bytes are those of {1}. No schedule takes less than {2} for each of them{3}: {4}.</p>\n{5}{6}"
      "<p></p>{7}{8}",
      name(plan.collective), shards ? "a shard" : "the vector", seconds_text(plan.bound.seconds_per_byte),
      plan.bound.optimum ? ", and that can be reached" : "", html(plan.bound.reason),
      crossovers(plan.as_is, "served by, as the network is"), crossovers(plan.with_tables, "served by, with tables"),
      chart_of(plan), table_of(plan));
}

}  // namespace

std::string html(std::string_view text) {
  std::string safe;
  for (const char c : text)
    safe += c == '<'    ? "&lt;"
            : c == '>'  ? "&gt;"
            : c == '&'  ? "&amp;"
            : c == '"'  ? "&quot;"
            : c == '\'' ? "&#39;"
                        : std::string(1, c);
  return safe;
}

std::string page_of(const Prepared& prepared, const PageFacts& facts) {
  const std::string title = fmt::format("Collectives on {}", html(prepared.ground.network.name()));
  std::string page = fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>{0}</title><style>{1}</style></head>"
      "<body>\n<h1>{0}</h1>\n",
      title, k_style);
  page += facts_of_network(prepared) + picture(prepared) + usage(prepared, facts);
  page +=
      "<p class=\"remark\">All times are predictions: latency of the longest path and load of the busiest link, step "
      "by step, by the programs of all ranks; messages, copies and reductions of the busiest rank. Open MPI is priced "
      "as the algorithm that its tuned component takes. Where coll/topo's own model does as well as the best, it "
      "decides, by what it measures.</p>\n";
  for (const CollectivePlan& plan : prepared.plans) page += section(plan);
  page += fmt::format(
      "<h2>Files</h2>\n<table><tr><th class=\"name\">file</th><th class=\"name\">kind</th><th>steps</th>"
      "<th>routes</th><th>layers</th></tr>\n");
  for (const FiledSchedule& filed : prepared.files)
    page += fmt::format(
        "<tr><td class=\"name\">{}</td><td class=\"name\">{}</td><td>{}</td><td>{}</td><td>{}</td></tr>\n",
        html(filed.file), name(filed.offer->kind), filed.schedule.steps(), filed.schedule.routes.size(), filed.layers);
  page += fmt::format("</table>\n<p>Every schedule was proved before it was written. Made by:</p>\n<pre>{}</pre>\n",
                      html(facts.command));
  return page +
         "<p>After a cable is lost, the same command with <code>--without link A-B</code> makes what is left "
         "of the network its own, from what is here.</p>\n</body></html>\n";
}

}  // namespace colltopo::prepare
