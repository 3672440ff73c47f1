// One frame as a picture: a lane for each thread with a bar for each task, below it the stages with
// the chain of them that the frame had to wait for.
#include "report.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <fstream>
#include <stdexcept>

namespace arena::host {
namespace {

constexpr double left = 150, width = 1240, lane_height = 54, row_height = 20, top = 64;

struct stage_span {
    nanoseconds begin = 0, end = 0, busy = 0;
    std::uint32_t parts = 0;
    bool critical = false;
};

std::string colour_of(std::size_t stage) {
    // Neighbouring stages get hues far apart: multiples of the golden angle.
    return fmt::format("hsl({},62%,{}%)", stage * 137 % 360, stage % 2 ? 56 : 66);
}

class drawing {
public:
    drawing(std::span<const stage> table, const kept_frame& frame)
        : table_(table), frame_(frame), tasks_(frame.tasks) {
        std::sort(tasks_.begin(), tasks_.end(), [](const task_record& a, const task_record& b) {
            return a.lane != b.lane ? a.lane < b.lane : a.begin < b.begin;
        });
        for (const task_record& task : tasks_) {
            stage_span& span = spans_[task.stage];
            span.begin = span.parts == 0 ? task.begin : std::min(span.begin, task.begin);
            span.end = std::max(span.end, task.end);
            span.busy += task.end - task.begin;
            ++span.parts;
            lane_of(task.lane);
        }
        mark_critical();
    }

    std::string text(const std::string& title) {
        const double height =
            top + lanes_height() + 60 + static_cast<double>(table_.size()) * row_height + 40;
        out_ = fmt::format(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" height=\"{1}\" "
            "viewBox=\"0 0 {0} {1}\" font-family=\"sans-serif\" font-size=\"12\">\n"
            "<rect width=\"100%\" height=\"100%\" fill=\"#14161c\"/>\n"
            "<text x=\"{2}\" y=\"26\" fill=\"#fff\" font-size=\"17\">{3}</text>\n"
            "<text x=\"{2}\" y=\"46\" fill=\"#aab\">{4:.2f} ms, {5} tasks; stages that the frame "
            "waited for are named in orange</text>\n",
            left + width + 30, height, left, title, to_ms(frame_.time), frame_.tasks.size());
        draw_axis(height);
        draw_lanes();
        draw_stages();
        return out_ + "</svg>\n";
    }

private:
    static double to_ms(nanoseconds time) { return static_cast<double>(time) * 1e-6; }
    double x(nanoseconds time) const {
        return left + width * static_cast<double>(time - frame_.begin) /
                          static_cast<double>(std::max<nanoseconds>(frame_.time, 1));
    }

    // From the stage that ends last back through the latest of its predecessors.
    void mark_critical() {
        if (table_.empty()) return;  // a stub of the game has run
        std::size_t at = 0;
        for (std::size_t i = 0; i < table_.size(); ++i)
            if (spans_[i].end > spans_[at].end) at = i;
        for (;;) {
            spans_[at].critical = true;
            if (table_[at].after.empty()) return;
            std::size_t latest = table_[at].after[0];
            for (std::size_t earlier : table_[at].after)
                if (spans_[earlier].end > spans_[latest].end) latest = earlier;
            at = latest;
        }
    }

    void draw_axis(double height) {
        const double total = to_ms(frame_.time);
        const double step = total > 24 ? 4 : total > 8 ? 1 : 0.5;
        for (double ms = 0; ms <= total; ms += step) {
            const double at = left + width * ms / total;
            out_ += fmt::format(
                "<path d=\"M{0:.1f} {1}V{2}\" stroke=\"#2a2e3a\"/>"
                "<text x=\"{0:.1f}\" y=\"{3}\" fill=\"#889\" text-anchor=\"middle\">{4:g} "
                "ms</text>\n",
                at, top - 6, height - 30, height - 14, ms);
        }
    }

    // Threads that ran nothing in this frame have no lane.
    std::size_t lane_of(std::uint32_t thread) {
        const auto found = std::find(threads_.begin(), threads_.end(), thread);
        const auto at = static_cast<std::size_t>(found - threads_.begin());
        if (found == threads_.end()) threads_.push_back(thread);
        return at;
    }

