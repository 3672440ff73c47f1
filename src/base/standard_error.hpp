#pragma once
// Where a scheduler without a log handler says its warnings and errors.

#include "braid/base/handlers.hpp"
#include "braid/base/policy.hpp"

#include <cstdint>

BRAID_NAMESPACE_BEGIN
namespace detail {

/// At most one line a second of a kind: messages are of one kind if they differ only in numbers and
/// in what stands in quotes. No lock and no allocation; any thread.
class standard_error {
public:
    standard_error() = default;
    /// Says how many lines were left out since the last that was printed.
    ~standard_error();
    standard_error(const standard_error&) = delete;
    standard_error& operator=(const standard_error&) = delete;

    log_handler handler() { return {&say, this}; }
    /// A log_handler's function. Without `self` each message is printed.
    static void say(void* self, log_level level, const char* message);

    static std::uint32_t kind_of(const char* message);
    /// Whether one of this kind is printed at that moment; then with `left_out` before it.
    bool has_turn(std::uint32_t kind, std::int64_t now_ns, std::uint32_t& left_out);

private:
    struct row {
        atomic<std::uint32_t> kind{0};  // 0: free
        atomic<std::uint32_t> left_out{0};
        atomic<std::int64_t> again_ns{0};  // from then on it has a turn
    };
    row* row_of(std::uint32_t kind);

    // More kinds than the library has sentences for one program.
    row rows_[64];
};

}  // namespace detail
BRAID_NAMESPACE_END
