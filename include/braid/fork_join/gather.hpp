#pragma once
// gather() is a parallel loop whose bodies append elements to one list. The order of the elements
// is the same as after a serial loop, no matter which threads run the bodies. The next gather()
// into the same list reuses the memory of the list.
//
//   braid::gathered<contact> contacts(scheduler);  // kept from frame to frame
//   braid::gather(scheduler, pairs.size(), contacts, [&](std::size_t i, auto& out) {
//       if (touch(pairs[i])) out.push_back(contact{…});
//   });
//   for (const contact& c : contacts) resolve(c);  // in the order of the pairs

#include "braid/core/scheduler.hpp"
#include "braid/core/spare_list.hpp"
#include "braid/fork_join/per_worker.hpp"

#include <iterator>
#include <memory>
#include <utility>

BRAID_NAMESPACE_BEGIN

struct gather_options {
    /// The minimum number of indices in one piece of the loop. Only the last piece may be shorter.
    /// Any number is allowed, and 0 means 1. A loop has at most 1,024 pieces. The bounds of the
    /// pieces depend only on the number of indices and on this grain. A body that takes an
    /// index_range is called once for each piece.
    std::size_t grain = 1;
    const char* name = "gather";
};

/// A list of elements, which gather() fills. The elements are stored in chunks of memory. Only one
/// thread at a time may use the list. The list allocates with the memory functions of its scheduler
/// and must not outlive the scheduler. The list keeps all memory that it has allocated until it is
/// destroyed.
template <class T>
class gathered {
    struct chunk;
    struct arena;
    struct piece;

public:
    class appender;
    template <bool Const>
    class basic_iterator;
    using value_type = T;
    using iterator = basic_iterator<false>;
    using const_iterator = basic_iterator<true>;

    explicit gathered(scheduler& s) : rt_(s.internals()), arenas_(s) {}
    ~gathered() {
        clear();
        while (chunk* c = spare_.load(relaxed)) {
            spare_.store(c->next.load(relaxed), relaxed);
            detail::release_closure(rt_, c, sizeof(chunk), alignof(chunk));
        }
        if (pieces_ != nullptr) {
            detail::release_closure(rt_, pieces_, piece_bytes, alignof(piece));
        }
    }
    gathered(const gathered&) = delete;
    gathered& operator=(const gathered&) = delete;

    std::size_t size() const { return size_; }
    bool empty() const { return size_ == 0; }
    iterator begin() { return first<iterator>(); }
    iterator end() { return {}; }
    const_iterator begin() const { return first<const_iterator>(); }
    const_iterator end() const { return {}; }

    /// Destroys all elements. clear() neither allocates nor frees memory.
    void clear() {
        arenas_.for_each([this](arena& a) { a.clear(spare_); });
        piece_count_ = size_ = 0;
    }

    /// Each body receives an appender and uses it to append elements to the list. An appender is
    /// valid until its body returns. Elements keep their addresses until the next clear() or
    /// gather(). Appending an element costs as much as push_back() on a vector that need not grow.
    /// In addition, every 4 KB of elements cost one atomic operation or one allocation. The
    /// functions of the appender throw std::bad_alloc if an allocation fails.
    class appender {
    public:
        template <class... Arguments>
        T& emplace_back(Arguments&&... arguments) {
            if (to_.last == nullptr || to_.last->used == chunk::capacity) to_.grow(from_);
            chunk& c = *to_.last;
            T* made = ::new (c.at(c.used)) T(std::forward<Arguments>(arguments)...);
            ++c.used;
            ++count_;
            return *made;
        }
        void push_back(const T& value) { emplace_back(value); }
        void push_back(T&& value) { emplace_back(std::move(value)); }

    private:
        friend class gathered;
        appender(gathered& from, arena& to) : from_(from), to_(to) {}
        gathered& from_;
        arena& to_;
        std::size_t count_ = 0;
    };

    template <bool Const>
    class basic_iterator {
    public:
        using value_type = T;
        using difference_type = std::ptrdiff_t;
        using reference = std::conditional_t<Const, const T&, T&>;
        using pointer = std::conditional_t<Const, const T*, T*>;
        using iterator_category = std::forward_iterator_tag;

        basic_iterator() = default;
        reference operator*() const { return *in_->at(index_); }
        pointer operator->() const { return in_->at(index_); }
        basic_iterator& operator++() {
            if (--left_ == 0) {
                next_piece();
            } else if (++index_ == chunk::capacity) {
                in_ = in_->next.load(relaxed);
                index_ = 0;
            }
            return *this;
        }
        basic_iterator operator++(int) {
            basic_iterator old = *this;
            ++*this;
            return old;
        }
        friend bool operator==(const basic_iterator& a, const basic_iterator& b) {
            return a.in_ == b.in_ && a.index_ == b.index_;
        }

    private:
        friend class gathered;
        basic_iterator(const piece* p, const piece* end) : piece_(p), end_(end) { next_piece(); }
        void next_piece() {
            while (piece_ != end_ && piece_->count == 0) ++piece_;
            if (piece_ == end_) {
                in_ = nullptr;
                index_ = 0;
                return;
            }
            in_ = piece_->in;
            index_ = piece_->index;
            left_ = piece_->count;
            ++piece_;
        }

        const piece* piece_ = nullptr;
        const piece* end_ = nullptr;
        chunk* in_ = nullptr;
        std::size_t index_ = 0, left_ = 0;
    };

private:
    template <fork_place Place, class U, scratch_body<typename gathered<U>::appender> Body>
    friend void gather(Place&& place, std::size_t count, gathered<U>& into, Body&& body,
                       const gather_options& options);

