#include <catch2/catch.hpp>

#include "import/cann/dictionaries.hpp"
#include "import/cann_kind_run.hpp"
#include "support/files.hpp"
#include "support/prof/prof_folder.hpp"

using namespace msprof;
using namespace msprof::cann;
using namespace msprof::test;
using prof::ProfFolder;

namespace {

constexpr std::string_view kHash = "unaging.additional.hash_dic";
constexpr std::string_view kType = "unaging.additional.type_info_dic";

std::vector<KindRun::Maker> dictionaries() {
  return {make_type_info_kind, make_hash_dic_kind};
}

Texts read_lines(const std::filesystem::path& path, char separator = '\n') {
  Texts result;
  LineReader reader(path, separator);
  while (const auto line = reader.next()) {
    result.push_back(std::to_string(line->offset) + ":" +
                     (line->is_too_long ? "too long" : std::string(line->text)));
  }
  return result;
}

// A folder with dictionaries of these texts.
struct Filled {
  explicit Filled(std::string_view types, std::string_view hashes) : folder(temp.path()) {
    folder.finish();
    write_file(host_slice(folder.folder(), kType), types);
    write_file(host_slice(folder.folder(), kHash), hashes);
  }
  TempFolder temp;
  ProfFolder folder;
};

}  // namespace

TEST_CASE("lines are read whole, including a last one without a newline") {
  const TempFolder folder;
  write_file(folder / "a", "one\n\ntwo\r\nthree");
  CHECK(read_lines(folder / "a") == Texts{"0:one", "4:", "5:two\r", "10:three"});
  write_file(folder / "b", "one\n");
  CHECK(read_lines(folder / "b") == Texts{"0:one"});
  write_file(folder / "c", "");
  CHECK(read_lines(folder / "c").empty());
  write_file(folder / "d", std::string("a\0b\n\0", 5));
  CHECK(read_lines(folder / "d", '\0') == Texts{"0:a", "2:b\n"});
}

TEST_CASE("a line of one megabyte is read, one of more than sixteen is skipped") {
  const TempFolder folder;
  const std::string mega(1 << 20, 'm');
  write_file(folder / "a", "x\n" + mega + "\ny\n");
  CHECK(read_lines(folder / "a") ==
        Texts{"0:x", "2:" + mega, std::to_string(3 + mega.size()) + ":y"});
  const std::string huge((16 << 20) + 700'000, 'h');
  const std::string behind = std::to_string(3 + huge.size()) + ":y";
  write_file(folder / "b", "x\n" + huge + "\ny\n");
  CHECK(read_lines(folder / "b") == Texts{"0:x", "2:too long", behind});
  write_file(folder / "c", huge);
  CHECK(read_lines(folder / "c") == Texts{"0:too long"});
  const std::string most(16 << 20, 'f');
  write_file(folder / "d", most + "\nz");
  CHECK(read_lines(folder / "d").size() == 2);
  CHECK(read_lines(folder / "d")[1] == std::to_string(most.size() + 1) + ":z");
}

TEST_CASE("names of types and hashes are read from the dictionaries") {
  const Filled filled("20000_5:aclrtMalloc\n5000_1:a:b\n5000_1:later", "7:text:with colon\n0:zero");
  KindRun run(filled.folder.folder(), dictionaries());
  const Dictionaries& names = run.import().dictionaries;
  CHECK(names.type_name(20000, 5) == "aclrtMalloc");
  CHECK(names.type_name(5000, 1) == "later");
  CHECK(names.type_name(5000, 2) == "2");
  CHECK(names.type_name(5000, 27) == "DYNAMIC_ENABLE");
  CHECK(names.type_name(5000, 28) == "DYNAMIC_DISABLE");
  CHECK(names.type_name(15000, 27) == "27");
  CHECK_FALSE(names.find_type_name(5000, 2));
  CHECK(names.hash_text(7) == "text:with colon");
  CHECK(names.hash_text(0) == "zero");
  CHECK(names.hash_text(18446744073709551615u) == "18446744073709551615");
  CHECK_FALSE(names.find_hash_text(8));
  CHECK(run.findings().empty());
  CHECK(run.records() == 5);
}

TEST_CASE("a hash keeps its id, and each unknown hash is counted once") {
  const TempFolder folder;
  TraceDbWriter store(folder / "msprof.db");
  Dictionaries names;
  names.add_hash(1, "one");
  const auto one = names.hash_name_id(store, 1);
  CHECK(names.hash_name_id(store, 1) == one);
  CHECK(store.name_id("one") == one);
  CHECK(names.unknown_hashes() == 0);
  CHECK(names.hash_name_id(store, 2) == store.name_id("2"));
  names.hash_name_id(store, 2);
  names.hash_name_id(store, 3);
  CHECK(names.unknown_hashes() == 2);
}

TEST_CASE("damaged lines are counted and the others are read") {
  const Filled filled("5000:no type\n_1:x\n5000_1_2:x\n99999999999_1:x\n5000_3:good\n\nnothing",
                      "x:y\n-1:y\n18446744073709551616:too large\n5 :y\n6:good\n");
  KindRun run(filled.folder.folder(), dictionaries());
  CHECK(run.import().dictionaries.type_name(5000, 3) == "good");
  CHECK(run.import().dictionaries.hash_text(6) == "good");
  CHECK(run.findings() ==
        Texts{"PARTIAL type_info_dic: damaged line x5", "PARTIAL hash_dic: damaged line x4"});
  CHECK(run.finding(0).first_offset == 0);
  CHECK(run.records() == 2);
}

TEST_CASE("a name of one megabyte is read, one too long for memory is counted") {
  const std::string mega(1 << 20, 'm');
  const Filled filled("", "1:" + mega + "\n2:" + std::string(17 << 20, 'h') + "\n3:three\n");
  KindRun run(filled.folder.folder(), dictionaries());
  CHECK(run.import().dictionaries.hash_text(1) == mega);
  CHECK(run.import().dictionaries.hash_text(2) == "2");
  CHECK(run.import().dictionaries.hash_text(3) == "three");
  CHECK(run.findings() == Texts{"PARTIAL hash_dic: line longer than 16 MB x1"});
}

TEST_CASE("a missing dictionary is reported only if names are needed") {
  const TempFolder temp;
  ProfFolder folder(temp.path());
  folder.host(prof::GraphIdMap{.model_name = folder.hash("net"), .model = 3});
  folder.host(prof::TaskTrack{.time = 5});
  folder.finish();
  std::filesystem::remove(host_slice(folder.folder(), kHash));
  std::filesystem::remove(host_slice(folder.folder(), kType));
  // Missing dictionaries are reported at the end, if a name was looked up.
  KindRun run(folder.folder(), {make_type_info_kind, make_graph_id_map_kind, make_hash_dic_kind});
  CHECK(run.findings() == Texts{"PARTIAL type_info_dic: missing dictionary x1",
                                "PARTIAL hash_dic: missing dictionary x1"});
  CHECK(run.finding(1).detail.find("1 name is") != std::string::npos);

  const TempFolder other;
  ProfFolder device_only(other.path());
  device_only.device(0, prof::StepTrace{.time = 5});
  device_only.finish();
  std::filesystem::remove(host_slice(device_only.folder(), kHash));
  std::filesystem::remove(host_slice(device_only.folder(), kType));
  CHECK(KindRun(device_only.folder(), dictionaries()).findings().empty());
}
