// A team whose members are threads of one process.
#pragma once

#include <algorithm>
#include <barrier>
#include <functional>
#include <thread>
#include <vector>

#include "colltopo/team.h"

namespace colltopo {

class TeamOfThreads {
 public:
  explicit TeamOfThreads(int ranks)
      : together_(ranks), values_(static_cast<std::size_t>(ranks)), bytes_(values_.size()) {}

  /// Runs `work` once per member, each on a thread of its own, until all have returned.
  void run(const std::function<void(Team& member)>& work) {
    std::vector<std::jthread> threads;
    for (int rank = 0; rank < static_cast<int>(values_.size()); ++rank)
      threads.emplace_back([this, rank, &work] {
        Member member(*this, rank);
        work(member);
      });
  }

 private:
  class Member final : public Team {
   public:
    Member(TeamOfThreads& team, int rank) : team_(team), rank_(rank) {}

    int rank() const override { return rank_; }
    int ranks() const override { return static_cast<int>(team_.values_.size()); }

    void sum(std::span<double> values) override {
      team_.values_[place()] = values;
      team_.together_.arrive_and_wait();
      std::vector<double> sums(values.size(), 0);
      for (const std::span<double> one : team_.values_)
        for (std::size_t i = 0; i < sums.size(); ++i) sums[i] += one[i];
      team_.together_.arrive_and_wait();
      std::copy(sums.begin(), sums.end(), values.begin());
      team_.together_.arrive_and_wait();
    }

    std::vector<std::vector<std::byte>> gather(std::span<const std::byte> bytes) override {
      team_.bytes_[place()] = bytes;
      team_.together_.arrive_and_wait();
      std::vector<std::vector<std::byte>> all;
      if (rank_ == 0)
        for (const std::span<const std::byte> one : team_.bytes_) all.emplace_back(one.begin(), one.end());
      team_.together_.arrive_and_wait();
      return all;
    }

   private:
    std::size_t place() const { return static_cast<std::size_t>(rank_); }

    TeamOfThreads& team_;
    int rank_;
  };

  std::barrier<> together_;
  std::vector<std::span<double>> values_;          // [rank]
  std::vector<std::span<const std::byte>> bytes_;  // [rank]
};

}  // namespace colltopo
