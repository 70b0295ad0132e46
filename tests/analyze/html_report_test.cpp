// The HTML report of a comparison: its charts, its tables, and forbidden content.
#include "analyze/compare/html_report.hpp"

#include <catch2/catch.hpp>
#include <cmath>
#include <limits>
#include <regex>

#include "analyze/comparisons.hpp"
#include "base/text.hpp"
#include "support/lines.hpp"

using namespace msprof;
using namespace msprof::test;

namespace {

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t found = 0;
  for (auto at = text.find(part); at != std::string::npos; at = text.find(part, at + part.size()))
    ++found;
  return found;
}

// Returns the text between `begin` and the next `end`.
std::string between(const std::string& text, const std::string& begin, const std::string& end) {
  const auto from = text.find(begin);
  if (from == std::string::npos) return "";
  const auto start = from + begin.size();
  return text.substr(start, text.find(end, start) - start);
}

struct Bar {
  std::string kind;
  double x = 0;
  double width = 0;
};
std::vector<Bar> parse_bars(const std::string& page, const std::string& figure) {
  const std::string part = between(page, "<figure id=\"" + figure + "\"", "</figure>");
  static const std::regex form(
      "<rect class=\"([a-z]+)\" x=\"([^\"]+)\" y=\"[^\"]+\" "
      "width=\"([^\"]+)\"");
  std::vector<Bar> bars;
  for (std::sregex_iterator at(part.begin(), part.end(), form), end; at != end; ++at)
    bars.push_back({(*at)[1], std::stod((*at)[2]), std::stod((*at)[3])});
  return bars;
}

// Returns the rows of a table without tags; cells are separated by '|'.
std::vector<std::string> parse_rows(const std::string& page, const std::string& table) {
  const std::string body =
      between(page.substr(page.find("<table id=\"" + table + "\"")), "<tbody>", "</tbody>");
  static const std::regex cell_end("</t[hd]>"), tag("<[^>]*>");
  std::vector<std::string> rows;
  for (const auto line : split(body, '\n')) {
    if (line.empty()) continue;
    rows.push_back(
        std::regex_replace(std::regex_replace(std::string(line), cell_end, "|"), tag, ""));
  }
  return rows;
}

}  // namespace

TEST_CASE("the report shows what changed, by how much and where") {
  const std::string page = html_report(made_comparison());
  CHECK(between(page, "<title>", "</title>") == "mish → leaky_relu - msprof compare");
  CHECK(between(page, "<p id=\"verdict\" class=\"faster\"><strong>", "<") ==
        "NEW is 39.1 % faster");
  CHECK(between(page, "<dd id=\"base-total\">", "<") == "23.299 ms");
  CHECK(between(page, "<dd id=\"new-total\">", "<") == "14.190 ms");
  CHECK(between(page, "<dd id=\"change\">", "<") == "-9.109 ms (-39.1 %)");
  CHECK(between(page, "<p id=\"matches\">", "<") ==
        "2 matched by name, 0 by shape, 1 by fusion; 1 only BASE, 1 only NEW.");
  CHECK(contains(page, "three times the MAD"));
  CHECK(parse_rows(page, "ops") ==
        std::vector<std::string>{
            "act1_softplus+act1_tanh+act1_mul → act1|9000.000|1000.000|-8000.000|-88.9|50.000|87.8|"
            "60|Softplus+Tanh+Mul → LeakyRelu|AA_CORE|fusion|",
            "gone|2000.000|-|-2000.000|-|1.000|22.0|60 → 0|Conv2D|AA_CORE|only BASE|",
            "fresh|-|900.000|+900.000|-|1.000|-9.9|0 → 60|Conv2D|AA_CORE|only NEW|",
            "conv1|6000.000|6010.000|+10.000|+0.2|300.000|0.0|60|Conv2D|AA_CORE|name|",
            "conv2|6299.000|6280.000|-19.000|-0.3|300.000|0.0|60|Conv2D|AA_CORE|name|"});
  CHECK(parse_rows(page, "types")[1] == "LeakyRelu|-|1000.000|+1000.000|-|100.000|-11.0|0 → 1|");
  CHECK(parse_rows(page, "ratios")[0] ==
        "act1_softplus+act1_tanh+act1_mul → act1|mac_ppen_ratio|41.300|60.250|+18.950|");
  CHECK(parse_rows(page, "calls")[0] ==
        "svp_acl_mdl_execute|23400.000|14300.000|-9100.000|-38.9|1200.000|60|");
  CHECK(parse_rows(page, "counters") ==
        std::vector<std::string>{
            "HBM 0 Read|device|hbm|MB/s|1000.000|1700.000|+700.000|+70.0|150.000|64|",
            "CPU 0 Usage|host|host_cpu|%|50.000|51.000|+1.000|+2.0|5.000|10 → 12|"});
}

