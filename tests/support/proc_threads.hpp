#pragma once
// What the operating system says about the threads of this process.

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

namespace braid_test {

struct proc_thread {
    std::string name;
    char state = 0;  // 'R' runs, 'S' sleeps
    int nice = 0;
    int policy = -1;
    std::uint64_t switches = 0;  // how often it gave up or lost its processor
    std::string cpus;            // list of allowed processors
};

inline proc_thread read_thread(const std::filesystem::path& folder) {
    proc_thread t;
    std::getline(std::ifstream(folder / "comm"), t.name);
    std::string stat;
    std::getline(std::ifstream(folder / "stat"), stat);
    // The fields of proc(5) after the name in parentheses, which may hold blanks itself.
    std::istringstream fields(stat.substr(std::min(stat.size(), stat.rfind(')') + 2)));
    std::string field;
    for (int number = 3; fields >> field; ++number) {
        if (number == 3) t.state = field[0];
        if (number == 19) t.nice = std::stoi(field);
        if (number == 41) t.policy = std::stoi(field);
    }
    std::ifstream status(folder / "status");
    for (std::string line; std::getline(status, line);) {
        const std::string key = "Cpus_allowed_list:\t";
        if (line.starts_with(key)) t.cpus = line.substr(key.size());
        if (const auto at = line.find("_ctxt_switches:"); at != std::string::npos) {
            t.switches += std::stoull(line.substr(line.find(':') + 1));
        }
    }
    return t;
}

inline proc_thread this_proc_thread() { return read_thread("/proc/thread-self"); }
/// By the number that the system gives it, see gettid().
inline proc_thread proc_thread_of(long number) {
    return read_thread("/proc/self/task/" + std::to_string(number));
}

/// Threads whose name begins with `prefix`.
inline std::vector<proc_thread> proc_threads(const std::string& prefix) {
    std::vector<proc_thread> found;
    for (const auto& entry : std::filesystem::directory_iterator("/proc/self/task")) {
        proc_thread t = read_thread(entry.path());
        if (t.name.starts_with(prefix)) found.push_back(std::move(t));
    }
    return found;
}

}  // namespace braid_test
