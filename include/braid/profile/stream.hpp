#pragma once
// Shows in a browser on this machine what a program does, while it runs. Of the library
// braid::stream.
//
//   braid::profile::live_view view(braid::profile::viewer_page());
//   if (const braid::status went = view.start(); !went) …
//   std::puts(view.url().c_str());
//   recorder.start(view);
//   …
//   recorder.stop();

#include "braid/profile/recorder.hpp"

#include <chrono>

BRAID_NAMESPACE_BEGIN
namespace profile {

struct live_options {
    static constexpr std::chrono::milliseconds longest_time{24 * 3'600'000};

    std::uint16_t port = 0;  // 0: the system chooses
    /// What waits for one browser at most; any number. What does not fit is left out, which the
    /// browser shows.
    std::size_t queue_bytes = std::size_t{16} << 20;
    std::size_t most_clients = 4;  // any number; 0: nobody may look
    /// How long a client may take to show the token. This and `linger` are 0 to longest_time; what
    /// lies outside counts as the nearest.
    std::chrono::milliseconds token_within{5000};
    /// How long stop() waits at most for clients to take what is left.
    std::chrono::milliseconds linger{1000};
};

/// A server inside the program, with one thread. It listens on 127.0.0.1 only, and shows nothing to
/// a client without the token, which is another one for each live_view. Outlives the recording.
class live_view final : public capture_sink {
public:
    /// `page` is what a browser gets first; it must last as long as this.
    explicit live_view(std::string_view page, const live_options& options = {});
    /// stop().
    ~live_view();
    live_view(const live_view&) = delete;
    live_view& operator=(const live_view&) = delete;

    /// Once. Says what is wrong, such as a port that another program has.
    status start();
    /// Sends what is left, closes all connections, ends the thread.
    void stop();

    /// 0 and empty before start().
    std::uint16_t port() const;
    std::string url() const;

    /// The recorder's thread. Copies; never waits for a client. A capture may begin before start(),
    /// and another one after the first: each begins with its header, and ends the connections that
    /// the one before still has.
    bool take(std::span<const std::byte> chunks) override;

    struct counts {
        std::size_t clients = 0;
        /// Bytes: that take() was given, that left for all clients together, that did not.
        std::uint64_t taken = 0, sent = 0, lost = 0;
    };
    /// Any thread.
    counts statistics() const;

private:
    struct state;
    std::unique_ptr<state> state_;
};

}  // namespace profile
BRAID_NAMESPACE_END
