// The algorithms that are offered, best first. Inside lib/ssh.
//
// The library's defaults, and behind them what boards with an SDK of 2012-2019 have and nothing
// better: SHA-1 within a handshake or a MAC is not what its known collisions break, and refusing it
// would leave such a board to telnet. Names that the library does not know (yet) are passed over.
// Ciphers are the library's: ChaCha20 first, as OpenSSH has it, for boards without AES
// instructions; where both sides have them the difference is not the bottleneck.
#pragma once

#include <array>
#include <string_view>

namespace msprof {

inline constexpr const char* kKeyExchanges =
    "mlkem768x25519-sha256,sntrup761x25519-sha512,sntrup761x25519-sha512@openssh.com,"
    "curve25519-sha256,curve25519-sha256@libssh.org,ecdh-sha2-nistp256,ecdh-sha2-nistp384,"
    "ecdh-sha2-nistp521,diffie-hellman-group18-sha512,diffie-hellman-group16-sha512,"
    "diffie-hellman-group-exchange-sha256,diffie-hellman-group14-sha256,"
    "diffie-hellman-group14-sha1";

inline constexpr const char* kMacs =
    "hmac-sha2-256-etm@openssh.com,hmac-sha2-512-etm@openssh.com,hmac-sha2-256,hmac-sha2-512,"
    "hmac-sha1";

// Of host keys and of keys to log in with.
inline constexpr std::array<std::string_view, 7> kKeyTypes = {"ssh-ed25519",
                                                              "ecdsa-sha2-nistp521",
                                                              "ecdsa-sha2-nistp384",
                                                              "ecdsa-sha2-nistp256",
                                                              "rsa-sha2-512",
                                                              "rsa-sha2-256",
                                                              "ssh-rsa"};

}  // namespace msprof
