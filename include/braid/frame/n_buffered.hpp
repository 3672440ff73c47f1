#pragma once
// Data in several copies, so that the renderer reads what the simulation has written while the
// simulation writes the next copy. The number of the frame selects the copy. Without frame numbers,
// a swap exchanges the copies, and is a task of its own.
//
//   braid::n_buffered<scene, 2> scenes(scheduler, "scene");
//   simulate.add([&](const braid::frame_context& f) { auto to = scenes.write(f.frame); … });
//   render.add([&](const braid::frame_context& f) { auto from = scenes.read(f.frame); … });
//
// The edges of your graph order reader and writer. This class only checks that they do.

#include "braid/base/export.hpp"
#include "braid/base/policy.hpp"
#include "braid/core/scheduler.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>

BRAID_NAMESPACE_BEGIN
namespace detail {

/// Which tasks use one copy. relaxed throughout: this is a check, not a lock. It must not order
/// what the program does not order, or ThreadSanitizer would not see the missing edge.
struct alignas(64) buffer_claim {
    static constexpr std::uint32_t writer = 1U << 31;
    atomic<std::uint32_t> users{0};  // number of readers, and the writer bit
    atomic<std::uint64_t> frame{0};  // the frame whose data the copy holds
    atomic<const char*> name{""};    // the task that claimed the copy last
};

class buffer_claims {
public:
    buffer_claims(runtime& rt, const char* name, buffer_claim* claims, unsigned copies)
        : rt_(rt), name_(name != nullptr ? name : "buffer"), claims_(claims), copies_(copies) {}

    /// Claims the copy of `frame` for writing. Returns null, and reports it, if a task uses the
    /// copy.
    BRAID_API buffer_claim* write(std::uint64_t frame);
    /// Claims the copy of `frame` for reading. Returns null, and reports it, if the copy is being
    /// written or holds the data of another frame.
    BRAID_API buffer_claim* read(std::uint64_t frame);
    /// Returns false, and reports it, if the copy that the next frame would write is in use, or if
    /// the copy that it would read is being written.
    BRAID_API bool swap();
    /// Returns the frame that is read. The frame after it is the one that is written.
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

/// Holds `Copies` copies of a T; frame n uses copy n % Copies. For a loop of depth d, d + 1 copies
/// are enough. Any thread may use it. An access costs two atomic read-modify-write operations on a
/// cache line that belongs to the copy.
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

    /// Access to one copy, until this object is destroyed. The access is empty if it was refused,
    /// and must then not be dereferenced.
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

    /// Gives the one writer of `frame` access to its copy; parallel bodies share this access. The
    /// access is empty if the copy is still read or written for an earlier frame, which is reported
    /// with the names of both tasks. In that case an edge or a copy is missing.
    access<T> write(std::uint64_t frame) {
        return {&copies_[frame % Copies], claims_.write(frame), detail::buffer_claim::writer};
    }
    /// Gives a reader of `frame` access to its copy, for any number of readers. The access is
    /// empty, and that is reported, if the writer of that frame has not ended or if the copy
    /// already holds the data of another frame.
    access<const T> read(std::uint64_t frame) {
        return {&copies_[frame % Copies], claims_.read(frame), 1};
    }

    /// Exchanges the copies for write() and read() without frame numbers: readers read what was
    /// written before the last swap. Run the swap as a task after the writer and after the readers,
    /// and run the next writer and readers after the swap. Returns false, and reports the name of
    /// the task, if the swap would overtake a writer or a reader. Nothing has changed then.
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
