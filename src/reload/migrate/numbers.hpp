#pragma once
// Numbers from one layout to another, each checked.

#include "reload/plan/program.hpp"

#include <cstddef>
#include <string>

BRAID_NAMESPACE_BEGIN
namespace reload::detail {

/// Any number that a program holds.
struct number_value {
    type_kind kind = type_kind::signed_number;
    std::int64_t is_signed = 0;
    std::uint64_t is_unsigned = 0;
    double floating = 0;
};

number_value read_number(const scalar& as, const std::byte* from);
/// False: it does not fit.
bool write_number(const number_value& value, const scalar& as, std::byte* to);
std::string text_of(const number_value& value);

/// Integers of 1 to 8 bytes, and the bits of a bit-field.
std::int64_t read_signed(const scalar& as, const std::byte* from);
void write_bits(std::uint64_t value, const scalar& as, std::byte* to);

}  // namespace reload::detail
BRAID_NAMESPACE_END