TEST_CASE(
    "the bars lead from one total to the other, each starting at the end of the previous one") {
  const Comparison comparison = made_comparison();
  auto bars = parse_bars(html_report(comparison), "by-op");
  REQUIRE(bars.size() == 4);
  CHECK(bars[0].kind == "faster");
  CHECK(bars[1].kind == "faster");
  CHECK(bars[2].kind == "slower");
  CHECK(bars[3].kind == "noise");  // two operators within noise
  CHECK(bars[0].width / bars[1].width == Approx(4).epsilon(0.01));
  CHECK(bars[1].x + bars[1].width == Approx(bars[0].x).margin(0.11));
  CHECK(bars[2].x == Approx(bars[1].x).margin(0.11));
  CHECK(bars[2].width / bars[1].width == Approx(0.45).epsilon(0.01));

  auto totals = parse_bars(html_report(comparison), "totals");
  REQUIRE(totals.size() == 4);  // each bar has a noise band underneath
  CHECK(totals[1].kind == "base");
  CHECK(totals[3].kind == "faster");
  CHECK(totals[3].width / totals[1].width == Approx(14190.0 / 23299).epsilon(0.001));
  CHECK(totals[0].width / totals[1].width == Approx(2 * 1165.0 / 23299).epsilon(0.01));

  // Baseline and candidate swapped.
  Comparison back = comparison;
  std::swap(back.total.base, back.total.now);
  back.verdict = Verdict::slower;
  for (OpChange& op : back.ops) std::swap(op.time.base, op.time.now);
  const std::string page = html_report(back);
  CHECK(contains(page, "NEW is 64.2 % slower"));
  CHECK(contains(page, "+9.109 ms (+64.2 %)"));
  bars = parse_bars(page, "by-op");
  CHECK(bars[0].kind == "slower");
  CHECK(bars[1].x == Approx(bars[0].x + bars[0].width).margin(0.11));
  CHECK(parse_bars(page, "totals")[3].kind == "slower");
}

TEST_CASE("differences within noise are grey and have no share") {
  Comparison same = made_comparison();
  same.total = {7209, 7300, 360};
  same.verdict = Verdict::noise;
  same.ops.clear();
  for (int i = 0; i < 10; ++i)
    same.ops.push_back(op_change(fmt::format("op{}", i), 700, 710 - i, 50));
  same.ops[3].share = 500;
  same.types.clear();
  const std::string page = html_report(same);
  CHECK(contains(page, "No change beyond noise"));
  for (const Bar& bar : parse_bars(page, "by-op")) CHECK(bar.kind == "noise");
  CHECK(contains(page, "<i>4 operators within noise</i>"));
  // the totals differ by 91 us, these operators by 55 us
  CHECK(contains(page, "<i>outside these operators</i>"));
  for (const std::string& row : parse_rows(page, "ops")) CHECK(contains(row, "|50.000|-|60|"));
  CHECK_FALSE(contains(page, "500.0"));
  CHECK_FALSE(contains(page, "<figure id=\"by-type\""));

  // Without any difference no chart is drawn.
  for (OpChange& op : same.ops) op.time.now = op.time.base;
  CHECK_FALSE(contains(html_report(same), "<figure id=\"by-op\""));
}

