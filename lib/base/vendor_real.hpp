// Doubles in the formats of the vendor's products (SQLite, Python, printf), as users compare these
// cells. For the summaries of CANN captures.
// Source: cann_device.md 6.5, 12.3, 15.1.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

namespace msprof {

// Bytes that the put functions below may need. They return the end of the text.
inline constexpr std::size_t kMaxRealBytes = 320;

// SQLite's ROUND(value, 3): rounds half away from zero after reducing the value to about 15
// significant digits, so that 4.0424999999999995 becomes 4.043.
double sqlite_round3(double value);
// Writes SQLite's text of the rounded value, with one to three decimals: "0.0", "2.0", "0.32".
char* put_sqlite_round3(char* out, double value);
void append_sqlite_round3(std::string& out, double value);
// Returns the double that this text parses to; empty if the caller must parse the text.
std::optional<double> sqlite_round3_as_read(double value);

// printf("%.3f"): "0.000", "100.000".
char* put_fixed3(char* out, double value);
void append_fixed3(std::string& out, double value);
// Returns the double that this text parses to; empty if the caller must parse the text.
std::optional<double> fixed3_as_read(double value);
// printf("%.3f") without trailing zeros or a trailing point: "12.5", "4", "100".
char* put_fixed3_trimmed(char* out, double value);
void append_fixed3_trimmed(std::string& out, double value);

// Python's round(value, digits) for 0 to 6 digits: the exact value, ties to even.
double python_round(double value, int digits);
// Python's repr(): the shortest text that reads back as the same value: "12.5", "3.0", "1e-05".
char* put_python_float(char* out, double value);
void append_python_float(std::string& out, double value);

}  // namespace msprof