    struct chunk {
        static constexpr std::size_t capacity = sizeof(T) < 4096 / 2 ? 4096 / sizeof(T) : 2;
        atomic<chunk*> next{nullptr};
        std::size_t used = 0;
        alignas(T) std::byte bytes[capacity * sizeof(T)];
        T* at(std::size_t i) { return std::launder(reinterpret_cast<T*>(bytes + i * sizeof(T))); }
    };

    /// The chunks that one thread fills, one after the other. While a piece of the loop runs, no
    /// other piece uses the same arena. So the elements of one piece are consecutive in the chunks
    /// of one arena.
    struct arena {
        chunk* first = nullptr;
        chunk* last = nullptr;

        void grow(gathered& from) {
            chunk* c = from.take_chunk();
            if (last == nullptr) {
                first = c;
            } else {
                last->next.store(c, relaxed);
            }
            last = c;
        }
        void clear(atomic<chunk*>& spare) {
            while (chunk* c = first) {
                std::destroy_n(c->at(0), c->used);
                c->used = 0;
                first = c->next.exchange(spare.load(relaxed), relaxed);
                spare.store(c, relaxed);
            }
            last = nullptr;
        }
    };

    /// Stores where the elements of one piece of the loop begin, and how many elements the piece
    /// has appended.
    struct piece {
        chunk* in;
        std::size_t index, count;
    };
    static constexpr std::size_t most_pieces = 1024;
    static constexpr std::size_t piece_bytes = most_pieces * sizeof(piece);

    template <class Iterator>
    Iterator first() const {
        return Iterator(pieces_, pieces_ + piece_count_);
    }

    chunk* take_chunk() {
        if (chunk* const spare = detail::take_spare(spare_)) return spare;
        void* bytes = detail::allocate_closure(rt_, sizeof(chunk), alignof(chunk));
        if (bytes == nullptr) detail::no_memory();
        return ::new (bytes) chunk;
    }

    void need_pieces() {
        if (pieces_ != nullptr) return;
        void* bytes = detail::allocate_closure(rt_, piece_bytes, alignof(piece));
        if (bytes == nullptr) detail::no_memory();
        pieces_ = ::new (bytes) piece[most_pieces];
    }

    /// Calls f(appender&), and records in `p` where the appended elements are stored.
    template <class F>
    void append(arena& to, piece& p, F&& f) {
        appender out(*this, to);
        p.in = to.last;
        p.index = to.last != nullptr ? to.last->used : 0;
        f(out);
        if (p.in == nullptr) {
            p.in = to.first;
        } else if (p.index == chunk::capacity) {
            p.in = p.in->next.load(relaxed);
            p.index = 0;
        }
        p.count = out.count_;
    }

    detail::runtime& rt_;
    per_worker<arena> arenas_;
    atomic<chunk*> spare_{nullptr};
    piece* pieces_ = nullptr;
    std::size_t piece_count_ = 0, size_ = 0;
};

/// Clears `into`, and then calls `body` for the indices [0, count) as parallel_for() does. `body`
/// takes an index or an index_range, then an appender&, and optionally a fork_context. When
/// gather() returns, `into` holds the appended elements in the order of the indices. gather()
/// throws the same exceptions as parallel_for(). It also throws std::bad_alloc if there is no
/// memory for the list. If gather() throws, `into` is empty. For each piece of the loop, gather()
/// costs about 20 ns more than parallel_for(). A body must not start another gather() into the same
/// list.
template <fork_place Place, class T, scratch_body<typename gathered<T>::appender> Body>
void gather(Place&& place, std::size_t count, gathered<T>& into, Body&& body,
            const gather_options& options = {}) {
    using appender = typename gathered<T>::appender;
    constexpr bool by_index = !std::is_invocable_v<Body&, index_range, appender&, fork_context> &&
                              !std::is_invocable_v<Body&, index_range, appender&>;
    into.clear();
    if (count == 0) return;
    into.need_pieces();
    constexpr std::size_t most = gathered<T>::most_pieces;
    const detail::even_pieces plan(
        count, (std::max)(options.grain, detail::even_pieces(count, most).count()));
    const std::size_t pieces = plan.count();
    const auto run = [&](index_range r, fork_context c) {
        const auto arena = into.arenas_.borrow();
        const auto one = [&](std::size_t at, std::size_t end) {
            into.append(*arena, into.pieces_[at], [&](appender& out) {
                detail::call_with_scratch(body, plan.range(at, end), out, c);
            });
        };
        if constexpr (by_index) {
            // A body that takes an index cannot see the bounds of the pieces, so one entry of
            // `pieces_` describes all pieces of `r`.
            one(r.begin, r.end);
            for (std::size_t i = r.begin + 1; i != r.end; ++i) into.pieces_[i].count = 0;
        } else {
            for (std::size_t i = r.begin; i != r.end; ++i) one(i, i + 1);
        }
    };
    struct on_exit {
        gathered<T>& into;
        bool normal = false;
        ~on_exit() {
            if (!normal) into.clear();
        }
    } ending{into};
    parallel_for(place, pieces, run, {.name = options.name});
    ending.normal = true;
    into.piece_count_ = pieces;
    for (std::size_t i = 0; i != pieces; ++i) into.size_ += into.pieces_[i].count;
}

BRAID_NAMESPACE_END
