#include "braid_frames.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cstdio>
#include <stdexcept>

namespace arena::host {
namespace {

constexpr std::size_t most_jobs = 8192;
constexpr const char* shadow_names[] = {"skinning", "light binning", "floor lightmap"};

std::uint32_t row_called(std::span<const stage> table, std::string_view name) {
    const auto found = std::find_if(table.begin(), table.end(),
                                    [&](const stage& row) { return row.name == name; });
    return static_cast<std::uint32_t>(found - table.begin());
}

/// Why another back end reads than one might expect, and which page cannot be had.
void print_message(void*, braid::log_level, const char* message) {
    std::fprintf(stderr, "%s.\n", message);
}
/// Pages are named as above, and a frame that needs one hears of it from the cache.
void print_unless_of_a_page(void*, const char* task, std::exception_ptr error) {
    try {
        std::rethrow_exception(std::move(error));
    } catch (const braid::page_error&) {
    } catch (const braid::task_cancelled&) {
    } catch (...) {
        std::fprintf(stderr, "arena: '%s' failed, and nobody waited for it.\n", task);
    }
}

}  // namespace

std::unique_ptr<backend> make_braid_backend(unsigned workers) {
    return std::make_unique<braid_frames>(workers, frame_options{});
}

std::vector<std::string> braid_frames::stage_names(std::span<const stage> table) {
    std::vector<std::string> names = {"simulate", "draw"};
    for (const stage& row : table) names.push_back(row.name);
    return names;
}

braid_frames::braid_frames(unsigned workers, const frame_options& wish)
    : wish_(wish),
      scheduler_({.name = "arena",
                  .workers = static_cast<int>(workers),
                  .long_task = {},  // the table of stages has them
                  .log = wish.stream.wanted ? braid::log_handler{&print_message}
                                            : braid::log_handler::silent(),
                  .unobserved_exception = {&print_unless_of_a_page},
                  .observer = records() ? &capture_ : nullptr}),
      loop_(scheduler_,
            {.name = "frame",
             .depth = wish.pipeline,
             .while_waiting = wish.shadow_jobs ? braid::help::needed : braid::help::any}) {
    if (records()) begin_capture();
    if (!wish.device.empty()) device_.emplace(scheduler_, parse_device(wish.device));
    if (wish.stream.wanted) assets_.emplace(scheduler_, wish.stream, wish.pipeline + 1);
    if (!wish.shadow_jobs) return;
    jobs_.reserve(most_jobs);
    lists_.register_job(&run_job, "part of a stage");
    shadows_ = lists_.allocate({.name = "shadows", .max_jobs = most_jobs, .max_syncs = 1});
}

braid_frames::~braid_frames() { finish(); }

void braid_frames::begin_capture() {
    const auto demand = [](const braid::status& went) {
        if (!went) throw std::runtime_error(went.text + ".");
    };
    std::vector<braid::profile::capture_sink*> all;
    if (wish_.live != nullptr) all.push_back(wish_.live);
    if (!wish_.capture.empty()) {
        if (wish_.capture.has_parent_path()) {
            std::filesystem::create_directories(wish_.capture.parent_path());
        }
        demand(file_.open(wish_.capture.string()));
        all.push_back(&file_);
    }
    demand(capture_.start(sinks_.emplace(std::move(all))));
}

void braid_frames::end_capture() {
    if (!records()) return;
    finish();
    braid::status went = capture_.stop();
    if (went) went = file_.close();
    if (!went) throw std::runtime_error(went.text + ".");
    const braid::profile::recorder::counts all = capture_.statistics();
    if (wish_.capture.empty()) {
        fmt::print("Recorded {} records of {} threads, {} had no room\n", all.records, all.threads,
                   all.dropped);
    } else {
        fmt::print("Wrote {} records of {} threads to {}, {} had no room\n", all.records,
                   all.threads, wish_.capture.string(), all.dropped);
    }
}

void braid_frames::run_frame(std::span<const stage> table, game& world, recorder& times) {
    if (world_ == nullptr || table.data() != table_.data()) {
        prepare(table, world, {&times, 1}, [](std::uint64_t) {}, [](std::uint64_t) {});
    }
    use_world(world);  // the graphs stay as they are: a crowd of another size has the same table
    times_ = {&times, 1};
    advance();
    finish();
}

waiting_work braid_frames::waiting() const {
    const braid::scheduler_statistics now = scheduler_.statistics();
    return {now.suspended(), now.outside()};
}

void braid_frames::prepare(std::span<const stage> table, game& world, std::span<recorder> times,
                           std::function<void(std::uint64_t)> after_simulating,
                           std::function<void(std::uint64_t)> after_drawing) {
    table_ = table;
    world_ = &world;
    times_ = times;
    after_simulating_ = std::move(after_simulating);
    after_drawing_ = std::move(after_drawing);
    build();
}

void braid_frames::build() {
    drawing_.reset();  // what comes later in a frame ends first
    simulating_.emplace(loop_, braid::stage_options{.name = "simulate"});
    drawing_.emplace(loop_, braid::stage_options{.name = "draw"});
    all_.clear();
    edges_ = 0;
    for (std::size_t i = 0; i < shadow_rows_.size(); ++i) {
        shadow_rows_[i] = row_called(table_, shadow_names[i]);
    }
    if (std::ranges::find(shadow_rows_, table_.size()) != shadow_rows_.end()) {
        shadow_rows_.fill(static_cast<std::uint32_t>(table_.size()));
    }
    add_rows();
    for (braid::frame_stage* of : {&*simulating_, &*drawing_}) {
        of->nodes().measure(true);  // for the pictures
        if (wish_.serial_stage == of->name()) of->set_serial(true);
        if (!wish_.dynamic_priorities) continue;
        of->nodes().set_priorities(braid::graph_priorities::critical_path);
    }
}

/// begin of the frame -> what is simulated; what is drawn -> end of the frame.
void braid_frames::add_rows() {
    const auto begin = simulating_->add({.name = "begin of the frame", .never_waits = true},
                                        [this](const braid::frame_context& frame) {
                                            times(frame.frame).begin_frame();
                                            if (device_) device_->begin_frame();
                                        });
    for (std::uint32_t row = 0; row < table_.size(); ++row) add_row(row);
    // On this thread's behalf, when all rows of the phase are over.
    const auto simulated = simulating_->add(
        {.name = "end of simulation", .never_waits = true},
        [this](const braid::frame_context& frame) { after_simulating_(frame.frame); });
    const auto drawn = drawing_->add({.name = "end of the frame", .never_waits = true},
                                     [this](const braid::frame_context& frame) {
                                         times(frame.frame).end_frame();
                                         after_drawing_(frame.frame);
                                     });
    for (std::uint32_t row = 0; row < table_.size(); ++row) {
        const bool draws = table_[row].of == phase::draw;
        if (!draws && table_[row].after.empty()) connect(phase::simulate, begin, all_[row]);
        if (is_last(row)) connect(table_[row].of, all_[row], draws ? drawn : simulated);
    }
}

void braid_frames::add_row(std::uint32_t row) {
    const bool jobs = wish_.shadow_jobs && row == shadow_rows_[0];
    braid::frame_stage& of = stage_of(table_[row].of);
    all_.push_back(of.add({.name = table_[row].name, .never_waits = !jobs && !table_[row].may_wait},
                          [this, row, jobs](const braid::frame_context& frame) {
                              jobs ? run_shadow_jobs(frame) : run_row(frame, row);
                          }));
    for (const std::uint8_t earlier : table_[row].after) {
        // All of the frame's simulation comes before its drawing.
        if (table_[earlier].of == table_[row].of) connect(table_[row].of, all_[earlier], all_[row]);
    }
}

/// Nothing of its phase comes after it.
bool braid_frames::is_last(std::uint32_t row) const {
    return std::none_of(table_.begin(), table_.end(), [&](const stage& other) {
        return other.of == table_[row].of &&
               std::find(other.after.begin(), other.after.end(), row) != other.after.end();
    });
}

void braid_frames::connect(phase of, braid::graph_node earlier, braid::graph_node later) {
    stage_of(of).precede(earlier, later);
    ++edges_;
}

void braid_frames::run_row(const braid::frame_context& frame, std::uint32_t row) {
    // The three stages of the job list run as one, in place of the first.
    if (wish_.shadow_jobs && (row == shadow_rows_[1] || row == shadow_rows_[2])) return;
    recorder& own = times(frame.frame);
    if (runs_on_device(frame, row)) {
        return own.run_alone(
            row, [&] { device_->submit(frame.task, row, *table_[row].as_data, *world_); });
    }
    const std::uint32_t parts = own.begin_stage(table_[row], row, *world_);
    const auto run = [this, row, &own](std::size_t part) {
        own.run_part(table_[row], row, *world_, static_cast<std::uint32_t>(part));
    };
    const bool alone = frame.serial || wish_.serial_stage == table_[row].name || parts == 1;
    if (alone || !scheduler_.spawn_batch(
                     {.name = table_[row].name, .parent = frame.task.id(), .never_waits = true},
                     parts, run)) {
        for (std::uint32_t part = 0; part < parts; ++part) run(part);
    }
}

bool braid_frames::runs_on_device(const braid::frame_context& frame, std::uint32_t row) const {
    return device_ && table_[row].as_data != nullptr && !frame.serial &&
           wish_.serial_stage != table_[row].name;
}

/// Skinning; beside it light binning, which needs nothing of that; after it the light on the floor
/// with the shadows of what was skinned.
void braid_frames::run_shadow_jobs(const braid::frame_context& frame) {
    jobs_.clear();
    add_jobs(frame, shadow_rows_[0]);
    shadows_->signal();
    add_jobs(frame, shadow_rows_[1]);
    shadows_->synchronize();
    add_jobs(frame, shadow_rows_[2]);
    const bool alone =
        frame.serial || std::any_of(std::begin(shadow_names), std::end(shadow_names),
                                    [&](const char* name) { return wish_.serial_stage == name; });
    shadows_->submit({.parallelism = alone ? braid::job_submission::inline_run
                                           : braid::job_submission::automatic});
    shadows_->wait();
}

void braid_frames::add_jobs(const braid::frame_context& frame, std::uint32_t row) {
    const std::uint32_t parts = times(frame.frame).begin_stage(table_[row], row, *world_);
    if (jobs_.size() + parts > most_jobs) throw std::runtime_error("too many jobs in a frame.");
    for (std::uint32_t part = 0; part < parts; ++part) {
        jobs_.push_back({this, row, part, &times(frame.frame)});
        shadows_->add(&run_job, &jobs_.back());
    }
}

void braid_frames::run_job(void* data) {
    const job& j = *static_cast<job*>(data);
    j.times->run_part(j.self->table_[j.row], j.row, *j.self->world_, j.part);
}

std::string braid_frames::priorities() const {
    return simulating_->nodes().priorities_to_text() + drawing_->nodes().priorities_to_text();
}

std::string braid_frames::draw_graphs(const std::filesystem::path& folder) const {
    for (const braid::frame_stage* of : {&*simulating_, &*drawing_}) {
        const auto file = folder / (std::string(of->name()) + ".svg");
        if (const braid::status s = of->nodes().write_svg(file.c_str()); !s) return s.text;
    }
    return "";
}

}  // namespace arena::host
