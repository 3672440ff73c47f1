#include "braid/frame/n_buffered.hpp"

#include "core/extension.hpp"

#include <cstdio>

BRAID_NAMESPACE_BEGIN
namespace detail {
namespace {

using number = unsigned long long;

const char* own_name() {
    const char* name = this_task::name();
    return *name != '\0' ? name : "(a task without a name)";
}

template <class... Values>
void report(runtime& rt, const char* condition, const char* format, Values... values) {
    char text[320];
    std::snprintf(text, sizeof text, format, values...);
    report_misuse(core::misuse(rt), condition, text, __FILE__, __LINE__);
}

}  // namespace

buffer_claim* buffer_claims::write(std::uint64_t frame) {
    buffer_claim& c = of(frame);
    std::uint32_t users = 0;
    const std::uint64_t before = c.frame.load(relaxed);
    const char* const other = c.name.load(relaxed);
    if (c.users.compare_exchange_strong(users, buffer_claim::writer, relaxed, relaxed)) {
        c.frame.store(frame, relaxed);
        c.name.store(own_name(), relaxed);
        return &c;
    }
    report(
        rt_, "nobody uses the copy that is written",
        "'%s' writes '%s' for frame %llu into the copy that '%s' still %s for frame %llu: give it "
        "an edge from there, or the buffer another copy",
        own_name(), name_, static_cast<number>(frame), other,
        (users & buffer_claim::writer) != 0 ? "writes" : "reads", static_cast<number>(before));
    return nullptr;
}

buffer_claim* buffer_claims::read(std::uint64_t frame) {
    buffer_claim& c = of(frame);
    const std::uint32_t users = c.users.fetch_add(1, relaxed);
    const std::uint64_t holds = c.frame.load(relaxed);
    if ((users & buffer_claim::writer) == 0 && holds == frame) {
        c.name.store(own_name(), relaxed);
        return &c;
    }
    c.users.fetch_sub(1, relaxed);
    if ((users & buffer_claim::writer) != 0) {
        report(rt_, "nobody writes the copy that is read",
               "'%s' reads '%s' for frame %llu while '%s' writes it for frame %llu: give the later "
               "one an edge from the other",
               own_name(), name_, static_cast<number>(frame), c.name.load(relaxed),
               static_cast<number>(holds));
    } else {
        report(
            rt_, "the copy holds the data of that frame",
            "'%s' reads '%s' for frame %llu, but the copy holds frame %llu (0: nothing yet): give "
            "it an edge from the writer, or the buffer more copies",
            own_name(), name_, static_cast<number>(frame), static_cast<number>(holds));
    }
    return nullptr;
}

bool buffer_claims::swap() {
    const std::uint64_t read = read_frame_.load(relaxed);
    const buffer_claim& front = of(read + 1);
    const buffer_claim& back = of(read + 2);
    if ((front.users.load(relaxed) & buffer_claim::writer) != 0) {
        report(
            rt_, "the copy that goes to readers is written",
            "the swap of '%s' overtakes '%s', which still writes frame %llu: give it an edge from "
            "there",
            name_, front.name.load(relaxed), static_cast<number>(read) + 1);
        return false;
    }
    if (back.users.load(relaxed) != 0) {
        report(
            rt_, "nobody reads the copy that goes to the writer",
            "the swap of '%s' overtakes '%s', which still reads frame %llu: give it an edge from "
            "there",
            name_, back.name.load(relaxed), static_cast<number>(back.frame.load(relaxed)));
        return false;
    }
    read_frame_.store(read + 1, relaxed);
    return true;
}

}  // namespace detail
BRAID_NAMESPACE_END
