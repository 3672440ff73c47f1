// A processor that is no core, for the stages of the frame that state their work as data.
#pragma once

#include "../../game/game_api.hpp"

#include <braid/core/future.hpp>
#include <braid/core/scheduler.hpp>
#include <braid/device/processor.hpp>
#include <braid/device/sequence.hpp>

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace arena::host {

/// What --device names.
struct device_wish {
    enum class kind : std::uint8_t { cpu, local_store, fake, vulkan } of = kind::cpu;
    bool strict = false;     // local_store
    bool overrun = false;    // strict: kernels read a byte too many
    std::string name;        // vulkan: a part of it; empty: any
    std::uint64_t seed = 1;  // fake
    double loss = 0, oom = 0, hang = 0, corrupt = 0, reorder = 0;
};
/// KIND, or KIND:MORE. Throws a sentence where there is no such processor.
device_wish parse_device(const std::string& text);
/// What --device may be, for messages.
const char* device_kinds();

/// What went there and came back.
struct device_counts {
    braid::device::processor_report of;
    std::uint64_t bytes_in = 0, bytes_out = 0, pieces = 0;
    std::uint64_t bytes_copied = 0;  // of these, on the way there and back
    std::uint64_t again = 0;         // rows whose memory was lost with the processor
};

class stage_device {
public:
    stage_device(braid::scheduler& scheduler, const device_wish& wish);
    ~stage_device();

    /// At the beginning of a frame. A fake processor that was lost three times is tried again, so
    /// that a run sees more than its first three losses.
    void begin_frame();
    /// For the running task, which is complete when the row is. One frame at a time; several rows
    /// of it at once. The arrays of the kernel are imported, and stay as long as this does.
    void submit(braid::task_context& task, std::size_t row, const kernel& work, game& world);
    device_counts counts() const;
    const char* name() const { return processor_->name(); }

private:
    /// Memory of the game.
    struct array {
        std::span<std::byte> memory;
        braid::device::buffer there;  // empty: not imported
    };
    struct row {
        const kernel* work = nullptr;
        game* world = nullptr;
        std::optional<braid::device::sequence> all;
        std::vector<array> arrays;
        std::vector<std::span<std::byte>> arrays_now;  // empty between two submissions
        bool lost = false;                             // what was imported before
    };

    void import_arrays(row& r);
    braid::device::buffer import(std::span<std::byte> memory);
    const array* array_of(const row& r, std::span<const std::byte> operand) const;
    bool is_copied(const array* of, std::span<const std::byte> operand) const;
    void submit_pieces(braid::task_context& task, std::size_t number);
    void try_imported(braid::task_id parent, std::size_t number);
    void look_at_end(braid::task_id parent, std::size_t number, braid::future<void>& tried);
    void add(std::size_t number, const kernel_work& piece);

    braid::scheduler& scheduler_;
    device_wish::kind kind_;
    std::unique_ptr<braid::device::processor, void (*)(braid::device::processor*)> processor_;
    std::size_t most_bytes_ = 0;
    std::array<row, max_stages> rows_;
    // relaxed: read when no frame is in flight.
    std::atomic<std::uint64_t> bytes_in_{0}, bytes_out_{0}, bytes_copied_{0}, pieces_{0}, again_{0};
};

}  // namespace arena::host
