// The server's thread, and the only source that knows Boost.
//
// A connection is one object, which lives as long as a handler of it waits. All of them run on the
// one thread, so none of this is locked; what comes from other threads is posted.
#include "profile/stream/server.hpp"

#include "profile/stream/guard.hpp"
#include "profile/stream/hub.hpp"

#include <algorithm>
#include <array>
#include <boost/asio.hpp>
#include <boost/beast.hpp>
#include <cerrno>
#include <string>
#include <thread>

BRAID_NAMESPACE_BEGIN
namespace profile {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = beast::http;
namespace websocket = beast::websocket;
using tcp = asio::ip::tcp;
using error_code = boost::system::error_code;
using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr std::size_t most_connections = 64;
constexpr std::uint32_t most_head_bytes = 8 << 10;
constexpr std::size_t most_message_bytes = 1 << 10;
constexpr seconds head_within{5}, step_within{30}, close_within{5};
constexpr milliseconds time_every{100};

std::string_view view_of(beast::string_view text) { return {text.data(), text.size()}; }

class connection;

}  // namespace

struct server::state {
    state(std::vector<resource> served, hub* of, std::string secret, const server_options& o)
        : table(std::move(served)), live(of), token(std::move(secret)), options(o) {}

    status open();
    void accept();
    void end_all(bool now);
    std::size_t live_clients() const;

    asio::io_context io{1};
    tcp::acceptor acceptor{io};
    asio::steady_timer later{io};  // when there was no room for a connection, and to end with
    const std::vector<resource> table;
    hub* const live;
    const std::string token;
    const server_options options;
    std::string policy;
    std::uint16_t port = 0;
    std::thread thread;
    bool ends = false;
    std::vector<connection*> all;
};

namespace {

using server_state = server::state;

/// Counted as long as it is there.
class connection : public std::enable_shared_from_this<connection> {
public:
    explicit connection(server_state& of) : of_(of) { of_.all.push_back(this); }
    connection(const connection&) = delete;
    connection& operator=(const connection&) = delete;
    virtual ~connection() {
        std::erase(of_.all, this);
        if (of_.ends && of_.all.empty()) of_.later.cancel();
    }

    virtual bool is_live() const { return false; }
    virtual void wake() {}
    /// Soon, or at once. Handlers of what is cancelled come later.
    virtual void end(bool now) = 0;

protected:
    template <class Self>
    std::shared_ptr<Self> self(Self*) {
        return std::static_pointer_cast<Self>(shared_from_this());
    }

    server_state& of_;
};

// ---- a live capture

/// Waits for the token, then sends what the hub has, one message after the other.
class live_session final : public connection {
public:
    live_session(server_state& of, tcp::socket socket, http::request<http::empty_body> request)
        : connection(of), request_(std::move(request)), socket_(std::move(socket)), limit_(of.io) {}
    ~live_session() override {
        if (queue_ != nullptr) of_.live->leave(queue_);
    }

    void begin() {
        auto timeouts = websocket::stream_base::timeout::suggested(beast::role_type::server);
        timeouts.handshake_timeout = close_within;
        socket_.set_option(timeouts);
        socket_.read_message_max(most_message_bytes);
        socket_.auto_fragment(false);
        limit_.expires_after(of_.options.token_within);
        limit_.async_wait([me = self(this)](error_code cancelled) {
            if (!cancelled && me->queue_ == nullptr) me->close(1008, "no token came in time");
        });
        socket_.async_accept(request_, [me = self(this)](error_code wrong) {
            if (!wrong && !me->closing_) me->read();
        });
    }

    bool is_live() const override { return true; }
    void wake() override { send(); }
    void end(bool now) override {
        ending_ = true;
        if (now) {
            closing_ = true;
            limit_.cancel();
            error_code ignored;
            beast::get_lowest_layer(socket_).close(ignored);
        } else if (queue_ == nullptr) {
            close(1001, "the program ends");
        } else {
            send();  // what is left, and then the end
        }
    }

private:
    void read() {
        socket_.async_read(incoming_, [me = self(this)](error_code wrong, std::size_t) {
            if (!wrong) return me->understand();
            // Gone, or told by Beast why it has to go.
            if (!me->closing_) me->end(true);
        });
    }

