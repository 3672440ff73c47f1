// Numbers that change their type: each value arrives, or is refused.
#include "reload/migrate/numbers.hpp"
#include "migrate_test.hpp"

#include <limits>

namespace braid_test {
namespace {

template <class T>
detail::scalar scalar_of() {
    using kind = detail::type_kind;
    const kind k = std::is_same_v<T, bool>       ? kind::boolean
                   : std::is_floating_point_v<T> ? kind::floating
                   : std::is_signed_v<T>         ? kind::signed_number
                                                 : kind::unsigned_number;
    return {k, sizeof(T), 0, 0};
}

/// What becomes of the value; none: it is refused.
template <class To, class From>
std::optional<To> after(From value) {
    std::byte from[8] = {}, to[8] = {};
    std::memcpy(from, &value, sizeof value);
    if (!detail::write_number(detail::read_number(scalar_of<From>(), from), scalar_of<To>(), to)) {
        return {};
    }
    To result;
    std::memcpy(&result, to, sizeof result);
    return result;
}

template <class To, class From>
void expect_ends() {
    using to = std::numeric_limits<To>;
    using from = std::numeric_limits<From>;
    for (const From value : {from::min(), from::max(), From{}, From{1}}) {
        const bool fits =
            std::cmp_less_equal(to::min(), value) && std::cmp_less_equal(value, to::max());
        EXPECT_EQ(after<To>(value), fits ? std::optional(static_cast<To>(value)) : std::nullopt)
            << +value;
    }
}

template <class From>
void expect_all_ends() {
    expect_ends<std::int8_t, From>();
    expect_ends<std::uint8_t, From>();
    expect_ends<std::int16_t, From>();
    expect_ends<std::uint16_t, From>();
    expect_ends<std::int32_t, From>();
    expect_ends<std::uint32_t, From>();
    expect_ends<std::int64_t, From>();
    expect_ends<std::uint64_t, From>();
}

TEST(ReloadNumbers, WholeNumbersArriveOrAreRefusedAtTheEndsOfEachType) {
    expect_all_ends<std::int8_t>();
    expect_all_ends<std::uint8_t>();
    expect_all_ends<std::int16_t>();
    expect_all_ends<std::uint16_t>();
    expect_all_ends<std::int32_t>();
    expect_all_ends<std::uint32_t>();
    expect_all_ends<std::int64_t>();
    expect_all_ends<std::uint64_t>();
}

TEST(ReloadNumbers, FloatingOnesKeepTheirValueOrAreRefused) {
    EXPECT_EQ(after<double>(1.5f), 1.5);
    EXPECT_EQ(after<float>(1.5), 1.5f);
    EXPECT_EQ(after<float>(1e300), std::nullopt);
    EXPECT_EQ(after<float>(std::numeric_limits<double>::infinity()),
              std::numeric_limits<float>::infinity());
    EXPECT_EQ(after<int>(3.0), 3);
    EXPECT_EQ(after<int>(3.5), std::nullopt);
    EXPECT_EQ(after<int>(3e9), std::nullopt);
    EXPECT_EQ(after<int>(std::numeric_limits<double>::quiet_NaN()), std::nullopt);
    EXPECT_EQ(after<double>(std::int64_t{1} << 53), 9007199254740992.0);
    EXPECT_EQ(after<float>(16777217), std::nullopt);
    EXPECT_EQ(after<bool>(1), true);
    EXPECT_EQ(after<bool>(2), std::nullopt);
    EXPECT_EQ(after<int>(true), 1);
}

TEST(ReloadNumbers, BitFieldsBeginAtAnyBit) {
    for (unsigned shift = 0; shift < 8; ++shift) {
        for (unsigned bits = 1; bits <= 64; ++bits) {
            const detail::scalar as{detail::type_kind::signed_number, 8,
                                    static_cast<std::uint8_t>(shift),
                                    static_cast<std::uint8_t>(bits)};
            std::byte memory[9] = {};
            detail::write_bits(~std::uint64_t{0}, as, memory);
            EXPECT_EQ(detail::read_signed(as, memory), -1);
            unsigned set = 0;
            for (const std::byte one : memory)
                set += static_cast<unsigned>(std::popcount(static_cast<unsigned char>(one)));
            EXPECT_EQ(set, bits);
            std::byte full[9];
            std::memset(full, 255, sizeof full);
            detail::write_bits(0, as, full);
            EXPECT_EQ(detail::read_signed(as, full), 0);
        }
    }
}

}  // namespace
}  // namespace braid_test
