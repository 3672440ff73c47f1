// A level's pages are read while frames go on: urgent ones first, and no more bytes a frame than
// there is time for. Decoding is a task of its own, and no thread waits for the disk.
#include <braid/async/file_reader.hpp>
#include <braid/braid.hpp>

#include <array>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <numeric>
#include <vector>

namespace {

constexpr std::size_t page_bytes = 64 * 1024, page_count = 32;

/// Reads, decodes in parallel, and says what it found.
braid::co<unsigned> load(braid::scheduler& scheduler, braid::file_reader& io,
                         const braid::file& pack, std::size_t page, braid::read_options how) {
    std::vector<std::byte> bytes(page_bytes);
    co_await io.read(pack, page * page_bytes, bytes, how);
    auto decoded = scheduler.async({.name = "decode"}, [&bytes] {
        return std::accumulate(bytes.begin(), bytes.end(), 0U, [](unsigned sum, std::byte b) {
            return sum + std::to_integer<unsigned>(b);
        });
    });
    co_return co_await std::move(decoded);
}

std::string write_pack() {
    const std::string path =
        (std::filesystem::temp_directory_path() / "braid_sample.pack").string();
    std::ofstream to(path, std::ios::binary);
    for (std::size_t page = 0; page < page_count; ++page) {
        const std::vector<char> bytes(page_bytes, static_cast<char>(page));
        to.write(bytes.data(), std::ssize(bytes));
    }
    return path;
}

}  // namespace

int main() {
    const std::string path = write_pack();
    std::size_t right = 0;
    {
        braid::scheduler scheduler;
        const braid::file pack(path);
        braid::file_reader io(scheduler, {.in_flight = 8, .bytes_per_frame = 8 * page_bytes});
        std::vector<braid::future<unsigned>> pages;
        for (std::size_t page = 0; page < page_count; ++page) {
            const bool near = page == 20;
            pages.push_back(co_spawn(scheduler, {.name = "load"},
                                     load(scheduler, io, pack, page,
                                          {.name = near ? "rock.lod0" : "rock.lod1",
                                           .priority = near ? braid::priority_level::high
                                                            : braid::priority_level::low})));
        }
        std::vector<braid::task_id> ids;
        for (const auto& page : pages) ids.push_back(page.id());
        const auto all_pages = scheduler.spawn({.after_all = ids}, braid::empty);
        while (io.statistics().read < page_count) {
            io.begin_frame();  // this frame may read eight pages more
            scheduler.wait(scheduler.spawn({.name = "frame", .after = {pages[20].id()}}, [] {}));
            // What is left of the frame goes to the pages: without workers nobody else decodes
            // them.
            scheduler.wait_for(all_pages, braid::milliseconds(1));
        }
        for (std::size_t page = 0; page < page_count; ++page) {
            right += pages[page].get() == page * page_bytes;
        }
        std::printf("%zu of %zu pages, read by %s\n", right, page_count, io.statistics().back_end);
    }
    std::filesystem::remove(path);
    return right == page_count ? 0 : 1;
}
