// OpenMP: one parallel region a frame, stage after stage, the parts of a stage handed out one by
// one. The barriers between stages are how such a loop is written; stages do not overlap.
#include "../backend.hpp"

namespace arena::host {
namespace {

class openmp_backend final : public backend {
public:
    explicit openmp_backend(unsigned workers) : threads_(static_cast<int>(workers) + 1) {}

    void run_frame(std::span<const stage> table, game& world, recorder& times) override {
        std::uint32_t parts = 0;
#pragma omp parallel num_threads(threads_) shared(parts, table, world, times)
        for (std::uint32_t i = 0; i < table.size(); ++i) {
#pragma omp single
            parts = times.begin_stage(table[i], i, world);
#pragma omp for schedule(dynamic, 1)
            for (std::uint32_t part = 0; part < parts; ++part)
                times.run_part(table[i], i, world, part);
        }
    }

private:
    int threads_;
};

}  // namespace

std::unique_ptr<backend> make_openmp_backend(unsigned workers) {
    return std::make_unique<openmp_backend>(workers);
}

}  // namespace arena::host
