#pragma once
// The back end: submissions go to a queue in order, and a thread of its own waits until they are
// done. It sleeps unless something is in flight, or a device that was lost still has to go.
//
//   start()      any thread, one at a time: copies in, records, collects
//   flush()      the same threads: submits all that was collected
//   work()       the waiter: waits for the oldest, copies out, ends all that are done
//   give_up()    the device goes to `retired_`, with what it still has; the next start makes
//   another destroy()    the waiter, when neither the device nor a thread nor a buffer uses it any
//   more

#include "base/condition.hpp"
#include "braid/device/vulkan.hpp"
#include "device/outside_back_end.hpp"
#include "device/vulkan/gpu.hpp"

#include <optional>
#include <string>

BRAID_NAMESPACE_BEGIN
namespace device::detail::vk {

class vulkan_processor : public outside_back_end {
public:
    vulkan_processor(const vulkan_options& o, const interposer& between);
    ~vulkan_processor() override;

    const char* kind() const override { return "vulkan"; }
    std::size_t size() const override { return sizeof(vulkan_processor); }
    void open() override;
    void close() override;
    bool accepts(const step& s, std::span<char> why) const override;
    bool start(record& r) override;
    bool has_collected() const override { return collected_count_ != 0; }
    void flush() override;
    void give_up() override;
    bool is_busy() const override;
    bool has_memory() const override { return true; }
    bool child_has_buffers() const override { return false; }
    void* allocate_buffer(const buffer_options& what) override;
    void free_buffer(void* memory, std::size_t bytes) override;
    std::int64_t clock_error() const override { return clock_error_; }
    bool import_memory(std::span<std::byte> memory) override;
    void forget_memory(std::span<std::byte> memory) override;

private:
    // A device, and who uses it.
    bool find_device();
    VkResult make_gpu(gpu*& made) const;
    VkResult use_gpu(gpu*& g);
    void stop_using(gpu& g);
    void destroy(gpu* g) const;
    void save_pipelines() const;

    // A submission.
    bool start_on(gpu& g, record& r);
    enum class preparation : std::uint8_t { well, no_memory, never, lost };
    preparation prepare(gpu& g, slot& s);
    slot* take_slot(gpu& g);
    void return_slot(gpu& g, slot& s);
    piece* take_piece(gpu& g, std::size_t bytes, blocks::use what);
    preparation place_operands(gpu& g, slot& s);
    static bool find_buffers(const gpu& g, slot& s);
    static void merge_ranges(slot& s);
    static bool place_copies(slot& s);
    bool copy_in(const slot& s) const;
    void copy_out(const slot& s) const;
    bool collect(gpu& g, slot& s);
    void submit(gpu& g, std::span<slot* const> all);
    void fly(gpu& g, std::span<slot* const> all);
    void lose_with(gpu& g, std::span<slot* const> all);
    bool lose_unsent(gpu& g, slot& s);
    void report_loss() const;
    void end_lost(std::span<slot* const> all) const;

    // The waiter.
    void work();
    struct watched {
        gpu* on = nullptr;
        std::uint64_t value = 0, ns = 0;
    };
    static bool is_done(const gpu& g);
    watched choose_watched();
    bool next_to_watch(watched& next);
    bool has_more(const gpu& g, std::uint64_t value) const;
    void watch(const watched& what);
    void end_until(gpu& g, std::uint64_t value);
    void note_times(gpu& g, std::span<slot* const> all, std::int64_t retired);
    void note_lost(gpu& g);
    gpu* take_done();

    const std::string device_, cache_path_;
    const bool validates_;
    const interposer between_;
    const char* name_ = "";  // also in the destructor
    std::optional<instance> instance_;
    candidate what_;
    std::vector<std::byte> pipelines_before_;
    std::vector<std::byte>
        pipelines_of_last_;  // of those that are gone. The waiter's, until close()
    basic_condition<active_policy> changed_;

    // The thread that starts has these; others see the count with the lock.
    gpu* collects_for_ = nullptr;  // used, as long as there are some
    slot* collected_[gpu::most_together] = {};
    std::size_t collected_count_ = 0;

    // Guarded by the processor's lock.
    gpu* gpu_ = nullptr;  // null: none yet, or the last one was given up
    gpu* retired_ = nullptr;
    bool usable_ = false;  // there is a device, as far as one knows
    bool making_ = false;  // a thread makes one
    bool stopping_ = false;
    bool looks_at_retired_ = false;
    std::int64_t clock_error_ = 0;  // the largest
};

}  // namespace device::detail::vk
BRAID_NAMESPACE_END
