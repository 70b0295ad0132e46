#include "golden/cann_fixture.hpp"

#include <catch2/catch.hpp>

namespace msprof::test {

RunResult ProfCapture::run(std::vector<std::string> words) const {
  words.insert(words.end(), {"-dir", prof.folder().string()});
  return run_msprof(words);
}

nlohmann::json ProfCapture::import(int exit_code) const {
  const RunResult result = run({"import", "--json"});
  INFO(result.err);
  REQUIRE(result.exit_code == exit_code);
  const auto document = nlohmann::json::parse(result.out);
  REQUIRE(document.at("exit_code") == exit_code);
  REQUIRE(document.at("captures").size() == 1);
  return document.at("captures").at(0);
}

void ProfCapture::products(const std::vector<int>& exit_codes) {
  prof.finish();
  for (const Lines& words : {Lines{"import", "-q"}, Lines{"export", "summary", "-q"}}) {
    const RunResult result = run(words);
    INFO(result.err << result.out);
    REQUIRE_THAT(exit_codes, Catch::VectorContains(result.exit_code));
  }
}

std::string moment(std::uint64_t ns) {
  std::string digits = std::to_string(1'700'000'000'000'000'000 + ns);
  return digits.insert(digits.size() - 3, ".");
}

}  // namespace msprof::test