    void draw_lanes() {
        for (std::size_t lane = 0; lane < threads_.size(); ++lane)
            out_ += fmt::format(
                "<text x=\"{}\" y=\"{}\" fill=\"#dde\" text-anchor=\"end\">{}</text>\n", left - 10,
                top + static_cast<double>(lane) * lane_height + 30,
                threads_[lane] == 0 ? "main" : fmt::format("thread {}", threads_[lane]));
        for (const task_record& task : tasks_) {
            const double from = x(task.begin), length = x(task.end) - from;
            out_ += fmt::format(
                "<rect x=\"{:.2f}\" y=\"{}\" width=\"{:.2f}\" height=\"{}\" "
                "fill=\"{}\"><title>{} {}: {:.0f} us</title></rect>\n",
                from, lane_top(task) + 4, std::max(length - 0.3, 0.4), lane_height - 12,
                colour_of(task.stage), table_[task.stage].name, task.part,
                static_cast<double>(task.end - task.begin) * 1e-3);
        }
        for (std::size_t first = 0; first < tasks_.size();) first = name_run(first);
    }

    // Writes the name of a stage over its tasks that follow one another; the task behind them.
    std::size_t name_run(std::size_t first) {
        std::size_t last = first;
        while (last + 1 < tasks_.size() && tasks_[last + 1].stage == tasks_[first].stage &&
               tasks_[last + 1].lane == tasks_[first].lane)
            ++last;
        const std::string_view name = table_[tasks_[first].stage].name;
        const double from = x(tasks_[first].begin), to = x(tasks_[last].end);
        if (to - from > 7.5 * static_cast<double>(name.size()))
            out_ += fmt::format(
                "<text x=\"{:.1f}\" y=\"{}\" fill=\"#111\" font-size=\"12\" "
                "font-weight=\"bold\" pointer-events=\"none\">{}</text>\n",
                from + 4, lane_top(tasks_[first]) + 29, name);
        return last + 1;
    }

    double lane_top(const task_record& task) {
        return top + static_cast<double>(lane_of(task.lane)) * lane_height;
    }
    double lanes_height() const { return static_cast<double>(threads_.size()) * lane_height; }

    void draw_stages() {
        double y = top + lanes_height() + 40;
        for (std::size_t i = 0; i < table_.size(); ++i, y += row_height) {
            const stage_span& span = spans_[i];
            if (span.parts == 0) continue;
            const double from = x(span.begin), length = std::max(x(span.end) - from, 1.5);
            const bool to_the_left = from + length > left + width - 260;
            out_ += fmt::format(
                "<text x=\"{}\" y=\"{}\" fill=\"{}\" text-anchor=\"end\">{}</text>"
                "<rect x=\"{:.1f}\" y=\"{}\" width=\"{:.1f}\" height=\"{}\" rx=\"2\" fill=\"{}\" "
                "stroke=\"{}\"/>"
                "<text x=\"{:.1f}\" y=\"{}\" fill=\"#99a\" font-size=\"11\" text-anchor=\"{}\">"
                "{} task{}, {:.2f} ms of work in {:.2f} ms</text>\n",
                left - 10, y + 13, span.critical ? "#ffa640" : "#99a", table_[i].name, from, y + 2,
                length, row_height - 5, colour_of(i), span.critical ? "#ffa640" : "none",
                to_the_left ? from - 6 : from + length + 6, y + 13, to_the_left ? "end" : "start",
                span.parts, span.parts == 1 ? "" : "s", to_ms(span.busy),
                to_ms(span.end - span.begin));
        }
    }

    std::span<const stage> table_;
    const kept_frame& frame_;
    std::vector<task_record> tasks_;  // by lane, then by time
    std::array<stage_span, max_stages> spans_{};
    std::vector<std::uint32_t> threads_;  // of the lanes, top to bottom
    std::string out_;
};

}  // namespace

void write_timeline(const std::filesystem::path& file, std::span<const stage> table,
                    const kept_frame& frame, const std::string& title) {
    std::ofstream stream(file);
    stream << drawing(table, frame).text(title);
    if (!stream.flush()) throw std::runtime_error("cannot write " + file.string() + ".");
}

}  // namespace arena::host
