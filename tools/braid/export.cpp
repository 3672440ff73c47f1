// braid export: a capture as a file for another program.
#include "commands.hpp"

#if defined(BRAID_HAS_STREAM)
#include "html.hpp"
#endif
#include "profile/chrome/chrome.hpp"
#include "profile/perfetto/perfetto.hpp"

#include <fmt/core.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <memory>
#include <stdexcept>

namespace braid::tool {
namespace {

namespace fs = std::filesystem;

using writer = bool (*)(const profile::capture&, const profile::byte_sink&,
                        const std::function<void(double)>&);

/// What can be written: another format is another line.
struct format {
    const char* option;
    const char* meaning;
    writer write;
};
constexpr format formats[] = {
    {"--perfetto", "Write Perfetto's format, for ui.perfetto.dev", profile::write_perfetto},
    {"--chrome", "Write trace events in JSON, for chrome://tracing", profile::write_chrome},
#if defined(BRAID_HAS_STREAM)
    {"--html", "Write one page that holds the viewer and the capture, for a bug report",
     write_html},
#endif
};

/// A file that is gone again when it did not come to its end.
class output_file {
public:
    explicit output_file(const std::string& path)
        : path_(path), file_(std::fopen(path.c_str(), "wb")) {
        if (file_ == nullptr) fail(errno);
    }
    output_file(const output_file&) = delete;
    output_file& operator=(const output_file&) = delete;
    ~output_file() {
        if (file_ == nullptr) return;
        std::fclose(file_);
        remove_half();
    }

    bool take(std::string_view bytes) {
        const bool well = std::fwrite(bytes.data(), 1, bytes.size(), file_) == bytes.size();
        if (!well) error_ = errno;
        return well;
    }
    void close(bool whole) {
        const bool closed = std::fclose(std::exchange(file_, nullptr)) == 0;
        if (!closed && error_ == 0) error_ = errno;
        if (whole && closed) return;
        remove_half();
        fail(error_);
    }

private:
    void remove_half() const {
        std::error_code ignored;  // the sentence is about why it could not be written
        if (fs::is_regular_file(path_, ignored)) fs::remove(path_, ignored);
    }
    [[noreturn]] void fail(int error) const {
        throw std::runtime_error(
            fmt::format("cannot write '{}': {}.", path_, std::strerror(error)));
    }

    std::string path_;
    std::FILE* file_;
    int error_ = 0;
};

bool same_file(const std::string& a, const std::string& b) {
    std::error_code wrong;
    if (fs::equivalent(a, b, wrong)) return true;
    // One that is not there yet is the same by name only.
    const fs::path one = fs::weakly_canonical(a, wrong);
    if (wrong) return false;
    const fs::path other = fs::weakly_canonical(b, wrong);
    return !wrong && one == other;
}

struct request {
    std::string capture;
    std::string outputs[std::size(formats)];
};

/// Before anything is read: a long wait that ends in a refusal is no use.
void check(const request& wanted) {
    std::vector<std::string> files = {wanted.capture};
    for (const std::string& output : wanted.outputs) {
        if (output.empty()) continue;
        for (const std::string& other : files) {
            if (!same_file(output, other)) continue;
            throw std::runtime_error(
                fmt::format("'{}' cannot be written: it is {}.", output,
                            &other == files.data() ? "the capture itself" : "asked for twice"));
        }
        files.push_back(output);
    }
    if (files.size() > 1) return;
    std::string options;
    for (const format& one : formats) {
        options += fmt::format("{}{} OUT", options.empty() ? "" : " or ", one.option);
    }
    throw std::runtime_error(fmt::format("what is to be written? Say {}.", options));
}

void write(const profile::capture& from, const format& as, const std::string& path) {
    const bool watched = isatty(fileno(stderr)) != 0;
    output_file file(path);
    const bool whole = as.write(
        from, [&](std::string_view bytes) { return file.take(bytes); },
        [&](double share) {
            if (watched) fmt::print(stderr, "\rwriting {} {:3.0f} %", path, share * 100);
        });
    if (watched) fmt::print(stderr, "\r\x1b[K");
    file.close(whole);
}

void run(const request& wanted) {
    check(wanted);
    const profile::capture from = open_capture(wanted.capture);
    for (std::size_t i = 0; i < std::size(formats); ++i) {
        if (!wanted.outputs[i].empty()) write(from, formats[i], wanted.outputs[i]);
    }
}

}  // namespace

void add_export(CLI::App& app) {
    CLI::App* command = app.add_subcommand("export", "A capture as a file for another program");
    const auto wanted = std::make_shared<request>();
    command->add_option("FILE", wanted->capture, "A capture")->required();
    for (std::size_t i = 0; i < std::size(formats); ++i) {
        command->add_option(formats[i].option, wanted->outputs[i], formats[i].meaning)
            ->type_name("OUT");
    }
    command->callback([wanted] { run(*wanted); });
}

}  // namespace braid::tool
