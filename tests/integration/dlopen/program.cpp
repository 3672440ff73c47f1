// A hundred times a thread loads a plug-in that uses Braid, beside ten libraries with thread-local
// storage of their own, uses it and ends; the plug-in and Braid are unloaded, and a fork of the
// process does the same. dlopen_program BRAID PLUGIN OTHERS...

#include <dlfcn.h>
#include <link.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <span>
#include <string>
#include <thread>
#include <vector>

namespace {

constexpr std::size_t most_bytes = 256;

[[noreturn]] void fail(const std::string& why) {
    std::fprintf(stderr, "%s\n", why.c_str());
    std::_Exit(1);
}

struct segment {
    std::string library;
    std::size_t bytes = 0;
    bool found = false;
};

/// What the library keeps for each thread.
segment thread_storage_of(const char* library) {
    segment of{library};
    dl_iterate_phdr(
        [](dl_phdr_info* info, std::size_t, void* data) {
            segment& wanted = *static_cast<segment*>(data);
            if (std::strstr(info->dlpi_name, wanted.library.c_str()) == nullptr) return 0;
            wanted.found = true;
            for (const auto& header : std::span(info->dlpi_phdr, info->dlpi_phnum)) {
                if (header.p_type == PT_TLS) wanted.bytes = header.p_memsz;
            }
            return 1;
        },
        &of);
    return of;
}

class library {
public:
    explicit library(const char* path) : handle_(dlopen(path, RTLD_NOW | RTLD_LOCAL)) {
        if (handle_ == nullptr) fail(std::string("it cannot be loaded: ") + dlerror());
    }
    ~library() {
        if (handle_ != nullptr) dlclose(handle_);
    }
    library(library&& other) noexcept : handle_(other.handle_) { other.handle_ = nullptr; }
    library(const library&) = delete;
    library& operator=(const library&) = delete;

    unsigned use() const {
        const auto function = reinterpret_cast<unsigned (*)()>(dlsym(handle_, "use"));
        if (function == nullptr) fail(std::string("it has no use(): ") + dlerror());
        return function();
    }

private:
    void* handle_;
};

/// Returns what it has loaded.
std::vector<library> load_and_use(const char* braid, const char* plugin, std::span<char*> beside) {
    std::vector<library> all;
    all.reserve(beside.size() + 1);
    for (const char* path : beside) all.emplace_back(path);
    for (const library& other : all) other.use();
    all.emplace_back(plugin);
    if (const unsigned got = all.back().use(); got != 245) {
        fail("the plug-in returned " + std::to_string(got) + " instead of 245");
    }
    const segment own = thread_storage_of(braid);
    if (!own.found) fail(std::string(braid) + " is not loaded");
    if (own.bytes > most_bytes) {
        fail(std::string(braid) + " keeps " + std::to_string(own.bytes) +
             " bytes for each thread, more than " + std::to_string(most_bytes));
    }
    return all;
}

void load_on_a_thread(const char* braid, const char* plugin, std::span<char*> beside) {
    std::vector<library> loaded;
    std::thread([&] { loaded = load_and_use(braid, plugin, beside); }).join();
    loaded.clear();
    if (thread_storage_of(braid).found) fail(std::string(braid) + " stays loaded");
}

}  // namespace

int main(int argc, char** argv) {
    if (argc < 3) fail("dlopen_program BRAID PLUGIN OTHERS...");
    const std::span<char*> beside(argv + 3, argv + argc);
    for (int round = 0; round != 100; ++round) {
        load_on_a_thread(argv[1], argv[2], beside);
        const pid_t child = fork();
        if (child == 0) {
            load_on_a_thread(argv[1], argv[2], beside);
            std::_Exit(0);
        }
        int status = 0;
        if (child < 0 || waitpid(child, &status, 0) != child || status != 0) {
            fail("the forked process failed in round " + std::to_string(round));
        }
    }
    return 0;
}
