// Topologies in the formats of others: what a cluster's own tools say about its network (docs/import.md).
//
// The native JSON and spec strings are read by topology.h alone; this floor adds the rest and links the parsers that
// they need, so only offline code uses it.
#pragma once

#include <string>
#include <string_view>

#include "colltopo/topology.h"

namespace colltopo {

/// Reads a topology in any known format. `format` is empty (the contents tell), a name of topology_formats() or
/// "NAME:OPTION=VALUE,..." with that format's options, as in "slurm:host=100Gbps,latency=2us". Throws Error
/// "FILE:LINE: fact; expectation".
Topology import_topology(const std::string& contents, const std::string& name_for_errors, std::string_view format = "");

/// The topology as a file of a format that is also written: json, graphml, dot or edges. Reading it back gives the same
/// graph, names, bandwidths and latencies. Throws Error when the format is unknown or only read.
std::string export_topology(const Topology& topology, std::string_view format);

/// The format that a file's name asks for by its ending (.graphml, .dot or .gv, .edges); json for all others.
std::string_view format_of_file_name(std::string_view file_name);

/// The formats, one line each, and their options: for help texts.
std::string topology_formats();

}  // namespace colltopo
