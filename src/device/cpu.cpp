#include "braid/device/cpu.hpp"

#include "device/make_back_end.hpp"

BRAID_NAMESPACE_BEGIN
namespace device {
namespace {

class cores final : public detail::back_end {
public:
    const char* kind() const override { return "cpu"; }
    bool start(detail::record& r) override {
        of().run_on_cores(r);
        return true;
    }
    std::size_t size() const override { return sizeof(cores); }
};

}  // namespace

cpu::cpu(scheduler& s, const processor_options& options) {
    start(s, options, detail::make_back_end<cores>(s));
}

}  // namespace device
BRAID_NAMESPACE_END
