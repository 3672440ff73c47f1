#include "device/vulkan.hpp"

#include "add_spirv.hpp"
#include "device/raw_vulkan.hpp"
#include "skin_spirv.hpp"

#include <braid/braid.hpp>
#include <braid/device.hpp>
#include <braid/device/vulkan.hpp>

#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>
#include <thread>
#include <vector>

namespace bench::device {
namespace {

using braid::device::group;
using braid::device::kernel;
using braid::device::vulkan;

// ---- there and back ----------------------------------------------------------------------------

constexpr const char* lavapipe = "llvmpipe";
constexpr std::size_t items = raw_vulkan::items;
constexpr std::uint32_t rounds = 300;
using numbers = std::array<std::uint32_t, items>;

void add_group(const group& g) {
    for (std::uint32_t& n : g.write<std::uint32_t>(0)) n += g.constants<std::uint32_t>();
}
constexpr kernel add_more{"add", &add_group, add_spirv};

void expect_lavapipe() {
    for (const vulkan::device_facts& d : vulkan::devices()) {
        if (d.lacks.empty() && d.name.find(lavapipe) != std::string::npos) return;
    }
    throw not_here("there is no lavapipe: scripts/setup.sh vulkan installs it");
}

/// In us, of rounds of which each returns its ns, by `round(numbers, more)`.
template <class Round>
double us_of_rounds(double part, Round&& round) {
    numbers all{};
    std::vector<double> times;
    std::uint32_t sum = 0;
    for (std::uint32_t i = 1; i <= rounds; ++i) {
        times.push_back(round(all, i));
        sum += i;
        for (const std::uint32_t n : all) check_equal(n, sum, "a sum");
    }
    const auto at = times.begin() + static_cast<std::ptrdiff_t>(part * (rounds - 1));
    std::nth_element(times.begin(), at, times.end());
    return *at / 1e3;
}

struct on_lavapipe {
    braid::scheduler scheduler{braid::scheduler_options{.workers = 0}};
    vulkan processor{scheduler, {.device = lavapipe}};

    /// From the submission until the task runs that comes after it.
    double round(numbers& all, std::uint32_t more) {
        std::int64_t begin = 0, end = 0;
        const braid::task_id added = scheduler.spawn([&](braid::task_context& task) {
            begin = now();
            processor.submit(task, {.kernel = add_more,
                                    .writes = {std::span(all)},
                                    .constants = braid::device::bytes_of(more)});
        });
        scheduler.wait(scheduler.spawn({.after = {added}}, [&] { end = now(); }));
        return static_cast<double>(end - begin);
    }
};

void add_roundtrip(suite& s, const char* name, const char* about, double part) {
    s.at(name, "us", about)
        .add("braid",
             [part] {
                 expect_lavapipe();
                 return [part, m = std::make_shared<on_lavapipe>()] {
                     const double us = us_of_rounds(part, [&](numbers& all, std::uint32_t more) {
                         return m->round(all, more);
                     });
                     check_equal(m->processor.report().moved_to_cores, 0U, "moved to the cores");
                     return us;
                 };
             })
        .add("raw", [part] {
            expect_lavapipe();
            return [part, raw = std::make_shared<raw_vulkan>(lavapipe, add_spirv)] {
                return us_of_rounds(part, [&](numbers& all, std::uint32_t more) {
                    return time_ns([&] { raw->add(all, more); });
                });
            };
        });
}

// ---- a real one --------------------------------------------------------------------------------

constexpr std::size_t vertices = 64 * 1024, per_group = 256;

float skinned(float v) {
    for (int bone = 0; bone < 8; ++bone) v = v * 0.75F + static_cast<float>(bone);
    return v;
}
void skin_group(const group& g) {
    const std::span<const float> rest = g.read<float>(0);
    for (std::size_t i = g.x() * per_group; i < (g.x() + 1) * per_group; ++i) {
        g.write<float>(0)[i] = skinned(rest[i]);
    }
}
constexpr kernel skin{"skin", &skin_group, skin_spirv};

std::string real_device() {
    for (const vulkan::device_facts& d : vulkan::devices()) {
        if (d.lacks.empty() && d.type != "cpu") return d.name;
    }
    throw not_here("there is no graphics processor but programs on the cores");
}

/// Cores and a device may round otherwise, and fuse a product and a sum.
void check_vertices(std::span<const float> rest, std::span<const float> out) {
    for (std::size_t i = 0; i < vertices; i += 1'023) {
        if (std::abs(out[i] - skinned(rest[i])) > 1e-4F) throw wrong_answer("a vertex");
    }
}

struct on_device {
    std::string name = real_device();
    braid::scheduler scheduler;
    vulkan device{scheduler, {.device = name.c_str()}};
    braid::device::cpu cores{scheduler};
    std::vector<float> rest = std::vector<float>(vertices, 2.0F), out = rest;

    template <class In, class Out>
    double us(braid::device::processor& on, In&& in, Out&& to) {
        return time_ns([&] {
                   scheduler.wait(scheduler.spawn([&](braid::task_context& task) {
                       on.submit(task, {.kernel = skin,
                                        .reads = {in},
                                        .writes = {to},
                                        .groups = {vertices / per_group}});
                   }));
               }) /
               1e3;
    }
    double us_of_memory(braid::device::processor& on) {
        out.assign(vertices, 0);
        const double taken = us(on, std::span<const float>(rest), std::span(out));
        check_vertices(rest, out);
        return taken;
    }
    double us_of_buffers() {
        const braid::device::buffer in = device.buffer({.name = "rest", .bytes = 4 * vertices});
        const braid::device::buffer to = device.buffer({.name = "out", .bytes = 4 * vertices});
        std::copy(rest.begin(), rest.end(), device.map<float>(in).begin());
        const double taken = us(device, in, to);
        check_vertices(rest, device.map<float>(to));
        device.release(in);
        device.release(to);
        return taken;
    }
};

/// `value` makes the row's value of the microseconds for all of it.
void add_gpu(suite& s, const char* name, const char* unit, const char* about,
             double (*value)(double us)) {
    s.at(name, unit, about)
        .add("braid",
             [=] {
                 return
                     [=, m = std::make_shared<on_device>()] { return value(m->us_of_buffers()); };
             })
        .add("copied",
             [=] {
                 return [=, m = std::make_shared<on_device>()] {
                     return value(m->us_of_memory(m->device));
                 };
             })
        .add("all cores", [=] {
            return
                [=, m = std::make_shared<on_device>()] { return value(m->us_of_memory(m->cores)); };
        });
}

void add_gpu(suite& s) {
    add_gpu(s, "device.gpu", "us", "64 k vertices, 256 KiB in and out, on a graphics processor",
            [](double us) { return us; });
    add_gpu(s, "device.gpu.characters", "1/ms", "the same, characters of 1,024 vertices",
            [](double us) { return vertices / 1'024.0 / us * 1e3; });
    add_gpu(s, "device.gpu.bytes", "MB/s", "the same, bytes read and written",
            [](double us) { return 2.0 * sizeof(float) * vertices / us; });
}

}  // namespace

void add_vulkan(suite& s) {
    add_roundtrip(s, "device.roundtrip.p50", "64 numbers there and back, median", 0.5);
    add_roundtrip(s, "device.roundtrip.p99", "64 numbers there and back, 99 %", 0.99);
    add_gpu(s);
}

}  // namespace bench::device
