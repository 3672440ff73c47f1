#pragma once
// A small server for browsers on this machine: pages and files from a table, and a live capture.

#include "braid/base/status.hpp"

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string_view>
#include <vector>

BRAID_NAMESPACE_BEGIN
namespace profile {

class hub;

/// What a path shows. The first of make, file and bytes that is there is taken.
struct resource {
    std::string path;  // "/"
    std::string type;  // "text/html; charset=utf-8"
    std::string_view bytes = {};
    /// The path of a file, which is read while it is sent. Missing: 404.
    std::string file = {};
    /// Called for each request, on the server's thread: nobody else is served meanwhile.
    std::function<std::string()> make = {};
    /// Only to who shows the token: as `Authorization: Bearer TOKEN`, which no page of another
    /// place and no address that was guessed can send.
    bool guarded = false;
};

struct server_options {
    std::uint16_t port = 0;
    /// Of the live capture.
    std::size_t most_clients = 4;
    std::chrono::milliseconds token_within{5000}, linger{1000};
};

/// Speaks HTTP on 127.0.0.1 to those who call it by that name. Nothing can be changed by a request.
class server {
public:
    /// `live`, when given, is what `/stream` shows to who knows the token. Without a token nobody
    /// does.
    server(std::vector<resource> table, hub* live, std::string token,
           const server_options& options);
    ~server();
    server(const server&) = delete;
    server& operator=(const server&) = delete;

    /// Once.
    status start();
    void stop();
    /// 0 before start().
    std::uint16_t port() const;
    /// The hub has something. Any thread; does not wait.
    void wake();

    struct state;

private:
    std::unique_ptr<state> state_;
};

}  // namespace profile
BRAID_NAMESPACE_END
