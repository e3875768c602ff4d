// Memory that the runs of a communicator lease, one after the other or several at a time.
#pragma once

#include <cstddef>
#include <new>
#include <utility>
#include <vector>

namespace colltopo {

class Arena {
 public:
  static constexpr std::size_t k_alignment = 64;
  /// As many bytes, up to where the next area may begin.
  static constexpr std::size_t aligned(std::size_t bytes) {
    return (bytes + k_alignment - 1) / k_alignment * k_alignment;
  }
  /// What is kept while nobody needs it.
  static constexpr std::size_t k_most_idle_bytes = std::size_t{4} << 20;

  /// Memory of somebody who will give it back, or an error took it: not initialised, freed with its owner.
  class Block {
   public:
    Block() = default;
    explicit Block(std::size_t bytes)
        : memory_(static_cast<std::byte*>(::operator new (bytes, std::align_val_t{k_alignment}))), bytes_(bytes) {}
    Block(Block&& other) noexcept
        : memory_(std::exchange(other.memory_, nullptr)), bytes_(std::exchange(other.bytes_, 0)) {}
    Block& operator=(Block&& other) noexcept {
      std::swap(memory_, other.memory_);
      std::swap(bytes_, other.bytes_);
      return *this;
    }
    ~Block() {
      if (memory_ != nullptr) ::operator delete (memory_, std::align_val_t{k_alignment});
    }
    std::byte* data() const noexcept { return memory_; }
    std::size_t bytes() const noexcept { return bytes_; }

   private:
    std::byte* memory_ = nullptr;
    std::size_t bytes_ = 0;
  };

  /// At least so many bytes. Throws std::bad_alloc.
  Block lease(std::size_t bytes);
  /// Kept for the next lease while all that is kept fits into k_most_idle_bytes.
  void give_back(Block block) noexcept;
  /// After an error, for messages that were given up and may still arrive.
  static void keep_for_ever(Block block) noexcept;
  /// Of blocks that nobody has leased.
  std::size_t idle_bytes() const { return idle_bytes_; }

 private:
  std::vector<Block> idle_;
  std::size_t idle_bytes_ = 0;
};

}  // namespace colltopo
