#include "overlay.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <string_view>

namespace arena::host {
namespace {

constexpr float margin = 16, lanes_height = 88, graph_height = 70;
constexpr float target_ms = 1000.0f / 60;
constexpr std::size_t news_frames = 300;
constexpr float letter_width = 7, line_height = 14;  // at least
constexpr rgba8 back = make_rgba(8, 10, 16, 170), grey = make_rgba(190, 198, 210);

rgba8 colour_of(std::uint32_t stage) {
    const float hue = static_cast<float>(stage) * 2.39996f;
    const auto channel = [hue](float shift) {
        return static_cast<unsigned>(150 + 90 * std::cos(hue + shift));
    };
    return make_rgba(channel(0), channel(2.1f), channel(4.2f));
}

/// Cuts at spaces where it can.
void add_lines(std::string_view text, std::size_t letters, std::vector<std::string>& lines) {
    while (!text.empty()) {
        std::size_t end = text.size();
        if (end > letters) {
            const std::size_t space = text.rfind(' ', letters);
            end = space == std::string_view::npos || space == 0 ? letters : space;
        }
        lines.emplace_back(text.substr(0, end));
        text.remove_prefix(std::min(text.find_first_not_of(' ', end), text.size()));
    }
}

// The row of each lane; lanes that ran nothing in this frame take no room.
std::vector<std::uint32_t> rows_of(const recorder& frame) {
    std::vector<std::uint32_t> rows(std::max(frame.lanes(), 1u), 0);
    for (const task_record& task : frame.tasks()) rows[task.lane] = 1;
    std::uint32_t row = 0;
    for (std::uint32_t& lane : rows) lane = lane == 0 ? 0 : row++;
    return rows;
}

}  // namespace

void overlay::paint(renderer& picture, std::span<const stage> table, const recorder& frame,
                    const overlay_state& state) {
    boxes_.clear();
    texts_.clear();
    const auto ms = static_cast<float>(frame.frame_time()) * 1e-6f;
    history_[frames_++ % history_.size()] = ms;
    const std::size_t kept = std::min(frames_, history_.size());
    std::array<float, 180> sorted = history_;
    std::nth_element(sorted.begin(), sorted.begin() + static_cast<std::ptrdiff_t>(kept / 2),
                     sorted.begin() + static_cast<std::ptrdiff_t>(kept));
    headline_ = fmt::format(
        "{}, {} worker{}: {:.1f} ms (median {:.1f}), {} tasks in {} stages, "
        "{} suspended, {} outside",
        state.backend, state.workers, state.workers == 1 ? "" : "s", ms, sorted[kept / 2],
        frame.tasks().size(), table.size(), state.waiting.suspended, state.waiting.outside);
    add_lanes(picture, frame);
    add_graph(picture, ms);
    add_pages(picture, state.pages);
    const auto top = static_cast<float>(picture.height()) - 150;
    texts_.push_back({margin + 8, top, 1, make_rgba(255, 226, 170), headline_});
    texts_.push_back({margin + 8, top + 16, 1, grey,
                      "0-8 workers   S serial   +/- characters   drag, wheel: camera   Q quit"});
    if (frames_ < news_until_) add_news(picture, top - 22);
    picture.paint_overlay(boxes_, texts_);
}

void overlay::show_news(const code_change& change) {
    news_ = change;
    news_until_ = frames_ + news_frames;
}

void overlay::add_news(const renderer& picture, float bottom) {
    const float width = static_cast<float>(picture.width()) - 2 * margin;
    const auto letters = static_cast<std::size_t>(std::max(width - 16, 0.0f) / letter_width);
    news_lines_.clear();
    for (const std::string& text : {news_.text, in_figures(news_)})
        add_lines(text, std::max<std::size_t>(letters, 1), news_lines_);
    const float height = 12 + line_height * static_cast<float>(news_lines_.size());
    boxes_.push_back({margin, bottom - height, width, height, back});
    float y = bottom - height + 6;
    for (const std::string& line : news_lines_) {
        texts_.push_back({margin + 8, y, 1, make_rgba(255, 226, 170), line});
        y += line_height;
    }
}

void overlay::add_lanes(const renderer& picture, const recorder& frame) {
    const float width = static_cast<float>(picture.width()) * 0.62f;
    const auto bottom = static_cast<float>(picture.height()) - margin;
    const std::vector<std::uint32_t> rows = rows_of(frame);
    const float height = std::min(
        lanes_height / static_cast<float>(*std::max_element(rows.begin(), rows.end()) + 1), 30.0f);
    boxes_.push_back({margin, bottom - 140, width + 16, 140, back});
    const auto total = static_cast<float>(std::max<nanoseconds>(frame.frame_time(), 1));
    const float top = bottom - 96;
    for (const task_record& task : frame.tasks()) {
        const auto from = static_cast<float>(task.begin - frame.frame_begin()) / total;
        const auto length = static_cast<float>(task.end - task.begin) / total;
        boxes_.push_back(
            {margin + 8 + from * width, top + static_cast<float>(rows[task.lane]) * height,
             std::max(length * width - 0.5f, 0.5f), height - 1, colour_of(task.stage)});
    }
}

void overlay::add_graph(const renderer& picture, float frame_ms) {
    const auto right = static_cast<float>(picture.width()) - margin;
    const auto bottom = static_cast<float>(picture.height()) - margin;
    const float width = static_cast<float>(history_.size()) * 2;
    const float left = right - width;
    const float scale = graph_height / (2 * target_ms);
    boxes_.push_back({left - 8, bottom - graph_height - 26, width + 16, graph_height + 26, back});
    for (std::size_t i = 0; i < history_.size(); ++i) {
        const float ms = history_[(frames_ + i) % history_.size()];
        const float height = std::min(ms * scale, graph_height);
        const rgba8 colour = ms > target_ms ? make_rgba(236, 96, 72) : make_rgba(96, 208, 128);
        boxes_.push_back({left + static_cast<float>(i) * 2, bottom - height, 1.5f, height, colour});
    }
    boxes_.push_back({left, bottom - target_ms * scale, width, 1, make_rgba(255, 255, 255, 160)});
    scale_ = fmt::format("frame {:.1f} ms, line at 16.7", frame_ms);
    texts_.push_back({left, bottom - graph_height - 20, 1, grey, scale_});
}

/// A dot for each page of the pack that is in memory, in the order of the pack.
void overlay::add_pages(const renderer& picture, const pages_seen& pages) {
    pages_line_.clear();
    if (pages.count == 0) return;
    constexpr std::uint32_t in_row = 120;
    constexpr float step = 3;
    const float height = step * static_cast<float>((pages.count + in_row - 1) / in_row);
    const float left = static_cast<float>(picture.width()) - margin - step * in_row;
    const float top =
        static_cast<float>(picture.height()) - 2 * margin - graph_height - 26 - height - 8;
    boxes_.push_back({left - 8, top - 22, step * in_row + 16, height + 30, back});
    for (const std::uint32_t page : pages.resident) {
        boxes_.push_back({left + step * static_cast<float>(page % in_row),
                          top + step * static_cast<float>(page / in_row), step - 1, step - 1,
                          make_rgba(120, 190, 240)});
    }
    constexpr double mib = 1 << 20;
    pages_line_ =
        fmt::format("{} of {} pages, {:.1f} MiB; {:.0f} MiB read, {} stalls", pages.resident.size(),
                    pages.count, static_cast<double>(pages.bytes) / mib,
                    static_cast<double>(pages.read_bytes) / mib, pages.stalls);
    texts_.push_back({left, top - 16, 1, grey, pages_line_});
}

}  // namespace arena::host
