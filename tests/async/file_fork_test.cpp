// A child of fork() has neither the ring nor the threads of its parent's file_reader.
#include <braid/async/file_reader.hpp>

#include "fork_at_rest.hpp"
#include "scheduler_test.hpp"
#include "scratch_folder.hpp"
#include "work_until.hpp"

#include <cerrno>
#include <fstream>
#include <memory>
#include <string>

namespace {

using braid_test::fork_at_rest;

class FileReaderFork : public braid_test::scheduler_test {
protected:
    FileReaderFork() {
        std::ofstream(path()) << "0123456789";
        from_ = braid::file(path());
    }
    std::string path() const { return (folder_ / "digits").string(); }
    template <class F>
    void with_each(F&& f) {
        for (const auto which : {braid::file_back_end::uring, braid::file_back_end::threads}) {
            SCOPED_TRACE(which == braid::file_back_end::uring ? "uring" : "threads");
            braid::scheduler s(options());
            auto io = std::make_unique<braid::file_reader>(
                s, braid::file_reader_options{.name = "assets", .back_end = which});
            EXPECT_EQ(text_of(s, *io), "0123");
            f(s, io);
            EXPECT_EQ(text_of(s, *io), "0123");
        }
    }
    std::string text_of(braid::scheduler& s, braid::file_reader& io) {
        std::string text;
        s.wait(io.read_then({}, from_, 0, 4, [&text](std::span<const std::byte> read) {
            text.assign(reinterpret_cast<const char*>(read.data()), read.size());
        }));
        return text;
    }
    static void expect_well(pid_t child) {
        const int status = braid_test::status_of(child);
        EXPECT_EQ(status, 0) << braid_test::line_of(status);
    }

    braid_test::scratch_folder folder_;
    braid::file from_;
};
INSTANTIATE_TEST_SUITE_P(Workers, FileReaderFork, testing::ValuesIn(braid_test::worker_counts()));

TEST_P(FileReaderFork, AReadInTheChildFailsWithASentence) {
    const auto failure_of = [](braid::scheduler& own, braid::task_id id) -> std::string {
        try {
            own.wait(id);
        } catch (const braid::completion_error& e) {
            return e.what();
        }
        return "";
    };
    with_each([&](braid::scheduler& s, auto& io) {
        const pid_t child = fork_at_rest(s);
        if (child == 0) {
            braid::scheduler own({.name = "trial", .workers = 0, .background_threads = 0});
            const auto read = [](auto& by, const braid::file& from) -> braid::co<> {
                std::byte to[4];
                co_await by.read(from, 0, to, {.name = "some digits"});
            };
            const std::string why =
                failure_of(own, braid::co_spawn(own, {}, read(*io, from_)).id());
            BRAID_CHILD_EXPECT(why ==
                               "reading 'some digits': a child of fork() has neither the threads "
                               "nor the ring of its parent's 'assets': make a file_reader there");
            BRAID_CHILD_EXPECT(io->cancel({}) == 0 && io->statistics().asked == 0);
            io->begin_frame();
            _exit(0);
        }
        expect_well(child);
        EXPECT_EQ(io->statistics().asked, 1U);
    });
}

/// Read from a pipe, so that the system has it until somebody writes.
TEST_P(FileReaderFork, DestroyingItInTheChildLeavesWhatTheParentReadsInFlight) {
    int ends[2];
    ASSERT_EQ(pipe(ends), 0);
    const braid::file from("/proc/self/fd/" + std::to_string(ends[0]));
    braid::scheduler s(options());
    auto io = std::make_unique<braid::file_reader>(s);
    if (io->statistics().back_end != std::string("uring")) {
        GTEST_SKIP() << "a thread that waits for a pipe does not rest, and here is no io_uring";
    }
    std::string text;
    const braid::task_id read =
        io->read_then({}, from, 0, 4, [&text](std::span<const std::byte> got) {
            text.assign(reinterpret_cast<const char*>(got.data()), got.size());
        });
    braid_test::work_until(s, [&] { return io->statistics().in_flight == 1; });
    const pid_t child = fork_at_rest(s);
    if (child == 0) {
        io.reset();
        _exit(0);
    }
    expect_well(child);
    EXPECT_EQ(write(ends[1], "late", 4), 4);
    s.wait(read);
    EXPECT_EQ(text, "late");
    close(ends[0]);
    close(ends[1]);
}

}  // namespace
