// Proofs of schedule files that this user's jobs have made, by what is in the files: one small file for each in the
// folder `proofs` of the user's cache. Proofs are remembered, what could not be proved is not.
#pragma once

#include <optional>
#include <string>

#include "colltopo/schedule.h"

namespace colltopo {

/// What was proved of a file with this digest (base/digest.h), by this version of the verifier. Nothing where nobody
/// has, or where another user could have written it.
std::optional<Proof> remembered_proof(const std::string& digest) noexcept;

/// No cache, no memory: nothing is remembered.
void remember_proof(const std::string& digest, const Proof& proof) noexcept;

}  // namespace colltopo
