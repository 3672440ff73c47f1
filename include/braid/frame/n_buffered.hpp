#pragma once
// Data in several copies, so that the renderer reads what simulation has written while simulation
// writes the next. Which copy serves whom follows from the number of the frame; or a swap turns the
// copies, and is a task of its own.
//
//   braid::n_buffered<scene, 2> scenes(scheduler, "scene");
//   simulate.add([&](const braid::frame_context& f) { auto to = scenes.write(f.frame); … });
//   render.add([&](const braid::frame_context& f) { auto from = scenes.read(f.frame); … });
//
// What orders reader and writer are the edges of your graph; this only looks whether they do.

#include "braid/base/export.hpp"
#include "braid/base/policy.hpp"
#include "braid/core/scheduler.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>

BRAID_NAMESPACE_BEGIN
namespace detail {

/// Who uses one copy. relaxed throughout: a look, not a lock. It must not order what the program
/// does not, or ThreadSanitizer would not see the edge that is missing.
struct alignas(64) buffer_claim {
    static constexpr std::uint32_t writer = 1U << 31;
    atomic<std::uint32_t> users{0};  // readers, and the bit
    atomic<std::uint64_t> frame{0};  // whose data the copy holds
    atomic<const char*> name{""};    // task that came last
};

class buffer_claims {
public:
    buffer_claims(runtime& rt, const char* name, buffer_claim* claims, unsigned copies)
        : rt_(rt), name_(name != nullptr ? name : "buffer"), claims_(claims), copies_(copies) {}

    /// Null, and reported: somebody uses the copy.
    BRAID_API buffer_claim* write(std::uint64_t frame);
    /// Null, and reported: it is written just now, or holds the data of another frame.
    BRAID_API buffer_claim* read(std::uint64_t frame);
    /// False, and reported: the copy that the next frame would write is in use, or the one that it
    /// would read is being written.
    BRAID_API bool swap();
    /// The frame that is read; the next one is written.
    std::uint64_t read_frame() const { return read_frame_.load(relaxed); }

private:
    buffer_claim& of(std::uint64_t frame) const { return claims_[frame % copies_]; }
    runtime& rt_;
    const char* name_;
    buffer_claim* claims_;
    unsigned copies_;
    atomic<std::uint64_t> read_frame_{0};
};

}  // namespace detail

/// `Copies` of a T, used by frame n as copy n % Copies. For a loop of depth d, d + 1 are enough.
/// Any thread; an access costs two atomic additions, on a line of the copy's own.
template <class T, unsigned Copies = 2>
class n_buffered {
    static_assert(Copies >= 1);

public:
    /// `name` outlives the buffer. Each T is constructed from `arguments`.
    template <class... Arguments>
    explicit n_buffered(scheduler& s, const char* name = "buffer", Arguments&&... arguments)
        : n_buffered(std::make_index_sequence<Copies>(), s, name, arguments...) {}
    n_buffered(const n_buffered&) = delete;
    n_buffered& operator=(const n_buffered&) = delete;

    /// A copy, until the end of this object's life. Empty: refused; nobody may look behind it.
    template <class U>
    class access {
    public:
        access(U* data, detail::buffer_claim* claim, std::uint32_t share)
            : data_(claim != nullptr ? data : nullptr), claim_(claim), share_(share) {}
        access(access&& other) noexcept
            : data_(std::exchange(other.data_, nullptr)),
              claim_(std::exchange(other.claim_, nullptr)),
              share_(other.share_) {}
        access& operator=(access&&) = delete;
        ~access() {
            if (claim_ != nullptr) claim_->users.fetch_sub(share_, relaxed);
        }
        explicit operator bool() const { return data_ != nullptr; }
        U& operator*() const { return *data_; }
        U* operator->() const { return data_; }

    private:
        U* data_;
        detail::buffer_claim* claim_;
        std::uint32_t share_;
    };

    /// For the one writer of that frame; parallel bodies share its access. Empty, and reported with
    /// the names of both tasks: the copy is still read, or written, for an earlier frame: an edge
    /// is missing, or a copy.
    access<T> write(std::uint64_t frame) {
        return {&copies_[frame % Copies], claims_.write(frame), detail::buffer_claim::writer};
    }
    /// For any number of readers. Empty, and reported: the writer of that frame is not over, or the
    /// copy holds another frame's data by now.
    access<const T> read(std::uint64_t frame) {
        return {&copies_[frame % Copies], claims_.read(frame), 1};
    }

    /// Without numbers: readers read what was written before the last swap. Run the swap as a task
    /// after the writer and after the readers, and the next ones after the swap. False, and
    /// reported with their name: it would overtake one of them, and has not been done.
    bool swap() { return claims_.swap(); }
    access<T> write() { return write(claims_.read_frame() + 1); }
    access<const T> read() { return read(claims_.read_frame()); }

private:
    template <std::size_t... I, class... Arguments>
    n_buffered(std::index_sequence<I...>, scheduler& s, const char* name, Arguments&&... arguments)
        : copies_{(static_cast<void>(I), T(arguments...))...},
          claims_(s.internals(), name, used_.data(), Copies) {}

    std::array<T, Copies> copies_;
    std::array<detail::buffer_claim, Copies> used_;
    detail::buffer_claims claims_;
};

BRAID_NAMESPACE_END
