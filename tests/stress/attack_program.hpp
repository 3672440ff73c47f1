#pragma once
// What the attack is made of: where its random numbers come from, how it counts bodies, under which
// shortages it runs, and how it says what went wrong.

#include "refusing_memory.hpp"
#include "scale.hpp"
#include "scheduler_test.hpp"

#include <algorithm>
#include <cstdint>
#include <ostream>
#include <stdexcept>
#include <utility>

namespace attack {

/// Numbers from a seed. Each operation gets a draw of its own, so that what a program is made of
/// does not depend on the schedule.
class draw {
public:
    explicit draw(std::uint64_t seed) : state_(seed) {}

    /// splitmix64 (Steele, Lea, Flood 2014)
    std::uint64_t next() {
        std::uint64_t z = state_ += 0x9e37'79b9'7f4a'7c15U;
        z = (z ^ z >> 30) * 0xbf58'476d'1ce4'e5b9U;
        z = (z ^ z >> 27) * 0x94d0'49bb'1331'11ebU;
        return z ^ z >> 31;
    }
    int below(int limit) {
        return static_cast<int>(next() % static_cast<std::uint64_t>(std::max(1, limit)));
    }
    int between(int least, int most) { return least + below(most - least + 1); }
    bool chance(int percent) { return below(100) < percent; }
    template <class T>
    T one_of(std::initializer_list<T> all) {
        return all.begin()[below(static_cast<int>(all.size()))];
    }
    draw own() { return draw(next()); }

private:
    std::uint64_t state_;
};

/// `watched`: an observer listens; `chosen`: a chooser decides. Nothing is short there.
enum class shortage : std::uint8_t {
    none,
    memory,
    reserves,
    guests,
    shutdown,
    threads,
    watched,
    chosen
};
inline constexpr const char* shortage_names[] = {"Plenty",   "Memory",  "Reserves", "Guests",
                                                 "Shutdown", "Resized", "Watched",  "Chosen"};

struct mode {
    int workers;
    shortage lacks;

    std::string name() const {
        return std::string(shortage_names[static_cast<int>(lacks)]) + std::to_string(workers);
    }
};

/// For messages of the test framework.
inline void PrintTo(const mode& m, std::ostream* out) { *out << m.name(); }

/// All of them, or the one that BRAID_ATTACK_MODE names.
inline std::vector<mode> modes() {
    const char* const only = std::getenv("BRAID_ATTACK_MODE");
    std::vector<mode> all;
    for (const int workers : {0, 1, 2, 8}) {
        for (int i = 0; i < static_cast<int>(std::size(shortage_names)); ++i) {
            const mode m{workers, static_cast<shortage>(i)};
            if (only == nullptr || m.name() == only) all.push_back(m);
        }
    }
    return all;
}

/// What became of the bodies of one operation.
struct tally {
    std::atomic<int> made{0};     // closures
    std::atomic<int> ran{0};      // began
    std::atomic<int> over{0};     // returned or threw
    std::atomic<int> dropped{0};  // closures that ended without having run

    bool adds_up() const { return made == ran + dropped && ran == over; }
};

/// Lies in a closure and counts what becomes of it.
class token {
public:
    explicit token(tally& t) : tally_(&t) { ++t.made; }
    token(token&& other) noexcept : tally_(std::exchange(other.tally_, nullptr)) {}
    ~token() {
        if (tally_ != nullptr) ++tally_->dropped;
    }
    token(const token&) = delete;
    token& operator=(const token&) = delete;
    token& operator=(token&&) = delete;

