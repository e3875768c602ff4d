// Sections of a symmetric schedule: its generators, and what representatives send and on which paths.
#pragma once

#include <string>
#include <vector>

#include "text/header.h"

namespace colltopo::text {

Symmetry read_symmetry(Lines& lines, const Head& head);
void write_symmetry(SealedLines& out, const Symmetry& symmetry);

std::vector<Split> read_targets(Lines& lines, const Head& head, const Symmetry& symmetry, std::int32_t orbit);
void write_targets(SealedLines& out, const SymmetricSchedule& schedule, std::int32_t orbit);

PathTree read_paths(Lines& lines, const Head& head, std::int32_t orbit);
void write_paths(SealedLines& out, const SymmetricSchedule& schedule, std::int32_t orbit);

}  // namespace colltopo::text