    void understand() {
        if (closing_) return;
        const std::string text = beast::buffers_to_string(incoming_.data());
        incoming_.consume(incoming_.size());
        if (queue_ == nullptr) {
            if (!socket_.got_text() || !same_token(of_.token, text)) {
                return close(1008, "this is not the token");
            }
            limit_.cancel();
            queue_ = of_.live->join();
            read();
        } else if (const auto ping = ping_of(text); ping && socket_.got_text()) {
            // The next question is read when this answer has left: there is never more than one.
            pong_ = pong_text(*ping, of_.live->now());
        } else {
            return close(1008, "nothing but {\"ping\": number} is understood");
        }
        send();
    }

    void send() {
        if (writing_ || closing_ || queue_ == nullptr) return;
        const auto now = std::chrono::steady_clock::now();
        if (!pong_.empty()) {
            send_text(std::exchange(pong_, {}), true);
        } else if (now - told_time_ >= time_every && of_.live->now() != 0) {
            told_time_ = now;
            send_text("{\"time\": " + std::to_string(of_.live->now()) + "}", false);
        } else {
            send_next(of_.live->next(*queue_));
        }
    }

    void send_next(stream_message message) {
        switch (message.what) {
            case stream_message::nothing:
                if (ending_) close(1001, "the program ends");
                break;
            case stream_message::over:
                close(1000, "");
                break;
            case stream_message::lost:
                send_text("{\"lost\": " + std::to_string(message.lost_bytes) + "}", false);
                break;
            case stream_message::bytes:
                send_bytes(std::move(message.blocks));
                break;
        }
    }

    void send_text(std::string text, bool answers) {
        text_ = std::move(text);
        socket_.text(true);
        writing_ = true;
        socket_.async_write(asio::buffer(text_),
                            [me = self(this), answers](error_code wrong, std::size_t bytes) {
                                me->written(wrong, bytes);
                                if (!wrong && answers && !me->closing_) me->read();
                            });
    }

    void send_bytes(std::vector<shared_block> blocks) {
        blocks_ = std::move(blocks);
        std::vector<asio::const_buffer> parts;
        for (const shared_block& one : blocks_) parts.push_back(asio::buffer(one->bytes));
        socket_.binary(true);
        writing_ = true;
        socket_.async_write(parts, [me = self(this)](error_code wrong, std::size_t bytes) {
            me->blocks_.clear();
            me->written(wrong, bytes);
        });
    }

    void written(error_code wrong, std::size_t bytes) {
        writing_ = false;
        of_.live->note_sent(bytes);
        if (!wrong) send();
    }

    /// Says why, unless the client takes nothing; then the connection is cut.
    void close(std::uint16_t code, const char* reason) {
        if (std::exchange(closing_, true)) return;
        limit_.expires_after(close_within);
        limit_.async_wait([me = self(this)](error_code cancelled) {
            if (!cancelled) me->end(true);
        });
        if (!socket_.is_open()) return end(true);
        socket_.async_close({static_cast<websocket::close_code>(code), reason},
                            [me = self(this)](error_code) { me->end(true); });
    }

    const http::request<http::empty_body> request_;
    websocket::stream<tcp::socket> socket_;
    asio::steady_timer limit_;  // first for the token, then for the end
    beast::flat_buffer incoming_;
    std::shared_ptr<hub::queue> queue_;  // none: no token yet
    std::string text_, pong_;
    std::vector<shared_block> blocks_;
    std::chrono::steady_clock::time_point told_time_{};
    bool writing_ = false, closing_ = false, ending_ = false;
};

// ---- pages and files

/// One request, and its answer. Then the connection ends, or becomes a live one.
class request_session final : public connection {
public:
    request_session(server_state& of, tcp::socket socket)
        : connection(of), stream_(std::move(socket)) {}

    void begin() {
        parser_.header_limit(most_head_bytes);
        parser_.body_limit(most_message_bytes);
        stream_.expires_after(head_within);
        http::async_read(
            stream_, buffer_, parser_, [me = self(this)](error_code wrong, std::size_t) {
                if (!wrong) return me->answer();
                if (wrong == http::error::header_limit) {
                    return me->refuse(http::status::request_header_fields_too_large,
                                      "The request is too long.");
                }
                if (wrong.category() == error_code(http::error::bad_target).category()) {
                    me->refuse(http::status::bad_request, "This is no request.");
                }
            });
    }

