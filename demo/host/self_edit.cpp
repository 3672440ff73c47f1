#include "self_edit.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdlib>
#include <limits>
#include <stdexcept>
#include <thread>

namespace arena::host {
namespace {

namespace fs = std::filesystem;
using std::chrono::steady_clock;

struct source_change {
    const char *file, *from, *to;
};

enum class expected : std::uint8_t { same_values, faster, refused };

double seconds_since(steady_clock::time_point begin) {
    return std::chrono::duration<double>(steady_clock::now() - begin).count();
}

fs::path folder_of(const options& wish) { return fs::absolute(wish.out) / "self_edit"; }

std::vector<std::string> descriptions(const world& of) {
    std::vector<std::string> all;
    std::array<char, 256> room;
    for (std::uint32_t i = 0; i < of.characters(); ++i)
        all.emplace_back(of.api().describe(of.state(), i, room));
    return all;
}

/// The value of that name in a description.
std::string field(const std::string& text, const std::string& name) {
    const std::size_t at = text.find(" " + name + "=");
    if (at == std::string::npos) return "";
    const std::size_t begin = at + name.size() + 2;
    return text.substr(begin, text.find(' ', begin) - begin);
}

/// The median of those who want to walk.
double walking_speed(const std::vector<std::string>& all) {
    std::vector<double> speeds;
    for (const std::string& one : all)
        if (field(one, "wish") == "walk")
            speeds.push_back(std::strtod(field(one, "speed").c_str(), nullptr));
    return summarise(std::move(speeds)).p50;
}

constexpr const char* new_field = " courage=0.5";

}  // namespace

struct self_edit::edit {
    std::uint32_t frame;   // before which it is loaded
    std::uint32_t judged;  // the frame before which it must have come out
    const char* what;
    expected comes;
    std::vector<source_change> changes;
};

const std::vector<self_edit::edit>& self_edit::edits() {
    static const std::vector<edit> all = {
        {100,
         100,
         "a field is added to character, two change places, one is widened",
         expected::same_values,
         {{"game.hpp",
           "    float size;          // 1 = as imported\n"
           "    float radius;        // of its disc on the floor, metres\n",
           "    float radius;\n    float size;\n    float courage = 0.5f;\n"},
          {"game.hpp", "    std::uint32_t model;\n", "    std::uint64_t model;\n"},
          {"game.cpp", "patience=%.3f\",", "patience=%.3f courage=%.1f\","},
          {"game.cpp", "metres(who.patience));", "metres(who.patience), metres(who.courage));"}}},
        {200,
         250,
         "characters walk twice as fast",
         expected::faster,
         {{"crowd.cpp", "walk_speed = 1.3f", "walk_speed = 2.6f"}}},
        {250,
         250,
         "a null pointer is followed",
         expected::refused,
         // Others may write there, or the compiler would see what will happen.
         {{"crowd.cpp", "#include <algorithm>\n", "#include <algorithm>\n#include <atomic>\n"},
          {"crowd.cpp", "void update_characters(",
           "std::atomic<const float*> nobody{nullptr};\n\nvoid update_characters("},
          {"crowd.cpp", "        who.patience -= step_seconds;\n",
           "        who.patience -= *nobody.load();\n"}}}};
    return all;
}

void self_edit::prepare(options& wish) {
    const fs::path live = folder_of(wish) / "live";
    std::error_code trouble;
    fs::remove_all(live, trouble);
    fs::create_directories(live, trouble);
    for (const char* part : {"libarena_game.so", "libarena_sound.so"}) {
        if (!trouble) fs::copy(wish.modules / part, live / part, trouble);
    }
    if (trouble)
        throw std::runtime_error("cannot copy the modules of " + wish.modules.string() + " to " +
                                 live.string() + ".");
    wish.modules = live;
}

self_edit::self_edit(const options& wish, game_code& code)
    : code_(code), live_(wish.modules / "libarena_game.so") {
    edited_copy source(folder_of(wish));
    for (const edit& one : edits()) {
        if (wish.self_edit == "layout" && one.comes != expected::same_values) continue;
        const auto begin = steady_clock::now();
        for (const auto& [file, from, to] : one.changes) source.replace(file, from, to);
        const fs::path module = source.build(fmt::format("game_{}.so", one.frame));
        built_.push_back({&one, module, seconds_since(begin)});
    }
}

std::uint32_t self_edit::next_stop(std::uint32_t frame) const {
    auto next = std::numeric_limits<std::uint32_t>::max();
    for (const built_edit& one : built_)
        for (const std::uint32_t stop : {one.what->frame, one.what->judged})
            if (stop > frame) next = std::min(next, stop);
    return next;
}

void self_edit::at_frame(std::uint32_t frame, const contenders& all) {
    for (built_edit& one : built_) {
        if (one.what->frame == frame) apply(one, all);
        if (one.what->judged == frame && one.what->comes == expected::faster) judge(one, all);
    }
}

void self_edit::apply(built_edit& one, const contenders& all) {
    const std::vector<std::string> before = descriptions(all.front()->own_world());
    one.walked = walking_speed(before);
    fmt::print("\nBefore frame {}: {}; built in {:.1f} s.\n", one.what->frame, one.what->what,
               one.seconds);
    fmt::print("{}", game_code::plan(live_, one.module));
    const code_change change = reload(one, all);
    const std::vector<std::string> after = descriptions(all.front()->own_world());
    fmt::print("Character 0 before: {}\n             after: {}\n\n", before[0], after[0]);
    one.failed = change.loaded == 1 ? "" : "it was not loaded";
    if (one.what->comes == expected::refused) {
        one.failed = change.refused == 1 && before == after ? "" : "it was not refused";
    } else if (one.what->comes == expected::same_values && one.failed.empty()) {
        const auto gained = [](const std::string& a, const std::string& b) {
            return a + new_field == b;
        };
        if (change.objects == 0 || !std::ranges::equal(before, after, gained))
            one.failed = "values have changed";
    }
}

/// Puts the module in place and takes it at the first boundary that has something to say: new code
/// may be tried first, beside the frames.
code_change self_edit::reload(const built_edit& one, const contenders& all) {
    code_.put_in_place(one.module);
    const auto begin = steady_clock::now();
    code_change change = code_.at_frame_boundary();
    while (!change && seconds_since(begin) < 20) {
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
        change = code_.at_frame_boundary();
    }
    print_news(change);
    fmt::print("  {:.0f} ms after it was put in place\n", 1000 * seconds_since(begin));
    if (change.loaded != 0)
        for (const auto& contender : all) contender->follow_code();
    return change;
}

void self_edit::judge(built_edit& one, const contenders& all) const {
    const double walks = walking_speed(descriptions(all.front()->own_world()));
    fmt::print("\nBefore frame {}: who walks does {:.2f} m/s; it was {:.2f} before frame {}.\n",
               one.what->judged, walks, one.walked, one.what->frame);
    if (one.failed.empty() && walks < 1.4 * one.walked) one.failed = "nobody is faster";
}

bool self_edit::came_out() const {
    bool good = true;
    for (const built_edit& one : built_) {
        if (one.failed.empty()) continue;
        good = false;
        fmt::print(stderr, "arena: the edit of frame {} did not come out: {}.\n", one.what->frame,
                   one.failed);
    }
    return good;
}

}  // namespace arena::host
