// Who is let in, and what a page may ask for.
#include "profile/stream/guard.hpp"
#include "scratch_folder.hpp"

#include "braid/profile/viewer_page.hpp"
#include "live_fixture.hpp"
#include "profile/stream/server.hpp"

#include <cstdio>
#include <filesystem>

namespace {

using live::Live;
namespace profile = braid::profile;

/// The code with which the server ends it.
int close_code_of(web::socket& page) {
    for (;;) {
        const web::message m = page.receive();
        if (m.what == web::message::close) return m.close_code();
        EXPECT_NE(m.what, web::message::binary) << "something was shown";
    }
}

TEST_F(Live, ShowsNothingToAWrongToken) {
    begin();
    live::source from(*view_);
    from.begin();
    std::string other = token();
    other.back() = other.back() == '0' ? '1' : '0';
    for (const std::string& shown :
         {other, token().substr(1), token() + "0", std::string("{\"ping\": 1}"), std::string()}) {
        web::socket page(port());
        page.send(shown);
        EXPECT_EQ(close_code_of(page), 1008) << shown;
    }
    web::socket page(port());
    page.send(token(), web::message::binary);
    EXPECT_EQ(close_code_of(page), 1008);
}

TEST_F(Live, ClosesWhenNoTokenComes) {
    begin({.token_within = std::chrono::milliseconds(20)});
    web::socket page(port());
    EXPECT_EQ(close_code_of(page), 1008);
}

TEST_F(Live, HasAnotherTokenEachTime) {
    begin();
    const std::string before = token();
    EXPECT_EQ(before.size(), 32U);
    begin();
    EXPECT_NE(before, token());
    EXPECT_EQ(view_->url(), "http://127.0.0.1:" + std::to_string(port()) + "/#live=" + token());
}

TEST_F(Live, RefusesForeignHosts) {
    begin();
    const std::string own = std::to_string(port());
    for (const std::string& host :
         {std::string("example.org"), "example.org:" + own, std::string("127.0.0.1"),
          std::string("127.0.0.1:1"), "127.0.0.1.example.org:" + own, "localhost." + own}) {
        EXPECT_EQ(web::ask(port(), "GET / HTTP/1.1\r\nHost: " + host + "\r\n\r\n").status, 403);
        EXPECT_EQ(web::socket(port(), "", 0, host).status(), 403) << host;
    }
    EXPECT_EQ(web::ask(port(), "GET / HTTP/1.1\r\n\r\n").status, 403);
    EXPECT_EQ(web::get(port(), "/", "Host: " + web::own_host(port()) + "\r\n").status, 403);
    EXPECT_EQ(web::socket(port(), "", 0, "localhost:" + own).status(), 101);
}

TEST_F(Live, RefusesForeignOrigins) {
    begin();
    const std::string own = std::to_string(port());
    for (const std::string& origin :
         {std::string("http://example.org"), "https://127.0.0.1:" + own, std::string("null"),
          std::string("http://127.0.0.1"), "http://127.0.0.1:" + own + ".example.org"}) {
        EXPECT_EQ(web::socket(port(), "Origin: " + origin + "\r\n").status(), 403) << origin;
        EXPECT_EQ(web::get(port(), "/", "Origin: " + origin + "\r\n").status, 403) << origin;
    }
    EXPECT_EQ(web::socket(port(), "Origin: http://127.0.0.1:" + own + "\r\n").status(), 101);
    EXPECT_EQ(web::socket(port(), "Origin: http://localhost:" + own + "\r\n").status(), 101);
}

TEST_F(Live, UnderstandsPingsOnly) {
    begin();
    for (const char* text : {"{\"stop\": 1}", "{\"ping\": \"x\"}", "{\"ping\": 1, \"b\": 2}", "",
                             "{\"ping\": nan}", "{\"ping\": 1}}", "ping"}) {
        web::socket page = page_of();
        page.send(text);
        EXPECT_EQ(close_code_of(page), 1008) << text;
    }
    web::socket page = page_of();
    page.send("{\"ping\": 1}", web::message::binary);
    EXPECT_EQ(close_code_of(page), 1008);
}

TEST_F(Live, RefusesWhatIsTooLarge) {
    begin();
    web::socket page = page_of();
    page.send(std::string(2000, ' ') + "{\"ping\": 1}");
    EXPECT_EQ(close_code_of(page), 1009);
    const std::string line = "X-Long: " + std::string(9000, 'x') + "\r\n";
    EXPECT_EQ(web::get(port(), "/", line).status, 431);
}

TEST_F(Live, HasRoomForFourPages) {
    begin();
    std::vector<web::socket> pages;
    for (int i = 0; i < 4; ++i) pages.push_back(page_of());
    EXPECT_EQ(view_->statistics().clients, 4U);
    EXPECT_EQ(web::socket(port()).status(), 503);
    EXPECT_EQ(web::get(port(), "/").status, 200);
    // One goes: the server has closed it when it answers the close, and then there is room.
    pages.back().send("\x03\xe8", web::message::close);
    EXPECT_EQ(close_code_of(pages.back()), 1000);
    pages.pop_back();
    for (int i = 0;; ++i) {
        if (web::socket(port()).status() == 101) break;
        ASSERT_LT(i, 1000);
    }
}

TEST_F(Live, ServesThePageAndNothingElse) {
    begin();
    const web::answer page = web::get(port(), "/");
    EXPECT_EQ(page.status, 200);
    EXPECT_EQ(page.body, live::page);
    EXPECT_NE(page.head.find("Content-Type: text/html; charset=utf-8\r\n"), page.head.npos);
    EXPECT_NE(page.head.find("X-Content-Type-Options: nosniff\r\n"), page.head.npos);
    EXPECT_EQ(web::get(port(), "/?capture=x").status, 200);
    for (const char* path : {"/index.html", "/../etc/passwd", "/%2e%2e/etc/passwd", "//", "/./",
                             "/..", "/stream/", "/capture.braid", "/etc/passwd", "*", "x"}) {
        EXPECT_EQ(web::get(port(), path).status, 404) << path;
    }
    EXPECT_EQ(web::get(port(), "/stream").status, 426);
    const std::string rest = " / HTTP/1.1\r\nHost: " + web::own_host(port()) + "\r\n\r\n";
    EXPECT_EQ(web::ask(port(), "PUT" + rest).status, 405);
    EXPECT_EQ(web::ask(port(), "nonsense\r\n\r\n").status, 400);
}

TEST_F(Live, ThePageMayTalkToItsServerOnly) {
    begin();
    const std::string head = web::get(port(), "/").head;
    const std::size_t at = head.find("Content-Security-Policy: ");
    ASSERT_NE(at, head.npos);
    std::string policy = head.substr(at + 25, head.find("\r\n", at) - at - 25);
    EXPECT_TRUE(policy.starts_with("default-src 'none';")) << policy;
    // Every address in it is of this server.
    const std::string own = std::to_string(port());
    for (const std::string& host : {"ws://127.0.0.1:" + own, "ws://localhost:" + own}) {
        const std::size_t there = policy.find(host);
        ASSERT_NE(there, policy.npos);
        policy.erase(there, host.size());
    }
    EXPECT_EQ(policy.find("//"), policy.npos) << policy;
    EXPECT_EQ(policy.find('*'), policy.npos) << policy;
    EXPECT_EQ(policy.find("http"), policy.npos) << policy;
}

TEST(Server, ServesFilesAndWhatIsMadeWhenItIsAskedFor) {
    const braid_test::scratch_folder folder;
    const std::string path = (folder / "served.braid").string();
    std::string all(5'000'000, '\0');
    for (std::size_t i = 0; i < all.size(); ++i) all[i] = static_cast<char>(i % 251);
    std::FILE* const file = std::fopen(path.c_str(), "wb");
    ASSERT_NE(file, nullptr);
    std::fwrite(all.data(), 1, all.size(), file);
    std::fclose(file);
    int made = 0;
    profile::server own(
        {{.path = "/capture.braid", .type = "application/octet-stream", .file = path},
         {.path = "/missing", .type = "text/plain", .file = path + ".not"},
         {.path = "/made",
          .type = "application/json",
          .make = [&] { return std::to_string(++made); }},
         {.path = "/fails",
          .type = "text/plain",
          .make = []() -> std::string { throw std::runtime_error("a sentence"); }}},
        nullptr, "", {});
    ASSERT_TRUE(own.start());
    EXPECT_FALSE(own.start());
    EXPECT_EQ(web::get(own.port(), "/capture.braid").body, all);
    EXPECT_EQ(web::get(own.port(), "/missing").status, 404);
    EXPECT_EQ(web::get(own.port(), "/made").body, "1");
    EXPECT_EQ(web::get(own.port(), "/made").body, "2");
    EXPECT_EQ(web::get(own.port(), "/fails").status, 500);
    EXPECT_EQ(web::get(own.port(), "/stream").status, 404);
    own.stop();
    own.stop();
}

TEST(Server, SaysThatAPortIsTaken) {
    profile::server one({}, nullptr, "", {});
    ASSERT_TRUE(one.start());
    profile::server two({}, nullptr, "", {.port = one.port()});
    const braid::status went = two.start();
    EXPECT_FALSE(went);
    EXPECT_NE(went.text.find(std::to_string(one.port())), went.text.npos);
    EXPECT_EQ(two.port(), 0);
}

TEST(Guard, KnowsAddressesOfLiveViews) {
    const std::string token = profile::make_token();
    EXPECT_TRUE(profile::is_live_url(profile::live_url(1234, token)));
    EXPECT_TRUE(profile::is_live_url("http://localhost:65535/#live=" + token));
    for (const std::string& url : std::initializer_list<std::string>{
             "http://example.org:1234/#live=" + token, "https://127.0.0.1:1234/#live=" + token,
             "http://127.0.0.1/#live=" + token, "http://127.0.0.1:0/#live=" + token,
             "http://127.0.0.1:65536/#live=" + token, "http://127.0.0.1:1234/",
             "http://127.0.0.1:1234/#live=", "http://127.0.0.1:1234/#live=" + token + "0",
             "http://127.0.0.1:1234/x#live=" + token,
             "http://127.0.0.1:1234@example.org/#live=" + token,
             "http://127.0.0.1:1234/#live=" + std::string(32, 'G'), std::string()}) {
        EXPECT_FALSE(profile::is_live_url(url)) << url;
    }
}

TEST(Guard, HasAPage) { EXPECT_TRUE(profile::viewer_page().starts_with("<!doctype html>")); }

TEST(Guard, FindsTheTokenThatARequestShows) {
    EXPECT_EQ(profile::shown_token("Bearer abc"), "abc");
    for (const char* text : {"", "abc", "Bearer", "bearer abc", "Basic abc", " Bearer abc"}) {
        EXPECT_EQ(profile::shown_token(text), "") << text;
    }
    const std::string token = profile::make_token();
    EXPECT_EQ(profile::view_url(1234, token), "http://127.0.0.1:1234/#view=" + token);
    EXPECT_FALSE(profile::is_live_url(profile::view_url(1234, token)));
}

}  // namespace
