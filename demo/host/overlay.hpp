// What the window paints over the finished picture: lanes of the threads, a graph of frame times.
#pragma once

#include "backend.hpp"
#include "game_code.hpp"
#include "recorder.hpp"

#include "../game/render/renderer.hpp"

#include <array>
#include <string>
#include <vector>

namespace arena::host {

struct overlay_state {
    std::string backend;
    unsigned workers;
    std::uint32_t characters;
    waiting_work waiting = {};
};

class overlay {
public:
    void paint(renderer& picture, std::span<const stage> table, const recorder& frame,
               const overlay_state& state);

    /// What paint() has written into the first line.
    const std::string& headline() const { return headline_; }

    /// What became of new code, for some seconds: the sentence, and below it times and counts.
    void show_news(const code_change& change);

private:
    void add_news(const renderer& picture, float bottom);
    void add_lanes(const renderer& picture, const recorder& frame);
    void add_graph(const renderer& picture, float frame_ms);

    std::vector<ui_box> boxes_;
    std::vector<ui_text> texts_;
    std::array<float, 180> history_{};  // milliseconds, a ring
    std::size_t frames_ = 0;
    std::string headline_, scale_;
    code_change news_;
    std::vector<std::string> news_lines_;
    std::size_t news_until_ = 0;  // frame
};

}  // namespace arena::host
