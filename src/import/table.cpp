// The one table of formats, and how one is chosen.
#include <algorithm>
#include <array>
#include <sstream>

#include <fmt/format.h>

#include "base/lines.h"
#include "colltopo/error.h"
#include "colltopo/import.h"
#include "import/formats.h"

namespace colltopo {

namespace import {

namespace {

/// In the order in which they are tried: an edge list is what nothing else is.
const std::array<Format, 10>& formats() {
  static const std::array<Format, 10> k_formats{
      json_format(),  graphml_format(),    hwloc_format(),         nccl_format(),  dot_format(),
      slurm_format(), slurm_yaml_format(), ibnetdiscover_format(), mpich_format(), edges_format()};
  return k_formats;
}

std::string names() {
  std::string all;
  for (const Format& format : formats()) all += fmt::format("{}{}", all.empty() ? "" : " ", format.name);
  return all;
}

const Format& format_named(std::string_view name) {
  for (const Format& format : formats())
    if (format.name == name) return format;
  throw Error(fmt::format("format {} is unknown; expected one of: {}", in_quotes(name), names()));
}

const Format& recognised(const std::string& contents, const std::string& file) {
  for (const Format& format : formats())
    if (format.recognises(contents)) return format;
  const std::string_view line = first_line(contents);
  throw error_at(
      file, 1,
      fmt::format("{}; expected a topology in one of these formats: {}",
                  line.empty() ? "an empty file" : "no known format begins with " + in_quotes(line), names()));
}

/// "NAME=VALUE,NAME=VALUE" after the colon of --format.
void set_options(Source& source, const Format& format, std::string_view text) {
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(','), text.size());
    const std::string_view option = text.substr(0, end);
    const std::size_t equals = std::min(option.find('='), option.size());
    const std::string key(option.substr(0, equals));
    const std::string known = fmt::format(" {}", format.options);
    if (key.empty() || equals == option.size() || known.find(fmt::format(" {}=", key)) == std::string::npos)
      throw Error(fmt::format("format {}: option {}; expected {}", format.name, in_quotes(option),
                              format.options.empty() ? "none" : format.options));
    source.options[key] = option.substr(equals + 1);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
}

bool json_recognises(std::string_view contents) { return first_line(contents).starts_with('{'); }

Topology json_read(const Source& source) {
  std::istringstream in{std::string(source.contents)};
  return read_topology(in, source.file);
}

std::string json_write(const Topology& topology) {
  std::ostringstream out;
  write_topology(out, topology);
  return out.str();
}

}  // namespace

Format json_format() { return {"json", "colltopo's own JSON", "", json_recognises, json_read, json_write}; }

std::string_view first_line(std::string_view contents, std::string_view comment) {
  TextLines lines(contents);
  std::string_view line;
  while (lines.next(line)) {
    line = trimmed(line);
    if (!line.empty() && !line.starts_with(comment)) return line;
  }
  return {};
}

}  // namespace import

Topology import_topology(const std::string& contents, const std::string& name, std::string_view format) {
  const std::size_t colon = std::min(format.find(':'), format.size());
  const import::Format& chosen =
      format.empty() ? import::recognised(contents, name) : import::format_named(format.substr(0, colon));
  import::Source source{contents, name, {}};
  if (colon < format.size()) import::set_options(source, chosen, format.substr(colon + 1));
  return chosen.read(source);
}

std::string export_topology(const Topology& topology, std::string_view format) {
  const import::Format& chosen = import::format_named(format);
  if (chosen.write == nullptr)
    throw Error(fmt::format("format {} is only read; expected json, graphml, dot or edges", format));
  return chosen.write(topology);
}

std::string_view format_of_file_name(std::string_view file_name) {
  if (file_name.ends_with(".graphml")) return "graphml";
  if (file_name.ends_with(".dot") || file_name.ends_with(".gv")) return "dot";
  if (file_name.ends_with(".edges")) return "edges";
  return "json";
}

std::string topology_formats() {
  std::string lines;
  for (const import::Format& format : import::formats()) {
    lines +=
        fmt::format("  {:<14} {}{}\n", format.name, format.about, format.write != nullptr ? " (also written)" : "");
    if (!format.options.empty()) lines += fmt::format("  {:<14}   {}\n", "", format.options);
  }
  return lines;
}

}  // namespace colltopo