    void end(bool now) override {
        if (now || !answering_) stream_.close();
    }

private:
    using fields = http::fields;

    void answer() {
        const auto& request = parser_.get();
        if (request.count(http::field::host) != 1 ||
            !is_own_host(view_of(request[http::field::host]), of_.port)) {
            return refuse(http::status::forbidden, "This server has another name.");
        }
        const auto origins = request.count(http::field::origin);
        if (origins > 1 ||
            (origins == 1 && !is_own_origin(view_of(request[http::field::origin]), of_.port))) {
            return refuse(http::status::forbidden, "This server is for its own page only.");
        }
        if (request.method() != http::verb::get) {
            return refuse(http::status::method_not_allowed, "Nothing can be changed here.");
        }
        std::string_view path = view_of(request.target());
        path = path.substr(0, path.find('?'));
        if (of_.live != nullptr && path == "/stream") return go_live();
        const auto found = std::find_if(of_.table.begin(), of_.table.end(),
                                        [&](const resource& one) { return one.path == path; });
        if (found == of_.table.end()) {
            return refuse(http::status::not_found, "There is nothing of this name.");
        }
        if (found->guarded && !shows_token()) {
            return refuse(http::status::forbidden, "This needs the token of the address.");
        }
        show(*found);
    }

    bool shows_token() const {
        const auto& request = parser_.get();
        return !of_.token.empty() && request.count(http::field::authorization) == 1 &&
               same_token(of_.token, shown_token(view_of(request[http::field::authorization])));
    }

    void go_live() {
        if (!websocket::is_upgrade(parser_.get())) {
            return refuse(http::status::upgrade_required, "This is for web sockets.");
        }
        if (of_.live_clients() >= of_.options.most_clients) {
            return refuse(http::status::service_unavailable, "Too many pages watch already.");
        }
        stream_.expires_never();
        std::make_shared<live_session>(of_, stream_.release_socket(), parser_.release())->begin();
    }

    void show(const resource& what) {
        if (what.make != nullptr) {
            std::string made;
            try {
                made = what.make();
            } catch (const std::exception& error) {
                return refuse(http::status::internal_server_error, error.what());
            }
            return say(http::status::ok, what.type, std::move(made));
        }
        if (what.file.empty()) return say(http::status::ok, what.type, std::string(what.bytes));
        http::response<http::file_body> response;
        error_code wrong;
        response.body().open(what.file.c_str(), beast::file_mode::scan, wrong);
        if (wrong) return refuse(http::status::not_found, "The file cannot be read.");
        send(std::move(response), what.type);
    }

    void refuse(http::status why, std::string_view sentence) {
        say(why, "text/plain; charset=utf-8", std::string(sentence) + "\n");
    }

    void say(http::status how, std::string_view type, std::string text) {
        http::response<http::string_body> response;
        response.result(how);
        response.body() = std::move(text);
        send(std::move(response), type);
    }

    template <class Body>
    void send(http::response<Body> response, std::string_view type) {
        answering_ = true;
        response.version(11);
        response.keep_alive(false);
        const std::pair<const char*, std::string_view> lines[] = {
            {"Content-Type", type},
            {"Content-Security-Policy", of_.policy},
            {"X-Content-Type-Options", "nosniff"},
            {"Referrer-Policy", "no-referrer"},
            {"Cross-Origin-Resource-Policy", "same-origin"},
            {"Cache-Control", "no-store"}};
        for (const auto& [name, value] : lines) {
            response.set(name, beast::string_view(value.data(), value.size()));
        }
        if (response.result() == http::status::method_not_allowed) {
            response.set(http::field::allow, "GET");
        }
        response.prepare_payload();
        send_rest(std::make_shared<sending<Body>>(std::move(response)));
    }

    template <class Body>
    struct sending {
        explicit sending(http::response<Body> what) : response(std::move(what)) {}
        http::response<Body> response;
        http::response_serializer<Body> serializer{response};
    };

