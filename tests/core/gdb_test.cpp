// C40: live tasks, waits and owners are read from a core file of gdb_scene.cpp.
#include "scale.hpp"
#include "scheduler_test.hpp"

#include <unistd.h>
#include <map>
#include <sstream>

namespace {

std::string output_of(const std::string& command) {
    std::string text;
    std::FILE* pipe = popen((command + " 2>&1").c_str(), "r");
    if (pipe == nullptr) return text;
    for (char part[4096]; std::fgets(part, sizeof part, pipe) != nullptr;) text += part;
    pclose(pipe);
    return text;
}

class Gdb : public testing::Test {
protected:
    static void SetUpTestSuite() {
        if (braid_test::sanitized ||
            output_of("gdb --version").find("GNU gdb") == std::string::npos) {
            return;
        }
        const std::string scene =
            std::filesystem::read_symlink("/proc/self/exe").parent_path() / "gdb_scene";
        const auto folder =
            std::filesystem::temp_directory_path() / ("braid_gdb_" + std::to_string(getpid()));
        std::filesystem::create_directories(folder);
        const std::string core = (folder / "core").string();
        log_ = output_of(
            "gdb -nx -batch -iex 'set debuginfod enabled off'"
            " -ex 'break braid_test_scene_is_set' -ex run"
            " -ex 'generate-core-file " +
            core + "' " + scene);
        if (std::filesystem::exists(core)) {
            const auto script =
                std::filesystem::path(__FILE__).parent_path().parent_path().parent_path() /
                "scripts" / "gdb" / "braid.py";
            for (const char* what :
                 {"tasks", "waits", "why", "why animate", "why nobody", "seats", "outside"}) {
                text_[what] =
                    output_of("gdb -nx -batch -iex 'set debuginfod enabled off' -x " +
                              script.string() + " -ex 'braid " + what + "' " + scene + " " + core);
            }
        }
        std::filesystem::remove_all(folder);
    }
    void SetUp() override {
        if (log_.empty()) GTEST_SKIP() << "needs gdb and a build without sanitizers";
        if (log_.find("ptrace: Operation not permitted") != std::string::npos) {
            GTEST_SKIP() << "this system does not let gdb run programs";
        }
        ASSERT_FALSE(text_["tasks"].empty()) << "no core file: " << log_;
    }
    /// The one line of the output of `braid <what>` that begins with `start`, blanks aside.
    static std::string line(const char* what, const std::string& start) {
        std::istringstream lines(text_[what]);
        for (std::string l; std::getline(lines, l);) {
            const std::size_t first = l.find_first_not_of(' ');
            if (first != std::string::npos && l.compare(first, start.size(), start) == 0) return l;
        }
        ADD_FAILURE() << "no line '" << start << "' in\n" << text_[what];
        return {};
    }
    static void expect_part(const std::string& text, const std::string& part) {
        EXPECT_NE(text.find(part), std::string::npos) << "'" << part << "' in: " << text;
    }

    static inline std::string log_;
    static inline std::map<std::string, std::string> text_;
};

TEST_F(Gdb, ShowsTasksWaitsAndSeatsOfACoreFile) {
    expect_part(line("tasks", "scheduler 'engine'"), "7 open tasks");
    expect_part(line("tasks", "'stream level'"), "runs     on worker 0");
    expect_part(line("tasks", "'animate'"), "blocked  after 'stream level'");
    expect_part(line("tasks", "'animate'"), "high");
    expect_part(line("tasks", "'skin'"), "blocked  after 'animate'");
    expect_part(line("tasks", "'skin'"), "child of 'frame'");
    expect_part(line("tasks", "'frame'"), "empty");
    expect_part(line("tasks", "'load'"), "has run  on worker 1; children are open");
    expect_part(line("tasks", "'disk'"), "deferred until somebody outside completes it");
    expect_part(line("tasks", "'disk'"), "child of 'load'");
    expect_part(line("tasks", "'present'"), "waits    on worker 1 for 'frame'");

    expect_part(line("waits", "worker 1:"), "'present'");
    expect_part(line("waits", "worker 1:"), "waits for task 'frame'");

    // The tasks that explain() would name, in its order.
    expect_part(line("why", "'present'"), "waits for 'frame'");
    expect_part(line("why", "'present'"), ", which has run, and is complete when its child 'skin'");
    expect_part(line("why", "'present'"), ", which comes after 'animate'");
    expect_part(line("why", "'present'"), ", which comes after 'stream level'");
    expect_part(line("why", "'present'"), ", which runs on worker 0");
    expect_part(line("why", "'load'"), "has run, and is complete when its child 'disk'");
    expect_part(line("why", "'load'"), ", which is a completion that nobody has settled yet");

    expect_part(line("why animate", "'animate'"), "comes after 'stream level'");
    EXPECT_EQ(text_["why animate"].find("'present'"), std::string::npos);
    expect_part(text_["why nobody"], "no open task has 'nobody' in its name or number");

    expect_part(line("seats", "seat 0"), "main");
    expect_part(text_["seats"], "worker 0");
    expect_part(line("seats", "'stream level'"), "stream level");
    expect_part(line("seats", "'present'"), "waits for 'frame'");
}

TEST_F(Gdb, ShowsWhatProcessorsAndFilesHaveInACoreFile) {
    line("outside", "processor 'gpu': 3 open submissions");
    expect_part(line("outside", "'integrate' of task 'physics'"), ": in flight");
    expect_part(line("outside", "'collide' of task 'physics'"), ": queued");
    expect_part(line("outside", "'resolve' of task 'physics'"), ": held after 'integrate'");
    line("outside", "files 'assets': 2 open reads");
    expect_part(line("outside", "'rock.lod0' of task 'decode'"),
                ": in flight, 16 bytes at 0 of /proc/self/exe");
    expect_part(line("outside", "'rock.lod1' of task 'decode'"),
                ": queued, 16 bytes at 100 of /proc/self/exe");
}

}  // namespace
