// What folders of schedules say about a collective: files by their headers, and the rules of folders that `colltopo
// prepare` made.
#pragma once

#include <cstddef>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "comm/rules.h"

namespace colltopo {

/// Who serves calls of some sizes.
struct FolderChoice {
  std::size_t least = 0, most = std::numeric_limits<std::size_t>::max();  // bytes, both included
  Rank root = -1;                                                         // the place that the root must have; -1: any
  std::string choice;                                                     // as in a rules file, with whole paths

  friend bool operator==(const FolderChoice&, const FolderChoice&) = default;
};

/// The choices for what `query` says (its bytes are not looked at), in the order in which they count: folder after
/// folder ("a:b"), in each the rules of its rules.json that are for this network, then its files, for calls of
/// `from_bytes` or more. A rule's file must be in the folder and fit. Files that cannot be read are passed over and
/// named in *faults. `distrusted`: of folders that nobody named; files and folders that others may have written
/// (distrust_of) are passed over and named there.
std::vector<FolderChoice> choices_in(const std::string& folders, const RuleQuery& query, std::size_t from_bytes,
                                     std::vector<std::string>* faults, std::vector<std::string>* distrusted = nullptr);

/// As one text, for ranks that are told.
std::string text_of(std::span<const FolderChoice> choices);
std::vector<FolderChoice> folder_choices_of(const std::string& text);

/// Where prepared folders are looked for when nobody says where ("a:b"; empty: none is there): beside the topology, if
/// that is a file; in folders of ~/.colltopo/schedules; in those of the place that schedules are installed in.
std::string standard_folders(const std::string& topology);

}  // namespace colltopo
