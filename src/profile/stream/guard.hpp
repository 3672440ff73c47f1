#pragma once
// Who may come in, and what may be said: the rules of the server as plain functions.

#include "braid/base/version.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

BRAID_NAMESPACE_BEGIN
namespace profile {

/// 128 random bits, in hexadecimal.
std::string make_token();

/// Takes as long for any text of the right length. Lengths are no secret.
bool same_token(std::string_view right, std::string_view shown);

/// "127.0.0.1:PORT" or "localhost:PORT". A page elsewhere that made a name of its own point to this
/// machine says that name.
bool is_own_host(std::string_view host, std::uint16_t port);
/// The same after "http://".
bool is_own_origin(std::string_view origin, std::uint16_t port);

/// The number in {"ping": number}; nothing in any other text.
std::optional<double> ping_of(std::string_view text);
std::string pong_text(double ping, std::uint64_t now);

/// http://127.0.0.1:PORT/#live=TOKEN, or with localhost.
std::string live_url(std::uint16_t port, std::string_view token);
bool is_live_url(std::string_view url);
/// http://127.0.0.1:PORT/#view=TOKEN
std::string view_url(std::uint16_t port, std::string_view token);

/// The token in the value of a request's `Authorization`; empty where there is none.
std::string_view shown_token(std::string_view authorization);

/// What a page of this server may load: itself, and from this server.
std::string page_policy(std::uint16_t port);

}  // namespace profile
BRAID_NAMESPACE_END
