// A kernel that touches what it does not name ends the process, and the sentence says what it was.
#include "device_fixture.hpp"

#include <thread>

namespace {

using namespace braid_test;
using braid::task_context;

constexpr std::uint32_t count = 100;

/// Runs one kernel on a strict unit; it reads 400 bytes, and writes as many.
void run_strictly(void (*on_cores)(const device::group&),
                  const braid::scheduler_options& o = {.workers = 1}) {
    braid::scheduler s(o);
    device::local_store unit(s, {.strict = true});
    std::vector<std::uint32_t> in(count, 3), out(count, 4);
    s.wait(s.spawn([&](task_context& t) {
        unit.submit(t, {.kernel = {"wrong", on_cores},
                        .reads = {std::span<const std::uint32_t>(in)},
                        .writes = {std::span(out)}});
    }));
    EXPECT_EQ(out[0], 3U);
}

template <class T>
T* address(std::span<T> s, std::ptrdiff_t byte) {
    return reinterpret_cast<T*>(reinterpret_cast<std::uintptr_t>(s.data()) +
                                static_cast<std::uintptr_t>(byte));
}

class DeviceStrict : public testing::Test {
protected:
    DeviceStrict() { GTEST_FLAG_SET(death_test_style, "threadsafe"); }
    deadline deadline_;
};

void copy_all(const device::group& g) {
    std::ranges::copy(g.read<std::uint32_t>(0), g.write<std::uint32_t>(0).begin());
}

TEST_F(DeviceStrict, AKernelThatKeepsToItsOperandsRuns) {
    run_strictly(&copy_all);
    // Each after the other: the process has one at a time.
    run_strictly(&copy_all);
}

TEST_F(DeviceStrict, AByteTooManyIsRead) {
    EXPECT_DEATH(run_strictly([](const device::group& g) {
                     copy_all(g);
                     g.write<std::uint32_t>(0)[0] = *address(g.read<std::uint8_t>(0), 400);
                 }),
                 "kernel 'wrong' reads byte 400 of its input 0, which has 400; address 0x");
}

TEST_F(DeviceStrict, AByteTooManyIsWritten) {
    EXPECT_DEATH(run_strictly([](const device::group& g) {
                     copy_all(g);
                     *address(g.write<std::uint8_t>(0), 403) = 1;
                 }),
                 "kernel 'wrong' writes byte 403 of its output 0, which has 400; address 0x");
}

TEST_F(DeviceStrict, AByteBeforeAnOperandIsWrittenWhichIsReported) {
    recorder notes;
    braid::scheduler_options o{.workers = 1};
    notes.install(o);
    run_strictly(
        [](const device::group& g) {
            copy_all(g);
            *address(g.write<std::uint8_t>(0), -1) = 1;
        },
        o);
    EXPECT_EQ(notes.count(&recorder::misuse,
                          "kernel 'wrong' writes byte -1 of its output 0, which has 400"),
              1U);
}

TEST_F(DeviceStrict, AnInputIsWritten) {
    EXPECT_DEATH(run_strictly([](const device::group& g) {
                     const_cast<std::uint32_t&>(g.read<std::uint32_t>(0)[2]) = 1;
                 }),
                 "kernel 'wrong' writes byte 8 of its input 0, which has 400 and is only read");
}

TEST_F(DeviceStrict, MemoryThatIsNobodysIsRead) {
    EXPECT_DEATH(run_strictly([](const device::group& g) {
                     const std::uintptr_t nowhere = 64 * g.groups().x;
                     g.write<std::uint32_t>(0)[0] =
                         *reinterpret_cast<const std::uint32_t*>(nowhere);
                 }),
                 "kernel 'wrong' reads address 0x40, where it has no operand");
}

std::uint32_t* mapped = nullptr;  // of a buffer that the kernel does not name

void with_buffer(void (*on_cores)(const device::group&), void (*meanwhile)() = [] {}) {
    braid::scheduler s(braid::scheduler_options{.workers = 1});
    device::local_store unit(s, {.strict = true});
    const device::buffer other = unit.buffer({.name = "other", .bytes = 4'096});
    mapped = unit.map<std::uint32_t>(other).data();
    std::uint32_t out = 0;
    const braid::task_id task = s.spawn([&](task_context& t) {
        unit.submit(t, {.kernel = {"wrong", on_cores}, .writes = {std::span(&out, 1)}});
    });
    meanwhile();
    s.wait(task);
    EXPECT_EQ(out, mapped[0]);  // which may be touched again
}

/// A kernel has a copy of it; at the program's address it is closed as all others are.
TEST_F(DeviceStrict, ABufferThatIsNamedIsReachedByTransfersAlone) {
    const auto run = [](void (*on_cores)(const device::group&)) {
        braid::scheduler s(braid::scheduler_options{.workers = 1});
        device::local_store unit(s, {.strict = true});
        const device::buffer in = unit.buffer({.name = "in", .bytes = 8'200});
        const device::buffer out = unit.buffer({.name = "out", .bytes = 8'200});
        mapped = unit.map<std::uint32_t>(in).data();
        std::iota(mapped, mapped + 2'050, 1U);
        s.wait(s.spawn([&](task_context& t) {
            const device::ticket first =
                unit.submit(t, {.kernel = {"copies", on_cores}, .reads = {in}, .writes = {out}});
            // From a range to memory of the program that is a buffer's, too.
            unit.submit(t, {.kernel = {"copies", on_cores},
                            .reads = {device::buffer_range{out, 8'000, 200}},
                            .writes = {std::span(mapped, 50)},
                            .after = {first}});
        }));
        EXPECT_EQ(mapped[0], 2'001U);
        EXPECT_EQ(mapped[49], 2'050U);
        EXPECT_EQ(mapped[50], 51U);
        EXPECT_TRUE(std::ranges::equal(unit.map<std::uint32_t>(out).subspan(50),
                                       unit.map<std::uint32_t>(in).subspan(50)));
    };
    run(&copy_all);
    EXPECT_DEATH(run([](const device::group& g) {
                     copy_all(g);
                     g.write<std::uint32_t>(0)[0] = mapped[3];
                 }),
                 "kernel 'copies' reads byte 12 of buffer 'in' at the program's address 0x");
}

std::span<std::uint32_t> made_meanwhile;

TEST_F(DeviceStrict, ABufferThatIsMadeWhileAKernelRunsIsClosedAsWell) {
    static std::atomic<int> steps;
    const auto run = [] {
        steps = 0;
        braid::scheduler s(braid::scheduler_options{.workers = 1});
        device::local_store unit(s, {.strict = true});
        std::uint32_t out = 0;
        const braid::task_id task = s.spawn([&](task_context& t) {
            unit.submit(t, {.kernel = {"wrong",
                                       [](const device::group& g) {
                                           steps = 1;
                                           until([] { return steps.load() == 2; });
                                           g.write<std::uint32_t>(0)[0] = made_meanwhile[5];
                                       }},
                            .writes = {std::span(&out, 1)}});
        });
        until([] { return steps.load() == 1; });
        made_meanwhile = unit.map<std::uint32_t>(unit.buffer({.name = "young", .bytes = 64}));
        steps = 2;
        s.wait(task);
    };
    EXPECT_DEATH(run(), "kernel 'wrong' reads address 0x[0-9a-f]*, where it has no operand");
}

TEST_F(DeviceStrict, ABufferThatIsNotNamedIsTouched) {
    EXPECT_DEATH(
        with_buffer([](const device::group& g) { g.write<std::uint32_t>(0)[0] = mapped[10]; }),
        "kernel 'wrong' reads byte 40 of buffer 'other' at the program's address 0x");
    EXPECT_DEATH(with_buffer([](const device::group&) { mapped[0] = 1; }),
                 "kernel 'wrong' writes byte 0 of buffer 'other' at the program's address 0x");
    EXPECT_DEATH(with_buffer([](const device::group& g) {
                     g.write<std::uint32_t>(0)[0] = mapped[1'024];  // behind it
                 }),
                 "kernel 'wrong' reads address 0x[0-9a-f]*, where it has no operand");
}

/// A thread of the program may use a buffer meanwhile; it waits until the kernel has ended.
TEST_F(DeviceStrict, TheProgramMayTouchItsBuffersWhileAKernelRuns) {
    static std::atomic<int> steps;
    steps = 0;
    with_buffer(
        [](const device::group& g) {
            steps = 1;
            until([] { return steps.load() == 2; });
            for (int i = 0; i < 100; ++i) std::this_thread::yield();
            g.write<std::uint32_t>(0)[0] = 7;
        },
        [] {
            until([] { return steps.load() == 1; });
            steps = 2;
            mapped[0] = 7;
        });
}

/// Odd sizes, empty operands, sequences: the bytes are those of the cores.
TEST_F(DeviceStrict, ComesToTheBytesOfTheCores) {
    const auto bytes_of = [](auto&&... options) {
        braid::scheduler s(braid::scheduler_options{.workers = 2});
        std::vector<std::byte> all(9'000);
        {
            using processor =
                std::conditional_t<sizeof...(options) == 0, device::cpu, device::local_store>;
            processor p(s, options...);
            const device::kernel mix{"mix", [](const device::group& g) {
                                         const std::span<std::byte> out = g.write<std::byte>(0);
                                         std::byte sum{1};
                                         for (const std::byte b : g.read<std::byte>(0)) sum ^= b;
                                         for (std::byte& b : out) b = std::byte{2} ^ sum ^ b;
                                     }};
            device::sequence steps(p);
            for (std::size_t i = 0; i < 30; ++i) {
                const std::span<std::byte> in = std::span(all).subspan(31 * i, 97 * i % 400);
                const std::span<std::byte> out = std::span(all).subspan(4'000 + 97 * i, 1 + 3 * i);
                EXPECT_TRUE(steps.add({mix, {in}, {out}}));
            }
            s.wait(s.spawn([&](task_context& t) { p.submit(t, steps); }));
            expect_account(p.report());
        }
        return all;
    };
    EXPECT_EQ(bytes_of(device::local_store_options{.strict = true}), bytes_of());
}

TEST_F(DeviceStrict, ASecondOneIsNotStrictAndSaysSo) {
    recorder notes;
    braid::scheduler_options o{.workers = 1};
    notes.install(o);
    braid::scheduler s(o);
    device::local_store one(s, {.strict = true});
    device::local_store other(s, {.units = 2, .strict = true}, {.name = "other"});
    EXPECT_EQ(notes.count(&recorder::log, "'other' is not strict: the process has another one"),
              1U);
    std::uint32_t number = 0;
    s.wait(s.spawn([&](task_context& t) {
        other.submit(t, {.kernel = increment, .writes = {std::span(&number, 1)}});
    }));
    EXPECT_EQ(number, 1U);
}

}  // namespace