TEST_CASE("text from captures is escaped, and a name of 10 MB is shortened") {
  const std::string evil = "</script></style>'\"><img src=x onerror=alert(1)>&amp;\x01\xff\xe2\x80";
  Comparison hostile = made_comparison();
  for (ComparedSide* side : {&hostile.base, &hostile.now}) {
    side->captures.assign(1000, evil);
    side->models = {evil, std::string(10'000'000, 'x')};
    side->chip = evil;
  }
  hostile.unit = hostile.noise_basis = evil;
  hostile.warnings.assign(1000, ComparisonWarning{evil});
  for (OpChange& op : hostile.ops) {
    op.base_names.assign(500, evil);
    op.new_names = {evil + std::string(10'000'000, '<')};
    op.base_type = op.new_type = op.unit = evil;
    op.ratios = {{evil, 1, 2}};
  }
  for (TypeChange& type : hostile.types) type.type = evil;
  hostile.calls[0].name = evil;
  const std::string page = html_report(hostile);
  CHECK(page.size() < 200'000);
  CHECK(is_valid_utf8(page));
  CHECK_FALSE(contains(page, "\x01"));
  CHECK_FALSE(contains(page, "<img"));
  CHECK(contains(page, "&lt;img src=x onerror=alert(1)&gt;&amp;amp;"));
  CHECK(contains(page, "&#39;&quot;&gt;&lt;img"));
  CHECK(count(page, "<script>") == 1);
  CHECK(count(page, "</script>") == 1);
  CHECK(count(page, "</style>") == 1);
  CHECK(contains(page, "<li>950 more</li>"));
}

TEST_CASE("the report is self-contained and the same every time") {
  const Comparison comparison = made_comparison();
  const std::string page = html_report(comparison);
  CHECK(page == html_report(comparison));
  for (const char* part :
       {"http:", "https:", "src=", "href=", "url(", "@import", "style=", "<link"})
    CHECK_FALSE(contains(page, part));
  static const std::regex policy(
      "content=\"default-src 'none'; style-src 'sha256-[A-Za-z0-9+/]{43}='; "
      "script-src 'sha256-[A-Za-z0-9+/]{43}='; base-uri 'none'; "
      "form-action 'none'\"");
  CHECK(std::regex_search(page, policy));
  // The policy must precede the elements to which it applies.
  CHECK(page.find("Content-Security-Policy") < page.find("<style>"));
  // Every table has headers with a scope; every section has a separate heading.
  CHECK(count(page, "<table") == 6);
  CHECK(count(page, "<thead>") == 6);
  CHECK(count(page, "<section") == count(page, "<h2 id=\"h-"));
  CHECK(count(page, "<section") == count(page, "aria-labelledby=\"h-"));
}

TEST_CASE("an empty comparison and NaN values give a complete page") {
  const std::string empty = html_report(Comparison());
  CHECK(contains(empty, "Neither BASE nor NEW has operators."));
  CHECK(contains(empty, "</html>"));
  CHECK_FALSE(contains(empty, "nan"));

  const double none = std::numeric_limits<double>::quiet_NaN();
  const double endless = std::numeric_limits<double>::infinity();
  for (const double odd : {none, endless, -endless, 1e300, -1e300, 1e-300, -5.0}) {
    Comparison made = made_comparison();
    made.total = {odd, 5, odd};
    made.base.frequency_mhz = odd;
    made.ops[0].time = {odd, 7, odd};
    made.ops[1].time.now = odd;
    made.ops[1].share = odd;
    made.ops[0].ratios[0].now = odd;
    made.types[0].time = {1, odd, none};
    const std::string page = html_report(made);
    INFO(odd);
    CHECK(contains(page, "</html>"));
    static const std::regex no_number("[\">| +-](nan|inf)[\"<| ]");
    CHECK_FALSE(std::regex_search(page, no_number));
    for (const char* figure : {"totals", "by-op", "by-type"}) {
      for (const Bar& bar : parse_bars(page, figure)) {
        CHECK(bar.x >= 0);
        CHECK(bar.width > 0);
        CHECK(bar.x + bar.width <= 1000.1);
      }
    }
  }
}

TEST_CASE("with thousands of operators, the largest changes are shown and the rest is counted") {
  Comparison many = made_comparison();
  many.total = {1e6, 8e5, 5e4};
  many.ops.clear();
  for (int i = 0; i < 5000; ++i)
    many.ops.push_back(
        op_change(fmt::format("block{}", i), 200, 100 + i / 100.0, i < 4000 ? 1 : 99));
  const std::string page = html_report(many);
  CHECK(parse_rows(page, "ops").size() == 1000);
  CHECK(contains(page, "The 1000 largest changes of 5000;"));
  CHECK(contains(page, "<i>3985 smaller changes</i>"));
  CHECK(contains(page, "<i>1000 operators within noise</i>"));
  CHECK(parse_bars(page, "by-op").size() == 18);
  CHECK(page.size() < 1'000'000);
}
