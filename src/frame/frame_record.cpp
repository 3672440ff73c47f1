#include "braid/frame/frame_record.hpp"
#include "base/printf_format.hpp"

#include <algorithm>
#include <cstdarg>
#include <cstdio>

BRAID_NAMESPACE_BEGIN
namespace {

double ms(nanoseconds t) { return static_cast<double>(t.value) * 1e-6; }

class line {
public:
    line(char* text, std::size_t size) : text_(text), size_(size) {}

    BRAID_PRINTF(2, 3) void say(const char* format, ...) {
        const std::size_t at = std::min(length_, size_);
        va_list values;
        va_start(values, format);
        const int n = std::vsnprintf(size_ > at ? text_ + at : nullptr, size_ - at, format, values);
        va_end(values);
        length_ += n > 0 ? static_cast<std::size_t>(n) : 0;
    }
    std::size_t length() const { return length_; }

private:
    char* text_;
    std::size_t size_, length_ = 0;
};

}  // namespace

std::size_t describe(const frame_record& r, nanoseconds budget, char* text, std::size_t size) {
    line out(text, size);
    out.say("frame %llu: %.2f", static_cast<unsigned long long>(r.frame), ms(r.time));
    if (budget.value > 0) out.say(" of %.2f", ms(budget));
    out.say(" ms%s%s", r.over_budget ? " OVER" : "", r.failed ? " FAILED" : "");
    for (unsigned i = 0; i < r.stages; ++i) {
        const stage_record& s = r.stage[i];
        out.say(i == 0 ? " = " : " + ");
        if (s.waited.value != 0) out.say("(%.2f) ", ms(s.waited));
        out.say("%s %.2f%s%s", s.name, ms(s.ran), s.serial ? " serial" : "",
                s.over_budget ? " OVER" : "");
    }
    return out.length();
}

BRAID_NAMESPACE_END
