// One thread, the table from top to bottom; and the list of backends.
#include "../backend.hpp"

namespace arena::host {
namespace {

class serial_backend final : public backend {
public:
    void run_frame(std::span<const stage> table, game& world, recorder& times) override {
        for (std::uint32_t i = 0; i < table.size(); ++i) {
            const std::uint32_t parts = times.begin_stage(table[i], i, world);
            for (std::uint32_t part = 0; part < parts; ++part)
                times.run_part(table[i], i, world, part);
        }
    }
};

}  // namespace

std::unique_ptr<backend> make_serial_backend() { return std::make_unique<serial_backend>(); }

std::vector<std::string> backend_names() {
    return {"braid",
#ifdef ARENA_HAS_TBB
            "tbb",
#endif
#ifdef ARENA_HAS_OPENMP
            "openmp",
#endif
            "serial"};
}

std::unique_ptr<backend> make_backend(std::string_view name, unsigned workers) {
    if (name == "braid") return make_braid_backend(workers);
#ifdef ARENA_HAS_TBB
    if (name == "tbb") return make_tbb_backend(workers);
#endif
#ifdef ARENA_HAS_OPENMP
    if (name == "openmp") return make_openmp_backend(workers);
#endif
    return name == "serial" ? make_serial_backend() : nullptr;
}

}  // namespace arena::host