    /// While it lives the body runs.
    struct run {
        tally& t;
        explicit run(tally& counted) : t(counted) { ++t.ran; }
        ~run() { ++t.over; }
        run(const run&) = delete;
        run& operator=(const run&) = delete;
    };
    tally& take() { return *std::exchange(tally_, nullptr); }

private:
    tally* tally_;
};

/// A body that is counted.
template <class F>
auto counted(tally& t, F f) {
    return [own = token(t), f = std::move(f)]() mutable {
        const token::run runs(own.take());
        return f();
    };
}

struct planned : std::runtime_error {
    planned() : std::runtime_error("planned") {}
};

/// What went wrong in a round; any thread may write.
class findings {
public:
    void expect(bool good, const char* what) {
        if (good) return;
        const std::lock_guard lock(mutex_);
        list_.emplace_back(what);
    }
    /// An operation is about to do what gets a sentence.
    void foresee_misuse() { ++foreseen_; }
    int foreseen_misuse() const { return foreseen_; }
    std::string text() {
        const std::lock_guard lock(mutex_);
        std::string all;
        for (const std::string& line : list_) all += "  " + line + "\n";
        return all;
    }

private:
    std::mutex mutex_;
    std::vector<std::string> list_;
    std::atomic<int> foreseen_{0};
};

/// Ends the process when a round hangs, and says how to run it again.
class round_deadline {
public:
    round_deadline(std::string again, findings& found)
        : watcher_([this, again = std::move(again), &found] {
              std::unique_lock lock(mutex_);
              if (over_.wait_for(lock, braid_test::hang_limit, [this] { return done_; })) return;
              std::fprintf(stderr, "deadline passed; run again with %s\n%s", again.c_str(),
                           found.text().c_str());
              std::abort();
          }) {}
    ~round_deadline() {
        {
            const std::lock_guard lock(mutex_);
            done_ = true;
        }
        over_.notify_all();
        watcher_.join();
    }
    round_deadline(const round_deadline&) = delete;
    round_deadline& operator=(const round_deadline&) = delete;

private:
    std::mutex mutex_;
    std::condition_variable over_;
    bool done_ = false;
    std::thread watcher_;
};

/// Where an operation runs. Inside a task it blocks on nothing but the scheduler.
enum class place : std::uint8_t { main, foreign, task };

struct arena {
    braid::scheduler& s;
    braid_test::refusing_memory& memory;
    const mode how;
    findings& found;

    void expect(bool good, const char* what) const { found.expect(good, what); }
    bool may_cancel() const { return how.lacks == shortage::shutdown; }
    /// One thread runs at a time, and a thread of the program that waits for another one by itself
    /// would hold the gate: programs of one thread and its tasks.
    bool passes_gate() const { return how.lacks == shortage::chosen; }
    bool may_refuse() const { return how.lacks == shortage::memory || may_cancel(); }

    /// Waits in one of the ways there are. True: the task ran, as far as the wait says.
    bool settle(draw& d, braid::task_id id) const {
        bool good = static_cast<bool>(id);
        try {
            if (d.chance(50)) {
                s.wait(id);
            } else {
                // A task that polls for ever has to wait so long now and then that somebody can
                // stand in for it: see the manual.
                constexpr int short_waits = 20;
                int waits = 0;
                const auto pause = d.below(200);
                while (!s.wait_for(
                    id, braid::microseconds(waits < short_waits ? pause : pause + 1'000))) {
                    ++waits;
                }
            }
        } catch (const planned&) {
            good = false;
        } catch (const braid::task_cancelled&) {
            expect(may_cancel(), "a wait said 'cancelled' and nobody had cancelled");
            good = false;
        }
        expect(!id || s.done(id), "a wait ended before its task");
        expect(id || may_refuse(), "a spawn was refused without need");
        // A wait that came after a cancellation says only that the task is complete.
        return good && !may_cancel();
    }
};

/// From some request on memory is refused, until the end of the operation, or until it comes back.
class pinch {
public:
    pinch(const arena& a, draw& d) : memory_(a.memory) {
        on_ = a.how.lacks == shortage::memory && d.chance(70);
        const int requests = d.chance(50) ? 0 : d.below(30);
        if (on_) memory_.refuse_after(requests);
    }
    ~pinch() {
        if (on_) memory_.give_back();
    }
    pinch(const pinch&) = delete;
    pinch& operator=(const pinch&) = delete;

private:
    braid_test::refusing_memory& memory_;
    bool on_;
};

/// Some work: up to so many microseconds.
inline void work(draw d, int most_us) {
    const auto end =
        std::chrono::steady_clock::now() + std::chrono::microseconds(d.below(most_us + 1));
    while (std::chrono::steady_clock::now() < end) {
    }
}

}  // namespace attack
