// Containers of std, by the members that each of them has in libstdc++. Where nothing in what the
// old one owns changes, the new one takes it over: until the commit both say that they own it, and
// neither is destroyed. Where the old state is to stay, the new one has a copy.
#include "reload/migrate/migration.hpp"

#include <cstring>
#include <new>

BRAID_NAMESPACE_BEGIN
namespace reload::detail {
namespace {

struct list_words {
    std::byte *begin, *end, *room;
};
/// std::string: in `own` as long as it is short.
struct text_words {
    std::byte* begin;
    std::uint64_t length;
    std::byte own[16];
};
static_assert(sizeof(text_words) == sizeof(std::string));
static_assert(sizeof(list_words) == sizeof(std::vector<int>));

template <class T>
T read(const std::byte* from) {
    T value;
    std::memcpy(&value, from, sizeof value);
    return value;
}

}  // namespace

std::byte* migration::buffer(std::uint64_t bytes, std::uint64_t alignment) {
    made_.push_back({nullptr, alignment});
    void* const at = alignment > __STDCPP_DEFAULT_NEW_ALIGNMENT__
                         ? ::operator new(bytes, std::align_val_t{alignment})
                         : ::operator new(bytes);
    made_.back().at = at;
    std::memset(at, 0, bytes);
    bytes_ += bytes;
    return static_cast<std::byte*>(at);
}

std::byte* migration::take_over(std::byte* old, std::uint64_t bytes, std::uint64_t alignment) {
    std::byte* now = old;
    if (keeps_) {
        now = buffer(bytes, alignment);
        std::memcpy(now, old, bytes);
        gone_.push_back({old, alignment});
    }
    regions_.add({old, bytes, now, nullptr, 0});
    return now;
}

void migration::list(const operation& step, const std::byte* from, std::byte* to) {
    const auto old = read<list_words>(from);
    const program& p = plan_.programs[step.program];
    const auto bytes = static_cast<std::uint64_t>(old.end - old.begin);
    if (old.begin == nullptr) {
        std::memset(to, 0, sizeof old);
        return;
    }
    if (p.from_size == 0 || bytes % p.from_size != 0 || old.room < old.end) {
        refuse(step, "is no whole list");
    }
    if (p.plain) {
        std::byte* const begin = take_over(old.begin, bytes, p.from_alignment);
        const bool is_own = begin != old.begin;
        const list_words now{begin, begin + bytes, is_own ? begin + bytes : old.room};
        std::memcpy(to, &now, sizeof now);
        return;
    }
    const std::uint64_t count = bytes / p.from_size;
    std::byte* const begin = buffer(count * p.to_size, p.to_alignment);
    const list_words now{begin, begin + count * p.to_size, begin + count * p.to_size};
    objects_ += count;
    regions_.add({old.begin, bytes, begin, &p, count});
    objects(p, old.begin, begin, count);
    std::memcpy(to, &now, sizeof now);
    gone_.push_back({old.begin, p.from_alignment});
}

void migration::own(const operation& step, const std::byte* from, std::byte* to) {
    auto* const old = read<std::byte*>(from);
    const program& p = plan_.programs[step.program];
    std::byte* now = old;
    if (old != nullptr) {
        for (const auto& in : sides_) {
            if (in->of->memory.find(old) != nullptr) refuse(step, "owns an object of the arena");
        }
        if (p.plain) {
            now = take_over(old, p.from_size, p.from_alignment);
        } else {
            now = buffer(p.to_size, p.to_alignment);
            ++objects_;
            regions_.add({old, p.from_size, now, &p, 1});
            objects(p, old, now, 1);
            gone_.push_back({old, p.from_alignment});
        }
    }
    std::memcpy(to, &now, sizeof now);
}

void migration::text(const operation&, const std::byte* from, std::byte* to) {
    auto words = read<text_words>(from);
    if (words.begin == from + offsetof(text_words, own)) {
        words.begin = to + offsetof(text_words, own);
    } else if (std::byte* const now = take_over(words.begin, words.length + 1, 1);
               now != words.begin) {
        words.begin = now;
        std::memcpy(words.own, &words.length, sizeof words.length);  // the room that it has
    }
    std::memcpy(to, &words, sizeof words);
}

void migration::blank(std::byte* to) {
    const text_words words{to + offsetof(text_words, own), 0, {}};
    std::memcpy(to, &words, sizeof words);
}

void migration::maybe(const operation& step, const std::byte* from, std::byte* to) {
    const optional_rule& rule = plan_.optionals[step.index];
    const bool has = from[rule.from_flag] != std::byte{0};
    if (has) objects(plan_.programs[step.program], from, to, 1);
    to[rule.to_flag] = static_cast<std::byte>(has);
}

void migration::drop(const operation& step, const std::byte* from, std::vector<owned>& out) {
    const program* const p = step.program != none ? &plan_.programs[step.program] : nullptr;
    // A pointer into what the old state no longer owns is refused.
    const auto add = [&](std::byte* at, std::uint64_t bytes, std::uint64_t alignment) {
        if (&out == &gone_) regions_.add({at, bytes, nullptr, nullptr, 0});
        out.push_back({at, alignment});
    };
    if (step.what == action::drop_text) {
        const auto words = read<text_words>(from);
        if (words.begin != from + offsetof(text_words, own)) add(words.begin, words.length, 1);
    } else if (step.what == action::drop_repeat) {
        drop_all(plan_.programs[step.program], from, step.size, out);
    } else if (step.what == action::drop_maybe) {
        if (from[step.size] != std::byte{0}) drop_all(plan_.programs[step.program], from, 1, out);
    } else if (step.what == action::drop_own) {
        auto* const held = read<std::byte*>(from);
        if (held == nullptr) return;
        if (p != nullptr) drop_all(*p, held, 1, out);
        add(held, step.size, step.index);
    } else {
        const auto words = read<list_words>(from);
        if (words.begin == nullptr) return;
        const auto bytes = static_cast<std::uint64_t>(words.end - words.begin);
        if (p != nullptr && step.size != 0) drop_all(*p, words.begin, bytes / step.size, out);
        add(words.begin, bytes, step.index);
    }
}

void migration::drop_all(const program& p, const std::byte* from, std::uint64_t count,
                         std::vector<owned>& out) {
    for (std::uint64_t i = 0; i < count; ++i) {
        for (const operation& step : p.steps) drop(step, from + i * p.from_size + step.from, out);
    }
}

}  // namespace reload::detail
BRAID_NAMESPACE_END
