#pragma once
// A chooser that draws every decision from a seed, and writes down what it was asked and said.

#include <braid/core/decision.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace braid_test {

class seeded_chooser final : public braid::chooser {
public:
    explicit seeded_chooser(std::uint64_t seed) : state_(seed * 2 + 1) {}

    std::size_t choose(braid::decision_kind kind, const braid::alternative* list,
                       std::size_t count) override {
        const std::size_t choice = static_cast<std::size_t>(next() % count);
        ++asked_[static_cast<std::size_t>(kind)];
        log_.push_back(static_cast<std::uint64_t>(kind) << 56 | count << 32 | choice);
        for (std::size_t i = 0; i < count; ++i) log_.push_back(list[i].id);
        return choice;
    }

    void nobody_can_go_on() override { ++standstills_; }

    /// How often nobody could go on. Any thread.
    int standstills() const { return standstills_; }
    /// Every decision with its alternatives: two runs are the same when these are.
    const std::vector<std::uint64_t>& log() const { return log_; }
    std::size_t asked(braid::decision_kind kind) const {
        return asked_[static_cast<std::size_t>(kind)];
    }

private:
    /// splitmix64 (Steele, Lea, Flood 2014)
    std::uint64_t next() {
        std::uint64_t z = state_ += 0x9e37'79b9'7f4a'7c15U;
        z = (z ^ z >> 30) * 0xbf58'476d'1ce4'e5b9U;
        z = (z ^ z >> 27) * 0x94d0'49bb'1331'11ebU;
        return z ^ z >> 31;
    }

    std::uint64_t state_;
    std::atomic<int> standstills_{0};
    std::vector<std::uint64_t> log_;
    std::size_t asked_[16] = {};
};

}  // namespace braid_test
