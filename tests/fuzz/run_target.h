// Schedules that are mutated, sealed, proved and run on the loopback in every way that a job may bind them: what the
// proof allows must give what MPI's definition says.
#pragma once

#include <random>
#include <string>
#include <vector>

namespace colltopo::fuzz {

/// Schedule files of all collectives on few ranks: closed forms, forests, rings and routings.
std::vector<std::string> run_seeds();
/// One of the files with ops moved, doubled, split or told another step, lane, place or peer, sealed again.
std::string mutated_schedule(const std::vector<std::string>& seeds, std::mt19937_64& random);
/// Throws Error where the file is not a schedule or is not proved, std::logic_error where a run differs.
void run_every_way(const std::string& file);
/// What run_every_way() has done so far, in words.
std::string runs_done();

}  // namespace colltopo::fuzz
