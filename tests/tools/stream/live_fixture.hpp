#pragma once
// A live view, captures to feed it with, and pages that read it to the end.

#include "braid/profile/stream.hpp"
#include "profile/capture_writer.hpp"
#include "web_client.hpp"

#include <gtest/gtest.h>

#include <span>

namespace live {

namespace profile = braid::profile;

inline constexpr std::string_view page = "<!doctype html><title>page</title>";

/// Makes the bytes of a capture, a little at a time.
class source {
public:
    explicit source(profile::capture_sink& to) : to_(to) {}

    void begin() {
        writer_ = {};
        writer_.header(1);
        writer_.info("program", "a test");
        writer_.clock({1, 1});
        hand_on();
    }
    void lane(std::uint32_t number, const std::string& name) {
        profile::lane about;
        about.name = name;
        writer_.type("type of " + name, "file.cpp", number + 1);
        writer_.lane(number, about);
        hand_on();
    }
    /// Their times go on from those before.
    void records(std::uint32_t lane, std::size_t count) {
        std::vector<profile::record> all(count);
        for (profile::record& r : all) {
            r.time = ++time_;
            r.kind = profile::record_kind::parked;
        }
        writer_.records(lane, all, 0);
        hand_on();
    }
    void end() {
        writer_.done(time_);
        hand_on();
    }
    std::size_t bytes() const { return bytes_; }
    std::size_t accepted() const { return accepted_; }

private:
    void hand_on() {
        const std::vector<std::byte> chunks = writer_.take();
        bytes_ += chunks.size();
        if (to_.take(chunks)) accepted_ += chunks.size();
    }

    profile::capture_sink& to_;
    profile::capture_writer writer_;
    std::uint64_t time_ = 0;
    std::size_t bytes_ = 0, accepted_ = 0;
};

/// What a page has seen.
struct seen {
    std::string bytes;
    std::uint64_t lost = 0;
    std::size_t times = 0, largest = 0;
    int close_code = 0;

    profile::capture read() const {
        profile::capture c;
        const braid::status went = profile::read_capture(std::as_bytes(std::span(bytes)), c);
        EXPECT_TRUE(went) << went.text;
        return c;
    }
};

inline void note(const web::message& m, seen& to) {
    if (m.what == web::message::binary) {
        to.bytes += m.bytes;
        to.largest = std::max(to.largest, m.bytes.size());
    }
    if (m.what == web::message::close) to.close_code = m.close_code();
    if (m.what != web::message::text) return;
    if (const auto lost = web::number_in(m.bytes, "lost")) {
        to.lost += static_cast<std::uint64_t>(*lost);
    } else if (web::number_in(m.bytes, "time")) {
        ++to.times;
    } else {
        ADD_FAILURE() << m.bytes;
    }
}

/// Until that many bytes of the capture were there.
inline void read_bytes(web::socket& from, std::size_t bytes, seen& to) {
    while (to.bytes.size() < bytes && to.close_code == 0) note(from.receive(), to);
}

inline seen read_to_end(web::socket& from) {
    seen all;
    while (all.close_code == 0) note(from.receive(), all);
    return all;
}

inline std::size_t count_of(const profile::capture& c) {
    std::size_t count = 0;
    for (const profile::lane& l : c.lanes) count += l.records.size();
    return count;
}

class Live : public testing::Test {
protected:
    void begin(const profile::live_options& options = {}) {
        view_ = std::make_unique<profile::live_view>(page, options);
        const braid::status went = view_->start();
        ASSERT_TRUE(went) << went.text;
    }
    std::uint16_t port() const { return view_->port(); }
    std::string token() const { return view_->url().substr(view_->url().find('=') + 1); }

    /// One that was let in.
    web::socket page_of(int receive_bytes = 0) {
        web::socket one(port(), "", receive_bytes);
        EXPECT_EQ(one.status(), 101) << one.head();
        one.send(token());
        // The answer says that the token was read.
        one.send("{\"ping\": 1}");
        for (;;) {
            const web::message m = one.receive();
            if (m.what == web::message::text && web::number_in(m.bytes, "pong")) break;
            note(m, early_);
        }
        return one;
    }

    std::unique_ptr<profile::live_view> view_;
    seen early_;  // what the last page of page_of() got before it was there
};

}  // namespace live