    /// A large file may take as long as it likes while something moves.
    template <class Body>
    void send_rest(const std::shared_ptr<sending<Body>>& what) {
        stream_.expires_after(step_within);
        auto& serializer = what->serializer;
        http::async_write_some(stream_, serializer,
                               [me = self(this), what](error_code wrong, std::size_t) {
                                   if (wrong) return;
                                   if (!what->serializer.is_done()) return me->send_rest(what);
                                   me->hang_up();
                               });
    }

    /// Reads to the end of what comes: a connection that is closed with something unread in it
    /// loses what was sent.
    void hang_up() {
        error_code ignored;
        stream_.socket().shutdown(tcp::socket::shutdown_send, ignored);
        stream_.expires_after(close_within);
        drain();
    }
    void drain() {
        stream_.async_read_some(asio::buffer(rest_),
                                [me = self(this)](error_code wrong, std::size_t bytes) {
                                    me->drained_ += bytes;
                                    if (!wrong && me->drained_ < (1 << 20)) me->drain();
                                });
    }

    beast::tcp_stream stream_;
    beast::flat_buffer buffer_{most_head_bytes + most_message_bytes};
    http::request_parser<http::empty_body> parser_;
    std::array<char, 4096> rest_{};
    std::size_t drained_ = 0;
    bool answering_ = false;
};

}  // namespace

// ---- the server

status server::state::open() {
    const tcp::endpoint where(asio::ip::address_v4::loopback(), options.port);
    error_code wrong;
    acceptor.open(where.protocol(), wrong);
    if (!wrong) acceptor.set_option(asio::socket_base::reuse_address(true), wrong);
    if (!wrong) acceptor.bind(where, wrong);
    if (!wrong) acceptor.listen(asio::socket_base::max_listen_connections, wrong);
    if (!wrong) port = acceptor.local_endpoint(wrong).port();
    if (!wrong) return {};
    error_code ignored;
    acceptor.close(ignored);
    port = 0;
    return {wrong.value(),
            "cannot listen on port " + std::to_string(options.port) + ": " + wrong.message()};
}

void server::state::accept() {
    acceptor.async_accept([this](error_code wrong, tcp::socket socket) {
        if (ends) return;
        if (!wrong) {
            error_code ignored;
            socket.set_option(tcp::no_delay(true), ignored);
            // What is too much is closed as `socket` ends.
            if (all.size() < most_connections) {
                std::make_shared<request_session>(*this, std::move(socket))->begin();
            }
            return accept();
        }
        // No descriptor is free, or the like: a little later there may be one.
        later.expires_after(time_every);
        later.async_wait([this](error_code cancelled) {
            if (!cancelled && !ends) accept();
        });
    });
}

void server::state::end_all(bool now) {
    const std::vector<connection*> there = all;
    for (connection* one : there) one->end(now);
}

std::size_t server::state::live_clients() const {
    return static_cast<std::size_t>(
        std::count_if(all.begin(), all.end(), [](connection* one) { return one->is_live(); }));
}

server::server(std::vector<resource> table, hub* live, std::string token,
               const server_options& options)
    : state_(std::make_unique<state>(std::move(table), live, std::move(token), options)) {}
server::~server() { stop(); }

status server::start() {
    state& s = *state_;
    if (s.port != 0) return {EBUSY, "this server runs already"};
    if (status went = s.open(); !went) return went;
    s.policy = page_policy(s.port);
    s.accept();
    s.thread = std::thread([&s] {
        for (bool done = false; !done;) {
            try {
                s.io.run();
                done = true;
            } catch (const std::exception&) {
                // Memory was short for one connection, which is gone; the others go on.
            }
        }
    });
    return {};
}

void server::stop() {
    state& s = *state_;
    if (!s.thread.joinable()) return;
    asio::post(s.io, [&s] {
        s.ends = true;
        error_code ignored;
        s.acceptor.close(ignored);
        s.later.cancel();
        if (s.all.empty()) return;
        s.later.expires_after(s.options.linger);
        s.later.async_wait([&s](error_code cancelled) {
            if (!cancelled) s.end_all(true);
        });
        s.end_all(false);
    });
    s.thread.join();
}

std::uint16_t server::port() const { return state_->port; }

void server::wake() {
    asio::post(state_->io, [&s = *state_] {
        const std::vector<connection*> there = s.all;
        for (connection* one : there) one->wake();
    });
}

}  // namespace profile
BRAID_NAMESPACE_END
