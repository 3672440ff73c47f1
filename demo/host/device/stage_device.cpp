#include "stage_device.hpp"

#include <braid/device.hpp>
#ifdef ARENA_HAS_VULKAN
#include <braid/device/vulkan.hpp>
#endif

#include <fmt/core.h>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <stdexcept>
#include <thread>
#include <utility>

namespace arena::host {
namespace {

namespace device = braid::device;

// ---- kernels -----------------------------------------------------------------------------------

// A kernel of Braid's is a function without an object; the game's may be another one after a
// reload.
std::array<const kernel*, max_stages> kernels{};
std::array<std::uint32_t, max_stages> read_counts{};

// A kernel that reads a byte more than it names, to see that a strict store says so.
bool overruns = false;
std::atomic<unsigned> overrun_byte{0};

template <std::size_t Row>
void run_group(const device::group& g) {
    kernel_work there;
    there.read_count = read_counts[Row];
    for (unsigned i = 0; i < there.read_count; ++i) there.reads[i] = g.read<std::byte>(i);
    there.writes = g.write<std::byte>(0);
    there.groups = g.groups().x;
    if (overruns) {
        const std::span<const std::byte> in = there.reads[there.read_count - 1];
        // relaxed: read by nobody, so that the byte must be read.
        overrun_byte.store(std::to_integer<unsigned>(in.data()[in.size()]),
                           std::memory_order_relaxed);
    }
    kernels[Row]->run(there, g.x());
}

using group_fn = void (*)(const device::group&);
template <std::size_t... Row>
constexpr std::array<group_fn, sizeof...(Row)> functions_of(std::index_sequence<Row...>) {
    return {&run_group<Row>...};
}
constexpr auto functions = functions_of(std::make_index_sequence<max_stages>());

// ---- processors --------------------------------------------------------------------------------

using owned = std::unique_ptr<device::processor, void (*)(device::processor*)>;

template <class Processor, class... Arguments>
owned make(Arguments&&... arguments) {
    return {new Processor(std::forward<Arguments>(arguments)...),
            [](device::processor* p) { delete static_cast<Processor*>(p); }};
}

owned make_processor(braid::scheduler& s, const device_wish& wish) {
    const device::processor_options measured{.latencies = true};
    switch (wish.of) {
        case device_wish::kind::local_store:
            return make<device::local_store>(s, device::local_store_options{.strict = wish.strict},
                                             measured);
        case device_wish::kind::fake:
            return make<device::fake>(
                s,
                device::fake_options{.seed = wish.seed,
                                     .latency = braid::microseconds(200),
                                     .jitter = braid::microseconds(300),
                                     .out_of_memory = wish.oom,
                                     .loss = wish.loss,
                                     .hang = wish.hang,
                                     .corrupt = wish.corrupt,
                                     .reorder = wish.reorder},
                device::processor_options{.hang_after = braid::milliseconds(50),
                                          .back_off = braid::milliseconds(1),
                                          .latencies = true});
#ifdef ARENA_HAS_VULKAN
        case device_wish::kind::vulkan:
            return make<device::vulkan>(
                s,
                device::vulkan_options{.device = wish.name.empty() ? nullptr : wish.name.c_str()},
                measured);
#endif
        default:
            return make<device::cpu>(s, measured);
    }
}

// ---- the command line --------------------------------------------------------------------------

double share(std::string_view key, const std::string& text) {
    std::size_t used = 0;
    double value = -1;
    try {
        value = std::stod(text, &used);
    } catch (const std::exception&) {
    }
    if (used == text.size() && value >= 0 && value <= 1) return value;
    throw std::runtime_error(
        fmt::format("--device: '{}' is a number from 0 to 1, not '{}'.", key, text));
}

void read_fault(device_wish& wish, std::string_view fault) {
    const std::size_t at = fault.find('=');
    const std::string_view key = fault.substr(0, at);
    const std::string value(at == std::string_view::npos ? "" : fault.substr(at + 1));
    const std::pair<std::string_view, double*> shares[] = {{"loss", &wish.loss},
                                                           {"oom", &wish.oom},
                                                           {"hang", &wish.hang},
                                                           {"corrupt", &wish.corrupt},
                                                           {"reorder", &wish.reorder}};
    for (const auto& [name, to] : shares) {
        if (key != name) continue;
        *to = share(key, value);
        return;
    }
    const bool is_number =
        !value.empty() && value.find_first_not_of("0123456789") == std::string::npos;
    if (key != "seed" || !is_number || value.size() > 18) {
        throw std::runtime_error(
            fmt::format("--device: there is no '{}'; fake has seed=N, loss=, oom=, hang=, corrupt= "
                        "and reorder= "
                        "with a number from 0 to 1.",
                        fault));
    }
    wish.seed = std::stoull(value);
}

#ifdef ARENA_HAS_VULKAN
/// The device that fits, a graphics card before a program on the cores.
std::string choose_vulkan(const std::string& part) {
    std::string list, chosen;
    for (const auto& d : device::vulkan::devices()) {
        list += fmt::format("\n  {} ({}){}{}", d.name, d.type, d.lacks.empty() ? "" : ": lacks ",
                            d.lacks);
        if (!d.lacks.empty() || d.name.find(part) == std::string::npos) continue;
        if (chosen.empty() || d.type != "cpu") chosen = d.name;
        if (d.type != "cpu") break;
    }
    if (!chosen.empty()) return chosen;
    throw std::runtime_error(
        list.empty() ? "--device vulkan: this machine has no Vulkan device."
                     : fmt::format("--device vulkan:{}: no device that can be used is called so:{}",
                                   part, list));
}
#endif

}  // namespace

const char* device_kinds() {
#ifdef ARENA_HAS_VULKAN
    return "cpu, local_store[:strict[,overrun]], fake[:seed=N,loss=,oom=,hang=,corrupt=,reorder=], "
           "vulkan[:NAME]";
#else
    return "cpu, local_store[:strict[,overrun]], fake[:seed=N,loss=,oom=,hang=,corrupt=,reorder=]";
#endif
}

device_wish parse_device(const std::string& text) {
    device_wish wish;
    const std::size_t colon = text.find(':');
    const std::string kind = text.substr(0, colon);
    std::string more = colon == std::string::npos ? "" : text.substr(colon + 1);
    if (kind == "cpu" && more.empty()) return wish;
    if (kind == "local_store" && (more.empty() || more == "strict" || more == "strict,overrun")) {
        wish.of = device_wish::kind::local_store;
        wish.strict = !more.empty();
        wish.overrun = more == "strict,overrun";
        return wish;
    }
    if (kind == "fake") {
        wish.of = device_wish::kind::fake;
        while (!more.empty()) {
            const std::size_t comma = more.find(',');
            read_fault(wish, std::string_view(more).substr(0, comma));
            more = comma == std::string::npos ? "" : more.substr(comma + 1);
        }
        return wish;
    }
#ifdef ARENA_HAS_VULKAN
    if (kind == "vulkan") {
        wish.of = device_wish::kind::vulkan;
        wish.name = choose_vulkan(more);
        return wish;
    }
#endif
    throw std::runtime_error(
        fmt::format("--device: there is no '{}'; there are {}.", text, device_kinds()));
}

stage_device::stage_device(braid::scheduler& scheduler, const device_wish& wish)
    : scheduler_(scheduler), kind_(wish.of), processor_(make_processor(scheduler, wish)) {
    overruns = wish.overrun;
    if (wish.of == device_wish::kind::local_store) {
        most_bytes_ = static_cast<device::local_store&>(*processor_).most_bytes();
    }
}

stage_device::~stage_device() = default;

void stage_device::begin_frame() {
    if (kind_ == device_wish::kind::fake) processor_->revive();
}

void stage_device::submit(braid::task_context& task, std::size_t number, const kernel& work,
                          game& world) {
    row& r = rows_[number];
    r.work = kernels[number] = &work;
    r.world = &world;
    import_arrays(r);
    const bool imported =
        std::ranges::any_of(r.arrays, [](const array& a) { return static_cast<bool>(a.there); });
    // What was imported is lost with the processor, and its row fails then.
    imported ? try_imported(task.id(), number) : submit_pieces(task, number);
}

// ---- memory of the game ------------------------------------------------------------------------

/// Where it lies now, which may be another place after a reload. A local store copies all that a
/// kernel names by what it is.
void stage_device::import_arrays(row& r) {
    if (kind_ == device_wish::kind::local_store || r.work->arrays == nullptr) return;
    const auto take = [](void* to, std::span<std::byte> memory) {
        static_cast<row*>(to)->arrays_now.push_back(memory);
    };
    r.arrays_now.clear();
    r.work->arrays(*r.world, take, &r);
    const auto is_same = [](const array& a, std::span<const std::byte> now) {
        return a.memory.data() == now.data() && a.memory.size() == now.size();
    };
    if (!r.lost && std::ranges::equal(r.arrays, r.arrays_now, is_same)) return;
    for (const array& a : r.arrays) {
        if (a.there) processor_->release(a.there);
    }
    r.arrays.clear();
    r.lost = false;
    for (const std::span<std::byte> memory : r.arrays_now) {
        r.arrays.push_back({memory, memory.empty() ? device::buffer{} : import(memory)});
    }
}

/// A processor that was lost may still write there. Nobody else may until it has let go, which
/// nothing tells of; another thread takes this one's tasks meanwhile.
device::buffer stage_device::import(std::span<std::byte> memory) {
    using clock = std::chrono::steady_clock;
    const auto limit = clock::now() + std::chrono::seconds(10);
    for (;;) {
        const device::buffer there =
            processor_->import_buffer({.name = "array of the game", .memory = memory});
        if (there || processor_->report().losses == 0) return there;
        if (clock::now() > limit) {
            throw std::runtime_error(
                "the device that was lost has not let go of the game's arrays "
                "for 10 s.");
        }
        scheduler_.blocking([] { std::this_thread::sleep_for(std::chrono::milliseconds(1)); });
    }
}

/// Null: it lies in none that was imported.
const stage_device::array* stage_device::array_of(const row& r,
                                                  std::span<const std::byte> operand) const {
    const auto has_it = [operand](const array& a) {
        return a.there && a.memory.data() <= operand.data() &&
               operand.data() + operand.size() <= a.memory.data() + a.memory.size();
    };
    const auto found = std::ranges::find_if(r.arrays, has_it);
    return found != r.arrays.end() ? &*found : nullptr;
}

/// The first two run on the cores, where it lies.
bool stage_device::is_copied(const array* of, std::span<const std::byte> operand) const {
    switch (kind_) {
        case device_wish::kind::cpu:
        case device_wish::kind::fake:
            return false;
        case device_wish::kind::local_store:
            return true;
        default:
            const auto begins_at = reinterpret_cast<std::uintptr_t>(operand.data());
            return of == nullptr || begins_at % array_alignment != 0 ||
                   reinterpret_cast<std::uintptr_t>(of->memory.data()) % array_alignment != 0;
    }
}

// ---- submitted ---------------------------------------------------------------------------------

/// As a task without a parent, so that its failure is none of the row's. What looks at its end is a
/// child.
void stage_device::try_imported(braid::task_id parent, std::size_t number) {
    auto tried = scheduler_.async(
        {.name = "submission of a row"},
        [this, number](braid::task_context& task) { submit_pieces(task, number); });
    const braid::task_id done = tried.id();
    const braid::task_id looks = scheduler_.spawn(
        {.name = "end of a row", .after_any = {done}, .parent = parent},
        [this, number, tried = std::move(tried)](braid::task_context& task) mutable {
            look_at_end(task.id(), number, tried);
        });
    if (!done || !looks) throw std::bad_alloc();
}

/// Lost with the processor, or before it began: the row is submitted again. What was written in
/// part is written again.
void stage_device::look_at_end(braid::task_id parent, std::size_t number,
                               braid::future<void>& tried) {
    try {
        return tried.get();
    } catch (const braid::completion_error& e) {
        const bool was_lost =
            e.code() == device::error_code::lost || e.code() == device::error_code::stale;
        if (!was_lost) throw;
    }
    again_.fetch_add(1, std::memory_order_relaxed);
    rows_[number].lost = true;
    import_arrays(rows_[number]);
    try_imported(parent, number);
}

void stage_device::submit_pieces(braid::task_context& task, std::size_t number) {
    row& r = rows_[number];
    if (!r.all) r.all.emplace(*processor_, r.work->name);
    r.all->clear();
    struct target {
        stage_device& self;
        std::size_t number;
    } to{*this, number};
    const auto take = [](void* data, const kernel_work& piece) {
        const target& t = *static_cast<const target*>(data);
        t.self.add(t.number, piece);
    };
    r.work->pieces(*r.world, most_bytes_, take, &to);
    // What was written in part is written again.
    if (r.all->size() != 0) processor_->submit(task, *r.all, {.retry = 255, .idempotent = true});
}

void stage_device::add(std::size_t number, const kernel_work& piece) {
    row& r = rows_[number];
    read_counts[number] = piece.read_count;
    std::uint64_t in = 0, copied = 0;
    const auto operand = [&]<class Operand, class Byte>(std::span<Byte> bytes) -> Operand {
        const array* const of = array_of(r, bytes);
        if (is_copied(of, bytes)) copied += bytes.size();
        if (of == nullptr) return bytes;
        return device::buffer_range{
            of->there, static_cast<std::size_t>(bytes.data() - of->memory.data()), bytes.size()};
    };
    const auto read = [&](std::size_t i) -> device::input {
        if (i >= piece.read_count) return std::span<const std::byte>();
        in += piece.reads[i].size();
        return operand.template operator()<device::input>(piece.reads[i]);
    };
    static_assert(kernel_work::most_reads == 12);
    const std::array<device::input, 12> reads{read(0), read(1), read(2),  read(3),
                                              read(4), read(5), read(6),  read(7),
                                              read(8), read(9), read(10), read(11)};
    const auto writes = operand.template operator()<device::output>(piece.writes);
    if (!r.all->add({r.work->name, functions[number], r.work->shader},
                    std::span(reads).first(piece.read_count), {&writes, 1}, {piece.groups})) {
        throw std::bad_alloc();
    }
    bytes_in_.fetch_add(in, std::memory_order_relaxed);
    bytes_out_.fetch_add(piece.writes.size(), std::memory_order_relaxed);
    bytes_copied_.fetch_add(copied, std::memory_order_relaxed);
    pieces_.fetch_add(1, std::memory_order_relaxed);
}

device_counts stage_device::counts() const {
    return {processor_->report(),
            bytes_in_.load(std::memory_order_relaxed),
            bytes_out_.load(std::memory_order_relaxed),
            pieces_.load(std::memory_order_relaxed),
            bytes_copied_.load(std::memory_order_relaxed),
            again_.load(std::memory_order_relaxed)};
}

}  // namespace arena::host
