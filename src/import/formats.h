// One row per format, each made in the file of its format.
#pragma once

#include <string>
#include <string_view>

#include "colltopo/topology.h"
#include "import/source.h"

namespace colltopo::import {

struct Format {
  std::string_view name;
  std::string_view about;
  std::string_view options;  // "NAME=DEFAULT NAME=DEFAULT"
  bool (*recognises)(std::string_view contents) = nullptr;
  Topology (*read)(const Source& source) = nullptr;
  std::string (*write)(const Topology& topology) = nullptr;  // none: the format is only read
};

Format json_format();
Format graphml_format();
Format hwloc_format();
Format nccl_format();
Format dot_format();
Format slurm_format();
Format slurm_yaml_format();
Format ibnetdiscover_format();
Format mpich_format();
Format edges_format();

/// The first line that says something: not empty and no comment, trimmed. `comment`: how comments begin.
std::string_view first_line(std::string_view contents, std::string_view comment = "#");

}  // namespace colltopo::import
