// Spec strings: FAMILY:PARAMETER[:PARAMETER...][/MODIFIER:ARGUMENT...], read from left to right.
#include <fmt/format.h>
#include <filesystem>

#include "base/lines.h"
#include "colltopo/error.h"
#include "colltopo/topology.h"
#include "topology/families.h"
#include "topology/modifiers.h"

namespace colltopo {

namespace {

template <typename Rows>
std::string names_of(const Rows& rows) {
  std::string names;
  for (const auto& row : rows) names += (names.empty() ? "" : " ") + std::string(row.name);
  return names;
}

template <typename Rows>
const auto& row_named(const Rows& rows, const std::string& name, const std::string& spec, std::string_view what) {
  for (const auto& row : rows)
    if (row.name == name) return row;
  throw Error(
      fmt::format("{}: unknown {} {}; expected one of: {}", short_text(spec), what, in_quotes(name), names_of(rows)));
}

template <typename Rows>
std::string lines_of(const Rows& rows, std::string_view before, std::string_view Rows::value_type::*parameters) {
  std::string lines;
  for (const auto& row : rows)
    lines += fmt::format("  {:<34} {}\n", fmt::format("{}{}:{}", before, row.name, row.*parameters), row.about);
  return lines;
}

// The letters of a family's name are others: "./", "/" and a name with an extension are those of a file.
bool means_file(std::string_view spec) {
  const std::size_t mark = spec.find_first_of("./");
  return mark != std::string_view::npos && mark < spec.find(':');
}

[[noreturn]] void refuse_path(const std::string& path) {
  std::error_code none;
  throw Error(fmt::format("{}: {}; expected a topology file or a spec such as torus:4x4", short_text(path),
                          std::filesystem::exists(path, none) ? "no regular file" : "no such file"));
}

}  // namespace

Topology topology_of(std::string_view text) {
  const std::string spec(text);
  if (means_file(spec)) refuse_path(spec);
  const std::size_t end = text.find('/');
  std::vector<std::string> words = split_at(text.substr(0, end), ':');
  FamilySpec family_spec{spec, words.front(), {words.begin() + 1, words.end()}};
  Topology topology = row_named(families(), family_spec.name, spec, "topology family").make(family_spec);
  return end == std::string_view::npos ? topology : modified(std::move(topology), text.substr(end + 1), spec);
}

Topology modified(Topology topology, std::string_view text, const std::string& whole) {
  for (const std::string& part : split_at(text, '/')) {
    const std::size_t colon = part.find(':');
    const std::string name = part.substr(0, colon);
    const Modifier& modifier = row_named(modifiers(), name, whole, "modifier");
    topology = modifier.apply(topology, whole, colon == std::string::npos ? "" : part.substr(colon + 1));
  }
  return topology;
}

std::size_t end_of_file_name(const std::string& argument) {
  std::error_code none;
  for (std::size_t end = argument.size(); end != std::string::npos && end > 0; end = argument.rfind('/', end - 1))
    if (std::filesystem::is_regular_file(argument.substr(0, end), none)) return end;
  return 0;
}

std::string topology_specs() {
  return lines_of(families(), "", &Family::parameters) + lines_of(modifiers(), "/", &Modifier::argument);
}

}  // namespace colltopo
