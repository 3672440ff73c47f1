#include "reload/migrate/numbers.hpp"

#include <cmath>
#include <cstring>
#include <limits>

BRAID_NAMESPACE_BEGIN
namespace reload::detail {
namespace {

unsigned width_of(const scalar& as) { return as.bits != 0 ? as.bits : as.bytes * 8u; }

std::uint64_t mask_of(unsigned width) {
    return width >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << width) - 1;
}

std::uint64_t read_bits(const scalar& as, const std::byte* from) {
    if (as.bits == 0) {
        std::uint64_t value = 0;
        std::memcpy(&value, from, as.bytes);
        return value;
    }
    std::uint64_t value = 0;
    for (unsigned bit = 0; bit < as.bits; ++bit) {
        const unsigned at = as.shift + bit;
        const auto one = (static_cast<unsigned>(from[at / 8]) >> (at % 8)) & 1u;
        value |= std::uint64_t{one} << bit;
    }
    return value;
}

double read_floating(const scalar& as, const std::byte* from) {
    if (as.bytes == sizeof(float)) {
        float value = 0;
        std::memcpy(&value, from, sizeof value);
        return value;
    }
    double value = 0;
    std::memcpy(&value, from, sizeof value);
    return value;
}

bool write_floating(double value, const scalar& as, std::byte* to) {
    if (as.bytes == sizeof(double)) {
        std::memcpy(to, &value, sizeof value);
        return true;
    }
    if (std::isfinite(value) && std::abs(value) > std::numeric_limits<float>::max()) return false;
    const auto narrow = static_cast<float>(value);
    std::memcpy(to, &narrow, sizeof narrow);
    return true;
}

/// The whole number that this is; false: it is none.
bool whole_number(double value, number_value& out) {
    if (!(value >= -9.2e18 && value <= 1.8e19) || std::trunc(value) != value) return false;
    out.kind = value < 0 ? type_kind::signed_number : type_kind::unsigned_number;
    if (value < 0) {
        out.is_signed = static_cast<std::int64_t>(value);
    } else {
        out.is_unsigned = static_cast<std::uint64_t>(value);
    }
    return true;
}

bool fits(const number_value& value, const scalar& as) {
    const unsigned width = as.kind == type_kind::boolean ? 1 : width_of(as);
    const bool negative = value.kind == type_kind::signed_number && value.is_signed < 0;
    if (as.kind == type_kind::signed_number) {
        const std::uint64_t most = mask_of(width - 1);
        if (negative) return static_cast<std::uint64_t>(~value.is_signed) <= most;
        return (value.kind == type_kind::signed_number ? static_cast<std::uint64_t>(value.is_signed)
                                                       : value.is_unsigned) <= most;
    }
    if (negative) return false;
    return (value.kind == type_kind::signed_number ? static_cast<std::uint64_t>(value.is_signed)
                                                   : value.is_unsigned) <= mask_of(width);
}

}  // namespace

std::int64_t read_signed(const scalar& as, const std::byte* from) {
    std::uint64_t value = read_bits(as, from);
    const unsigned width = width_of(as);
    const bool negative =
        as.kind == type_kind::signed_number && width < 64 && ((value >> (width - 1)) & 1) != 0;
    if (negative) value |= ~mask_of(width);
    return static_cast<std::int64_t>(value);
}

void write_bits(std::uint64_t value, const scalar& as, std::byte* to) {
    if (as.bits == 0) {
        std::memcpy(to, &value, as.bytes);
        return;
    }
    for (unsigned bit = 0; bit < as.bits; ++bit) {
        const unsigned at = as.shift + bit;
        const auto one = std::byte{1} << (at % 8);
        to[at / 8] = ((value >> bit) & 1) != 0 ? to[at / 8] | one : to[at / 8] & ~one;
    }
}

number_value read_number(const scalar& as, const std::byte* from) {
    number_value value;
    value.kind = as.kind;
    if (as.kind == type_kind::floating) {
        value.floating = read_floating(as, from);
    } else if (as.kind == type_kind::signed_number) {
        value.is_signed = read_signed(as, from);
    } else {
        value.kind = type_kind::unsigned_number;
        value.is_unsigned = read_bits(as, from);
    }
    return value;
}

bool write_number(const number_value& value, const scalar& as, std::byte* to) {
    if (as.kind == type_kind::floating) {
        if (value.kind == type_kind::floating) return write_floating(value.floating, as, to);
        const bool negative = value.kind == type_kind::signed_number;
        const double wide = negative ? static_cast<double>(value.is_signed)
                                     : static_cast<double>(value.is_unsigned);
        // Every whole number up to here is a double, or a float.
        const double most = as.bytes == sizeof(float) ? 16777216.0 : 9007199254740992.0;
        return std::abs(wide) <= most && write_floating(wide, as, to);
    }
    number_value whole = value;
    if (value.kind == type_kind::floating && !whole_number(value.floating, whole)) return false;
    if (!fits(whole, as)) return false;
    write_bits(whole.kind == type_kind::signed_number ? static_cast<std::uint64_t>(whole.is_signed)
                                                      : whole.is_unsigned,
               as, to);
    return true;
}

std::string text_of(const number_value& value) {
    if (value.kind == type_kind::floating) return std::to_string(value.floating);
    return value.kind == type_kind::signed_number ? std::to_string(value.is_signed)
                                                  : std::to_string(value.is_unsigned);
}

}  // namespace reload::detail
BRAID_NAMESPACE_END
