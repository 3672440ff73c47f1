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

/// What is streamed.
struct pages_seen {
    std::uint32_t count = 0;  // of the pack; 0: nothing is streamed
    std::vector<std::uint32_t> resident;
    std::size_t bytes = 0;  // of those
    std::uint64_t read_bytes = 0, stalls = 0;
};

struct overlay_state {
    std::string backend;
    unsigned workers;
    std::uint32_t characters;
    waiting_work waiting = {};
    pages_seen pages = {};
};

class overlay {
public:
    void paint(renderer& picture, std::span<const stage> table, const recorder& frame,
               const overlay_state& state);

    /// What paint() has written into the first line.
    const std::string& headline() const { return headline_; }
    /// Likewise above the pages; "": nothing is streamed.
    const std::string& pages_line() const { return pages_line_; }

    /// What became of new code, for some seconds: the sentence, and below it times and counts.
    void show_news(const code_change& change);

private:
    void add_news(const renderer& picture, float bottom);
    void add_lanes(const renderer& picture, const recorder& frame);
    void add_graph(const renderer& picture, float frame_ms);
    void add_pages(const renderer& picture, const pages_seen& pages);

    std::vector<ui_box> boxes_;
    std::vector<ui_text> texts_;
    std::array<float, 180> history_{};  // milliseconds, a ring
    std::size_t frames_ = 0;
    std::string headline_, scale_, pages_line_;
    code_change news_;
    std::vector<std::string> news_lines_;
    std::size_t news_until_ = 0;  // frame
};

}  // namespace arena::host
