// Doubles in the formats of the vendor's products (SQLite, Python, printf), as users compare these
// cells. For the summaries of CANN captures.
// Source: cann_device.md 6.5, 12.3, 15.1.
#pragma once

#include <optional>
#include <string>

namespace msprof {

// SQLite's ROUND(value, 3): rounds half away from zero after reducing the value to about 15
// significant digits, so that 4.0424999999999995 becomes 4.043.
double sqlite_round3(double value);
// Appends SQLite's text of the rounded value, with one to three decimals: "0.0", "2.0", "0.32".
void append_sqlite_round3(std::string& out, double value);
// Returns the double that this text parses to; empty if the caller must parse the text.
std::optional<double> sqlite_round3_as_read(double value);

// printf("%.3f"): "0.000", "100.000".
void append_fixed3(std::string& out, double value);
// Returns the double that this text parses to; empty if the caller must parse the text.
std::optional<double> fixed3_as_read(double value);
// printf("%.3f") without trailing zeros or a trailing point: "12.5", "4", "100".
void append_fixed3_trimmed(std::string& out, double value);

// Python's round(value, digits) for 0 to 6 digits: the exact value, ties to even.
double python_round(double value, int digits);
// Python's repr(): the shortest text that reads back as the same value: "12.5", "3.0", "1e-05".
void append_python_float(std::string& out, double value);

}  // namespace msprof
