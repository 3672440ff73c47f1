#include "device/vulkan/vulkan_processor.hpp"

#include "device/vulkan/pipeline_file.hpp"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <functional>
#include <iterator>
#include <utility>

BRAID_NAMESPACE_BEGIN
namespace device::detail::vk {

namespace {

using braid::detail::locked;

constexpr std::uint64_t longest_wait = 100'000'000;  // ns
constexpr std::int64_t pause = 1'000'000;            // after a wait without memory
constexpr std::uint32_t spirv_magic = 0x07230203;
constexpr std::size_t shortest_spirv = 5;           // words: its header
constexpr std::size_t kept = std::size_t{1} << 20;  // bytes for copies that a slot keeps

constexpr std::size_t padded(std::size_t bytes) {
    return (bytes + piece_alignment - 1) / piece_alignment * piece_alignment;
}

}  // namespace

vulkan_processor::vulkan_processor(const vulkan_options& o, const interposer& between)
    : device_(o.device != nullptr ? o.device : ""),
      cache_path_(o.pipeline_cache != nullptr ? o.pipeline_cache : ""),
      validates_(o.validation),
      between_(between) {}

vulkan_processor::~vulkan_processor() {
    if (gpu_ != nullptr) destroy(gpu_);
    while (retired_ != nullptr) destroy(std::exchange(retired_, retired_->next));
}

// ---- a device ----------------------------------------------------------------------------------

void vulkan_processor::open() {
    name_ = name();
    if (under_chooser()) {
        return log(log_level::info,
                   "processor '%s' runs everything on the cores, as a chooser "
                   "cannot pass virtual time to a device",
                   name());
    }
    if (!find_device()) return;
    if (!start_thread([](void* self) { static_cast<vulkan_processor*>(self)->work(); }, this)) {
        return log(
            log_level::error,
            "the system refused the thread of processor '%s': it runs everything on the cores",
            name());
    }
    usable_ = true;
    gpu* g = nullptr;
    if (use_gpu(g) == VK_SUCCESS) stop_using(*g);
}

/// False: there is none, which is logged.
bool vulkan_processor::find_device() {
    instance_.emplace();
    const auto say = [](void* self, const char* text) {
        const auto& p = *static_cast<const vulkan_processor*>(self);
        p.log(log_level::error, "processor '%s', validation: %s", p.name_, text);
    };
    const char* const missing =
        instance_->open(between_, validates_ ? instance::message_handler(say) : nullptr, this);
    char why[400] = {};
    if (missing != nullptr) {
        std::snprintf(why, sizeof why, "%s", missing);
    } else {
        const std::vector<candidate> all = instance_->candidates();
        const candidate* const c = choose(all, device_.empty() ? nullptr : device_.c_str(), why);
        if (c != nullptr) what_ = *c;
    }
    if (why[0] != '\0') {
        log(log_level::warning, "processor '%s' runs everything on the cores: %s", name(), why);
        return false;
    }
    if (validates_ && !instance_->has_validation()) {
        log(log_level::warning, "processor '%s': the validation layer of Vulkan is not installed",
            name());
    }
    if (cache_path_.empty()) return true;
    const char* const wrong =
        read_pipelines(cache_path_.c_str(), what_.properties, pipelines_before_);
    if (wrong != nullptr) {
        log(log_level::warning, "'%.200s' %s: kernels are compiled anew", cache_path_.c_str(),
            wrong);
    }
    return true;
}

/// Without the lock.
VkResult vulkan_processor::make_gpu(gpu*& made) const {
    void* const memory = allocate(sizeof(gpu));
    if (memory == nullptr) return VK_ERROR_OUT_OF_HOST_MEMORY;
    auto* const g = ::new (memory) gpu(*this, *instance_, what_);
    const VkResult r = g->open(pipelines_before_);
    if (r == VK_SUCCESS) {
        made = g;
    } else {
        destroy(g);
    }
    return r;
}

/// The one that there is, or a new one; stays until stop_using(). Other than success: no memory, or
/// there is no device any more.
VkResult vulkan_processor::use_gpu(gpu*& g) {
    {
        braid::detail::mutex& mutex = lock();
        const locked l(mutex);
        while (making_) changed_.wait(mutex);
        if (!usable_) return VK_ERROR_INITIALIZATION_FAILED;
        if (gpu_ != nullptr) {
            g = gpu_;
            ++g->users;
            return VK_SUCCESS;
        }
        making_ = true;
    }
    const VkResult r = make_gpu(g);
    {
        const locked l(lock());
        making_ = false;
        usable_ = r == VK_SUCCESS || is_no_memory(r) || r == VK_ERROR_DEVICE_LOST;
        if (r == VK_SUCCESS) {
            gpu_ = g;
            ++g->users;
        }
        changed_.notify_all();
        if (usable_) return r == VK_ERROR_DEVICE_LOST ? VK_ERROR_OUT_OF_DEVICE_MEMORY : r;
    }
    log(log_level::error,
        "the Vulkan driver refused '%.100s' (%d): processor '%s' runs everything on the cores",
        what_.properties.deviceName, r, name());
    return r;
}

void vulkan_processor::stop_using(gpu& g) {
    const locked l(lock());
    if (--g.users == 0 && &g != gpu_) changed_.notify_all();
}

void vulkan_processor::destroy(gpu* g) const {
    g->close();
    g->~gpu();
    release(g, sizeof(gpu));
}

void vulkan_processor::close() {
    {
        const locked l(lock());
        stopping_ = true;
        changed_.notify_all();
    }
    join_thread();
    save_pipelines();
}

/// What the newest device has compiled, which may have been given up.
void vulkan_processor::save_pipelines() const {
    if (cache_path_.empty()) return;
    const gpu* const g = gpu_ != nullptr ? gpu_ : retired_;
    const std::vector<std::byte> all = g != nullptr ? g->pipelines() : pipelines_of_last_;
    if (all.empty() || write_pipelines(cache_path_.c_str(), what_.properties, all)) return;
    log(log_level::warning, "'%.200s' could not be written: kernels are compiled anew next time",
        cache_path_.c_str());
}

// ---- buffers -----------------------------------------------------------------------------------

void* vulkan_processor::allocate_buffer(const buffer_options& what) {
    gpu* g = nullptr;
    const VkResult r = use_gpu(g);
    if (is_no_memory(r)) return nullptr;
    if (r != VK_SUCCESS) return outside_back_end::allocate_buffer(what);
    piece* const p = take_piece(*g, what.bytes, blocks::use::buffers);
    if (p != nullptr) {
        const locked l(lock());
        ++g->buffers;
    }
    std::byte* const memory = p != nullptr ? p->memory() : nullptr;
    if (memory != nullptr) std::memset(memory, 0, what.bytes);
    stop_using(*g);
    return memory;
}

void vulkan_processor::free_buffer(void* memory, std::size_t bytes) {
    for (gpu* g = gpu_ != nullptr ? gpu_ : retired_; g != nullptr;
         g = g == gpu_ ? retired_ : g->next) {
        piece* const p = g->memory.find(memory);
        if (p == nullptr) continue;
        g->memory.give_back(*p, g == gpu_ ? blocks::afterwards::idle : blocks::afterwards::may_run);
        if (--g->buffers == 0 && g != gpu_) changed_.notify_all();
        return;
    }
    outside_back_end::free_buffer(memory, bytes);
}

/// What the driver does not import is copied, as all memory of the program is.
bool vulkan_processor::import_memory(std::span<std::byte> memory) {
    {
        const locked l(lock());
        for (const gpu* g = retired_; g != nullptr; g = g->next) {
            if (g->memory.has_imported(memory)) return false;
        }
    }
    const std::size_t alignment = what_.import_alignment;
    const bool fits = reinterpret_cast<std::uintptr_t>(memory.data()) % piece_alignment == 0;
    gpu* g = nullptr;
    if (alignment == 0 || !fits || use_gpu(g) != VK_SUCCESS) return true;
    if (block* const b = g->memory.import(memory, alignment)) {
        const locked l(lock());
        g->memory.join(b);
    }
    stop_using(*g);
    return true;
}

/// A device that was given up may still write there, and keeps it until it goes.
void vulkan_processor::forget_memory(std::span<std::byte> memory) {
    if (gpu_ != nullptr) gpu_->memory.forget(memory);
}

/// Null: no memory. Without the lock.
piece* vulkan_processor::take_piece(gpu& g, std::size_t bytes, blocks::use what) {
    {
        const locked l(lock());
        if (piece* const p = g.memory.take(bytes, what)) return p;
    }
    block* const b = g.memory.add(bytes, what);
    if (b == nullptr) return nullptr;
    const locked l(lock());
    g.memory.join(b);
    return g.memory.take(bytes, what);
}

// ---- a submission starts -----------------------------------------------------------------------

bool vulkan_processor::accepts(const step& s, std::span<char> why) const {
    const std::span<const std::uint32_t> code = s.kernel.spirv;
    if (code.empty() || (code.size() > shortest_spirv && code[0] == spirv_magic)) return true;
    std::snprintf(why.data(), why.size(),
                  "the SPIR-V of '%.60s' does not begin with its magic number: give the words that "
                  "a compiler wrote, in this machine's order of bytes",
                  s.kernel.name);
    return false;
}

bool vulkan_processor::start(record& r) {
    gpu* g = nullptr;
    VkResult got = VK_ERROR_INITIALIZATION_FAILED;
    const bool has_code = std::all_of(r.steps.begin(), r.steps.end(),
                                      [](const step& s) { return !s.kernel.spirv.empty(); });
    if (has_code) got = use_gpu(g);
    if (is_no_memory(got)) return false;
    if (got != VK_SUCCESS) {
        move_to_cores(r);
        return true;
    }
    // A device was given up and made anew since.
    if (collects_for_ != nullptr && collects_for_ != g) flush();
    const bool started = start_on(*g, r);
    stop_using(*g);
    return started;
}

bool vulkan_processor::start_on(gpu& g, record& r) {
    slot* const s = take_slot(g);
    if (s == nullptr) return false;
    s->of = &r;
    const preparation how = prepare(g, *s);
    if (how == preparation::lost) return lose_unsent(g, *s);
    if (how == preparation::well && copy_in(*s)) return collect(g, *s);
    return_slot(g, *s);
    if (how == preparation::no_memory) return false;
    if (how == preparation::never) {
        move_to_cores(r);
    } else {
        ended(r, attempt::cancelled);
    }
    return true;
}

/// Never: the device does not take one of its steps.
vulkan_processor::preparation vulkan_processor::prepare(gpu& g, slot& s) {
    const std::span<step> steps = s.of->steps;
    if (!std::all_of(steps.begin(), steps.end(), [&](const step& o) { return g.takes(o.what); })) {
        return preparation::never;
    }
    if (!g.widen(s, steps.size())) return preparation::no_memory;
    for (std::size_t i = 0; i < steps.size(); ++i) {
        const unsigned operands = steps[i].what.reads + steps[i].what.writes;
        pipeline* p = nullptr;
        const VkResult r = g.find_pipeline(steps[i].kernel, operands, p);
        if (r != VK_SUCCESS) return is_no_memory(r) ? preparation::no_memory : preparation::lost;
        if (p->handle == VK_NULL_HANDLE) return preparation::never;
        s.steps[i].how = p;
    }
    return place_operands(g, s);
}

slot* vulkan_processor::take_slot(gpu& g) {
    {
        const locked l(lock());
        slot* const s = g.free_slots;
        if (s != nullptr) {
            g.free_slots = s->next;
            return s;
        }
    }
    return g.make_slot();
}

void vulkan_processor::return_slot(gpu& g, slot& s) {
    const locked l(lock());
    s.of = nullptr;
    if (s.copies != nullptr && s.copies->bytes > kept) {
        g.memory.give_back(*std::exchange(s.copies, nullptr));
    }
    s.next = std::exchange(g.free_slots, &s);
}

/// A buffer lies where it is, if its offset will do; room is made for a copy of all others.
vulkan_processor::preparation vulkan_processor::place_operands(gpu& g, slot& s) {
    {
        const locked l(lock());
        if (!find_buffers(g, s)) return preparation::never;
    }
    merge_ranges(s);
    if (s.copied == 0) return preparation::well;
    if (s.copies != nullptr && s.copies->bytes < s.copied) {
        const locked l(lock());
        g.memory.give_back(*std::exchange(s.copies, nullptr));
    }
    if (s.copies == nullptr) s.copies = take_piece(g, s.copied, blocks::use::copies);
    if (s.copies == nullptr) return preparation::no_memory;
    return place_copies(s) ? preparation::well : preparation::never;
}

/// Notes what is no buffer as a range. False: of several steps one would copy a buffer that another
/// one may use where it lies. With the lock.
bool vulkan_processor::find_buffers(const gpu& g, slot& s) {
    s.range_count = 0;
    const std::span<step> steps = s.of->steps;
    for (std::size_t i = 0; i < steps.size(); ++i) {
        place* to = s.steps[i].places;
        const std::span<std::byte>* bytes = steps[i].what.operands;
        for (const operand& o : steps[i].all_operands()) {
            const std::span<std::byte> at = *bytes++;
            place& p = *to++ = {.bytes = at.size()};
            // One that was made before a loss is none of this device.
            const block* const b = o.range.of ? g.memory.find_block(at) : nullptr;
            const auto offset = b != nullptr ? static_cast<std::size_t>(at.data() - b->mapped) : 0;
            if (b != nullptr && offset % piece_alignment == 0) {
                p.buffer = b->buffer;
                p.offset = offset;
                continue;
            }
            if (b != nullptr && steps.size() > 1) return false;
            s.ranges[s.range_count++] = {at.data(), at.data() + at.size()};
        }
    }
    return true;
}

/// Ranges that have a byte in common become one, so that steps see what others have written.
void vulkan_processor::merge_ranges(slot& s) {
    const std::span<copied_range> all(s.ranges, s.range_count);
    std::sort(all.begin(), all.end(), [](const copied_range& a, const copied_range& b) {
        return std::less<>()(a.begin, b.begin);
    });
    s.range_count = s.copied = 0;
    for (const copied_range& r : all) {
        copied_range* const last = s.range_count != 0 ? &s.ranges[s.range_count - 1] : nullptr;
        if (last != nullptr && std::less<>()(r.begin, last->end)) {
            last->end = std::max(last->end, r.end, std::less<>());
        } else {
            s.ranges[s.range_count++] = r;
        }
    }
    for (copied_range& r : std::span(s.ranges, s.range_count)) {
        r.offset =
            std::exchange(s.copied, s.copied + padded(static_cast<std::size_t>(r.end - r.begin)));
    }
}

/// False: the operands of two steps overlap where no operand may begin.
bool vulkan_processor::place_copies(slot& s) {
    const std::span<step> steps = s.of->steps;
    for (std::size_t i = 0; i < steps.size(); ++i) {
        for (unsigned n = 0; n < s.steps[i].how->operands; ++n) {
            place& p = s.steps[i].places[n];
            if (p.buffer != VK_NULL_HANDLE) continue;
            std::byte* const from = steps[i].what.operands[n].data();
            const copied_range& r = *std::prev(std::upper_bound(
                s.ranges, s.ranges + s.range_count, from,
                [](std::byte* at, const copied_range& o) { return std::less<>()(at, o.begin); }));
            const std::size_t offset = r.offset + static_cast<std::size_t>(from - r.begin);
            if (offset % piece_alignment != 0) return false;
            p.buffer = s.copies->in->buffer;
            p.offset = s.copies->offset + offset;
            p.copy = s.copies->memory() + offset;
        }
    }
    return true;
}

/// Also what it writes, since a kernel may read that and need not write all of it. False: the task
/// has failed already.
bool vulkan_processor::copy_in(const slot& s) const {
    return s.copied == 0 || while_open(*s.of, [&s] {
               for (const copied_range& r : std::span(s.ranges, s.range_count)) {
                   std::memcpy(s.copies->memory() + r.offset, r.begin,
                               static_cast<std::size_t>(r.end - r.begin));
               }
           });
}

/// Nothing, if the task has failed meanwhile.
void vulkan_processor::copy_out(const slot& s) const {
    if (s.copied == 0) return;
    while_open(*s.of, [&s] {
        const dispatch* d = s.steps;
        for (const step& one : s.of->steps) {
            for (unsigned i = one.what.reads; i < one.what.reads + one.what.writes; ++i) {
                const place& p = d->places[i];
                if (p.copy != nullptr) std::memcpy(one.what.operands[i].data(), p.copy, p.bytes);
            }
            ++d;
        }
    });
}

/// False: no memory.
bool vulkan_processor::collect(gpu& g, slot& s) {
    const VkResult r = g.record_commands(s, s.of->passed_at != 0);  // an observer listens
    if (is_no_memory(r)) {
        return_slot(g, s);
        return false;
    }
    if (r != VK_SUCCESS) return lose_unsent(g, s);
    {
        const locked l(lock());
        if (collected_count_ == 0) ++g.users;
        collects_for_ = &g;
        collected_[collected_count_++] = &s;
    }
    if (collected_count_ == gpu::most_together) flush();
    return true;
}

void vulkan_processor::flush() {
    gpu& g = *std::exchange(collects_for_, nullptr);
    slot* all[gpu::most_together];
    std::size_t count = 0;
    {
        const locked l(lock());
        count = std::exchange(collected_count_, 0);
        std::copy(collected_, collected_ + count, all);
    }
    submit(g, {all, count});
    stop_using(g);
}

void vulkan_processor::submit(gpu& g, std::span<slot* const> all) {
    std::uint64_t ended_before = 0;
    bool is_current = false;
    {
        const locked l(lock());
        is_current = &g == gpu_;
        if (is_current && g.lost) {
            // A thread has seen that, and its give_up() ends them.
            for (slot* const s : all) s->value = slot::never;
            return fly(g, all);
        }
        for (std::size_t i = 0; i < all.size(); ++i) all[i]->value = g.submitted + 1 + i;
        ended_before = g.ended;
    }
    if (!is_current) return end_lost(all);
    const std::int64_t now = active_policy::now();
    for (slot* const s : all) s->submitted_at = now;
    const VkResult r = g.submit(all, ended_before);
    if (is_no_memory(r)) {
        // They go to the front of their queues, so the newest comes first.
        for (std::size_t i = all.size(); i-- != 0;) {
            record& back = *all[i]->of;
            return_slot(g, *all[i]);
            refused(back);
        }
        return;
    }
    if (r != VK_SUCCESS) return lose_with(g, all);
    {
        const locked l(lock());
        g.submitted = all.back()->value;
        if (&g == gpu_) return fly(g, all);
    }
    end_lost(all);  // given up meanwhile
}

/// From now on give_up() finds them. With the lock.
void vulkan_processor::fly(gpu& g, std::span<slot* const> all) {
    for (slot* const s : all) {
        s->next = nullptr;
        (g.first_in_flight != nullptr ? g.last_in_flight->next : g.first_in_flight) = s;
        g.last_in_flight = s;
    }
    changed_.notify_all();
}

// ---- the device is lost ------------------------------------------------------------------------

/// What runs again goes to the front of its queue, so the newest comes first.
void vulkan_processor::end_lost(std::span<slot* const> all) const {
    for (std::size_t i = all.size(); i-- != 0;) ended(*all[i]->of, attempt::lost);
}

void vulkan_processor::report_loss() const {
    if (between_.before_loss != nullptr) between_.before_loss();
    lost();
}

/// With submissions of which nobody knows whether they were begun.
void vulkan_processor::lose_with(gpu& g, std::span<slot* const> all) {
    bool is_current = false, is_first = false;
    {
        const locked l(lock());
        is_current = &g == gpu_;
        is_first = !std::exchange(g.lost, true);
        if (is_current) fly(g, all);
    }
    if (!is_current) return end_lost(all);
    if (is_first) report_loss();
}

/// With one that the queue has not got, so that no value of the semaphore ends it. True: it is
/// dealt with.
bool vulkan_processor::lose_unsent(gpu& g, slot& s) {
    s.value = slot::never;
    slot* const only[] = {&s};
    lose_with(g, only);
    return true;
}

/// Where another thread has seen it first, the waiter sleeps until that one has given it up.
void vulkan_processor::note_lost(gpu& g) {
    {
        braid::detail::mutex& mutex = lock();
        const locked l(mutex);
        if (std::exchange(g.lost, true)) {
            while (&g == gpu_ && !stopping_) changed_.wait(mutex);
            return;
        }
        if (&g != gpu_) return changed_.notify_all();
    }
    report_loss();
}

/// What is in flight stays with the device, as it may still write there, and its record goes. A
/// lost one goes even if nothing is left there: the waiter may have ended all since it was seen.
void vulkan_processor::give_up() {
    slot* newest = nullptr;
    gpu* g = nullptr;
    {
        const locked l(lock());
        if (gpu_ == nullptr || (gpu_->first_in_flight == nullptr && !gpu_->lost)) return;
        g = std::exchange(gpu_, nullptr);
        // What runs again goes to the front of its queue, so the newest comes first.
        for (slot* s = std::exchange(g->first_in_flight, nullptr); s != nullptr;) {
            slot* const next = std::exchange(s->next, newest);
            newest = std::exchange(s, next);
        }
        g->next = std::exchange(retired_, g);
        ++g->users;  // its slots are looked at below
        changed_.notify_all();
    }
    while (newest != nullptr) {
        slot* const s = std::exchange(newest, newest->next);
        ended(*s->of, attempt::lost);
    }
    stop_using(*g);
}

bool vulkan_processor::is_busy() const {
    return gpu_ != nullptr && gpu_->first_in_flight != nullptr;
}

// ---- the waiter --------------------------------------------------------------------------------

void vulkan_processor::work() {
    watched next;
    while (next_to_watch(next)) {
        if (next.on != nullptr) {
            watch(next);
            stop_using(*next.on);
        }
        while (gpu* const done = take_done()) {
            if (!cache_path_.empty()) pipelines_of_last_ = done->pipelines();
            destroy(done);
        }
    }
}

/// Nothing is left to wait for, of a device that was given up.
bool vulkan_processor::is_done(const gpu& g) {
    return g.users == 0 && g.buffers == 0 && (g.lost || g.ended == g.submitted);
}

/// What hangs is looked at in passing while another device is busy.
vulkan_processor::watched vulkan_processor::choose_watched() {
    gpu* old = retired_;
    while (old != nullptr && (old->lost || old->ended == old->submitted)) old = old->next;
    looks_at_retired_ = old != nullptr && !(looks_at_retired_ && is_busy());
    if (looks_at_retired_) return {old, old->submitted, is_busy() ? 0 : longest_wait};
    if (!is_busy() || gpu_->first_in_flight->value == slot::never) return {};
    return {gpu_, gpu_->first_in_flight->value, longest_wait};
}

/// Sleeps until there is something to watch, or one to destroy: then `next` has none. False: the
/// thread is to end.
bool vulkan_processor::next_to_watch(watched& next) {
    braid::detail::mutex& mutex = lock();
    const locked l(mutex);
    while (!stopping_) {
        next = choose_watched();
        if (next.on != nullptr) {
            ++next.on->users;
            return true;
        }
        for (const gpu* g = retired_; g != nullptr; g = g->next) {
            if (is_done(*g)) return true;
        }
        changed_.wait(mutex);
    }
    return false;
}

/// Where there is nothing more nobody has to be asked how far the queue has come.
bool vulkan_processor::has_more(const gpu& g, std::uint64_t value) const {
    const locked l(lock());
    return g.submitted != value;
}

void vulkan_processor::watch(const watched& what) {
    std::uint64_t value = what.value;
    VkResult r = what.on->wait_for(value, what.ns);
    if (r == VK_TIMEOUT) return;
    if (r == VK_SUCCESS && has_more(*what.on, value)) r = what.on->reached(value);
    if (r == VK_SUCCESS) return end_until(*what.on, value);
    if (!is_no_memory(r)) return note_lost(*what.on);
    braid::detail::mutex& mutex = lock();
    const locked l(mutex);
    if (!stopping_) changed_.wait_for(mutex, pause);
}

/// Several end at once, unless much of theirs is copied before.
void vulkan_processor::end_until(gpu& g, std::uint64_t value) {
    constexpr std::size_t most_copied = std::size_t{64} << 10;
    const std::int64_t retired = active_policy::now();
    while (true) {
        slot* all[gpu::most_together];
        record* records[gpu::most_together];
        std::size_t count = 0;
        {
            const locked l(lock());
            g.ended = std::max(g.ended, std::min(value, g.submitted));
            for (std::size_t copied = 0; count != gpu::most_together && copied < most_copied;) {
                slot* const s = g.first_in_flight;
                if (s == nullptr || s->value > value) break;
                g.first_in_flight = s->next;
                copied += s->copied;
                all[count++] = s;
            }
        }
        if (count == 0) return;
        note_times(g, {all, count}, retired);
        for (std::size_t i = 0; i < count; ++i) {
            copy_out(*all[i]);
            records[i] = all[i]->of;
            return_slot(g, *all[i]);
        }
        ended({records, count}, attempt::went_well);
    }
}

void vulkan_processor::note_times(gpu& g, std::span<slot* const> all, std::int64_t retired) {
    gpu::run times[gpu::most_together];
    std::int64_t error = 0;
    for (std::size_t i = 0; i < all.size(); ++i) {
        times[i] = g.time_of(*all[i], retired);
        error = std::max(error, times[i].error);
    }
    const locked l(lock());
    clock_error_ = std::max(clock_error_, error);
    for (std::size_t i = 0; i < all.size(); ++i) {
        all[i]->of->begun = times[i].begun;
        all[i]->of->finished = times[i].finished;
        all[i]->of->clock_error = times[i].error;
    }
}

/// One that was given up, and that nothing uses any more.
gpu* vulkan_processor::take_done() {
    const locked l(lock());
    for (gpu** link = &retired_; *link != nullptr; link = &(*link)->next) {
        gpu* const g = *link;
        if (!is_done(*g)) continue;
        *link = g->next;
        return g;
    }
    return nullptr;
}

}  // namespace device::detail::vk
BRAID_NAMESPACE_END
