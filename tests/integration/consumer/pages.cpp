#include <braid/braid.hpp>
#include <braid/pages/pack_writer.hpp>
#include <braid/pages/page_cache.hpp>

#include <cstdio>
#include <vector>

/// Writes one page into a pack, and reads it back.
std::size_t bytes_of_a_page(braid::scheduler& scheduler) {
    const char* const name = "consumer.pack";
    braid::pack_writer to(name);
    to.add("page", std::vector<std::byte>(1000));
    if (!to.finish()) return 0;
    std::size_t bytes = 0;
    {
        braid::file_reader io(scheduler);
        const braid::page_pack pack(name);
        braid::page_cache pages(scheduler, io, pack);
        pages.begin_frame(1);
        bytes = pages.bytes(pages.need(pack.find("page"), 1)).size();
    }
    std::remove(name);
    return bytes;
}
