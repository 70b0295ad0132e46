// Doubles as the peer's products show them: rounded and written by SQLite, by Python and by printf,
// whose cells users compare. For the summaries of CANN captures.
// Source: cann_corrections.md A1, A7, B12.
#pragma once

#include <string>

namespace msprof {

// ROUND(value, 3) of SQLite: half away from zero of a value taken at about 15 significant digits,
// so that 4.0424999999999995 is 4.043.
double sqlite_round3(double value);
// The same as SQLite's text of it: at least one decimal, at most three: "0.0", "2.0", "0.32".
void append_sqlite_round3(std::string& out, double value);

// printf("%.3f"): "0.000", "100.000".
void append_fixed3(std::string& out, double value);
// The same without zeros, and a point, at its end: "12.5", "4", "100".
void append_fixed3_trimmed(std::string& out, double value);

// round(value, digits) of Python, 0 to 6 digits: half to even of the exact value.
double python_round(double value, int digits);
// repr() of Python: the shortest text that reads back as the same: "12.5", "3.0", "1e-05".
void append_python_float(std::string& out, double value);

}  // namespace msprof
