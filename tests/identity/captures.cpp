// identity_captures OUT CORPUS: writes captures made by the builders of the tests as folders,
// OUT/<group>/<name>/<capture>: whole ones (scene), damaged ones (damage_svp, damage_cann, soak)
// and the inputs of the fuzz targets (fuzz). The output is reproducible. Used by
// tests/identity/inputs.
#include <cstdio>
#include <filesystem>
#include <string>
#include <vector>

#include "fuzz/cann_seeds.hpp"
#include "fuzz/fuzz_cann.hpp"
#include "fuzz/hex_corpus.hpp"
#include "fuzz/seeds.hpp"
#include "golden/cann_damage.hpp"
#include "soak/damage.hpp"
#include "support/face_session.hpp"
#include "support/prof/prof_run.hpp"

namespace {

using namespace msprof;
using namespace msprof::test;
namespace fs = std::filesystem;

const std::string kProf{"PROF_000001_20231114221320000_ABCDEFGHIJKLMNOP"};
const std::string kJob{"JOBNQMIARCTRDJATNRTRSOITDNRDSNYG"};

class CaptureWriter {
 public:
  explicit CaptureWriter(fs::path out) : out_(std::move(out)) {}

  void write(const std::string& name, const std::string& capture, const Files& files) {
    const fs::path folder = out_ / name / capture;
    fs::create_directories(folder);
    for (const auto& [file, bytes] : files) write_file(folder / file, bytes);
    ++count_;
  }
  fs::path folder(const std::string& name) const { return out_ / name; }
  int count() const { return count_; }

 private:
  fs::path out_;
  int count_ = 0;
};

std::string numbered(std::size_t number) {
  const std::string digits = std::to_string(number);
  return std::string(4 - std::min<std::size_t>(4, digits.size()), '0') + digits;
}

Files run_files(const prof::ProfSetup& setup, const prof::RunShape& shape) {
  const TempFolder temp;
  return files_below(prof::make_run(temp.path(), setup, shape).folder);
}

Files face_files() {
  const TempFolder temp;
  JobBuilder job(temp.path());
  add_face(job);
  return files_below(job.folder());
}

Files small_files(fuzz::CannChip chip) {
  Files files;
  for (const auto& [name, bytes] : fuzz::cann_files(chip)) files[name] = bytes;
  return files;
}

// ---- whole captures ----

void write_scenes(CaptureWriter& writer) {
  prof::RunShape shape;
  shape.tasks = 120;
  shape.flip_at = 48;
  shape.slice_limit = 16u << 10;
  prof::ProfSetup two;
  two.devices = {0, 3};
  prof::ProfSetup l2;
  l2.l2_events = "0xfb,0xfc,0x90,0x91,0x9c";
  writer.write("scene/run_910b", kProf, run_files({}, shape));
  writer.write("scene/run_910b_two", kProf, run_files(two, shape));
  writer.write("scene/run_910b_l2", kProf, run_files(l2, shape));
  writer.write("scene/run_910a", kProf, run_files(prof::setup_910a(), shape));
  writer.write("scene/run_310p", kProf, run_files(prof::setup_310p(), shape));
  shape.seed = 2;
  writer.write("scene/run_910b_again", kProf, run_files({}, shape));
  writer.write("scene/small_stars", kProf, small_files(fuzz::CannChip::stars));
  writer.write("scene/small_hwts", kProf, small_files(fuzz::CannChip::hwts));
  writer.write("scene/small_mini", kProf, small_files(fuzz::CannChip::mini));
  writer.write("scene/face", kJob, face_files());
  for (const auto& [name, generation] :
       {std::pair{"hi3519", Generation::hi3519}, std::pair{"hi3516", Generation::hi3516}}) {
    const TempFolder temp;
    JobBuilder job(temp.path());
    add_face(job);
    job.remove("info.json.0").info_json("800", generation);
    writer.write(std::string("scene/face_") + name, kJob, files_below(job.folder()));
  }
}

// ---- damaged PROF folders ----

struct CannTemplate {
  CannTemplate(std::string chip_name, bool stars, const prof::ProfSetup& setup)
      : name(std::move(chip_name)), is_stars(stars) {
    prof::RunShape shape;
    shape.tasks = 240;
    shape.names = 12;
    shape.seed = 4;
    shape.fused = 1;
    files = run_files(setup, shape);
  }

  // Writes one capture: `files` modified by `change`.
  template <typename Change>
  void write(CaptureWriter& writer, const std::string& what, Change&& change) const {
    Files changed = files;
    change(changed);
    writer.write("damage_cann/" + name + "-" + what, kProf, changed);
  }
  void write_with(CaptureWriter& writer, const std::string& what, const std::string& file,
                  const std::string& bytes) const {
    write(writer, what, [&](Files& changed) { changed[file] = bytes; });
  }

  std::string name;
  bool is_stars;
  Files files;
};

std::string short_name(const std::string& file) {
  std::string name = fs::path(file).filename().string();
  if (name.ends_with(".slice_0")) name.resize(name.size() - 8);
  return name;
}

// Fills each field of the first record with one of three bytes, in rotation.
void write_fields(CaptureWriter& writer, const CannTemplate& chip) {
  constexpr char kFills[] = {'\0', '\xff', '\x7f'};
  constexpr const char* kFillNames[] = {"00", "ff", "7f"};
  std::size_t turn = 0;
  for (const RecordFile& file : record_files(chip.is_stars)) {
    const std::string& bytes = chip.files.at(file.file);
    for (const std::size_t field : file.fields) {
      const std::size_t width = std::min<std::size_t>(8, file.size - field);
      const std::size_t fill = turn++ % 3;
      chip.write_with(
          writer, short_name(file.file) + "-field" + std::to_string(field) + "-" + kFillNames[fill],
          file.file, overwritten(bytes, field, std::string(width, kFills[fill])));
    }
  }
}

void write_records(CaptureWriter& writer, const CannTemplate& chip) {
  for (const RecordFile& file : record_files(chip.is_stars)) {
    const std::string& bytes = chip.files.at(file.file);
    const std::size_t size = file.size, records = bytes.size() / size;
    const std::string stem = short_name(file.file);
    const auto put = [&](const std::string& what, const std::string& damaged) {
      chip.write_with(writer, stem + "-" + what, file.file, damaged);
    };
    put("cut", bytes.substr(0, bytes.size() - size + file.fields[file.fields.size() / 2]));
    put("half", bytes.substr(0, (records + 1) / 2 * size));
    put("headless", bytes.substr(size / 2 + 1));
    put("empty", "");
    put("zeros", std::string(bytes.size(), '\0'));
    chip.write(writer, stem + "-missing", [&](Files& files) { files.erase(file.file); });
    chip.write(writer, stem + "-twice", [&](Files& files) {
      files[file.file.substr(0, file.file.size() - 1) + "1"] = bytes;
    });
    if (file.has_magic) {
      const bool is_stars_log = file.file.starts_with("device_0/data/stars");
      put("magic", overwritten(bytes, records / 2 * size + (is_stars_log ? 2u : 0u), "\x11\x22"));
    }
    if (records < 4) continue;
    const std::size_t middle = records / 2 * size + 20;
    put("lost", without(bytes, middle, 1));
    put("extra", with_extra(bytes, middle));
    put("zero_records", overwritten(bytes, size, std::string(2 * size, '\0')));
  }
}

void write_counts(CaptureWriter& writer, const CannTemplate& chip) {
  const std::string host = "host/data/", device = "device_0/data/";
  struct Count {
    std::string file;
    std::size_t at;
    std::uint32_t most;
  };
  for (const Count& count : {Count{host + "aging.additional.tensor_info.slice_0", 32, 5},
                             Count{host + "aging.additional.context_id_info.slice_0", 32, 55},
                             Count{host + "unaging.additional.fusion_op_info.slice_0", 32, 8},
                             Count{device + "lpmFreqConv.data.0.slice_0", 0, 55}}) {
    for (const std::uint32_t value : {0u, count.most + 1, 0xffffffffu}) {
      chip.write_with(writer, short_name(count.file) + "-count" + std::to_string(value), count.file,
                      overwritten(chip.files.at(count.file), count.at, u32_bytes(value)));
    }
  }
  const std::string api = host + "aging.api_event.data.slice_0";
  chip.write_with(writer, "api-unknown_type", api,
                  overwritten(chip.files.at(api), 40 * 3 + 4, u32_bytes(987'654)));
  for (const std::uint64_t end :
       {std::uint64_t{1}, ~std::uint64_t{0} - 1, std::uint64_t{1} << 63}) {
    chip.write_with(writer, "api-end" + std::to_string(end), api,
                    overwritten(chip.files.at(api), 40 * 5 + 24, u64_bytes(end)));
  }
  const std::string frequency = device + "lpmFreqConv.data.0.slice_0";
  chip.write_with(writer, "frequency0", frequency,
                  overwritten(chip.files.at(frequency), 16, u32_bytes(0)));
}

void write_dictionaries(CaptureWriter& writer, const CannTemplate& chip) {
  const std::string bad[] = {std::string(1 << 16, 'x') + "\n", std::string(5000, '\0') + "\n",
                             "no colon\n:\n::\n-5:a\n1e9:b\n\n99999999999999999999999:too great\n",
                             "12:\xff\xfe\n"};
  for (const std::string name : {"hash_dic", "type_info_dic"}) {
    const std::string file = "host/data/unaging.additional." + name + ".slice_0";
    for (std::size_t i = 0; i < std::size(bad); ++i) {
      chip.write_with(writer, name + "-bad" + std::to_string(i), file,
                      i % 2 == 0 ? bad[i] + chip.files.at(file) : chip.files.at(file) + bad[i]);
    }
    chip.write(writer, name + "-missing", [&](Files& files) { files.erase(file); });
  }
}

void write_info_files(CaptureWriter& writer, const CannTemplate& chip) {
  for (const std::string file :
       {"host/info.json", "host/sample.json", "host/start_info", "host/end_info",
        "host/host_start.log", "device_0/info.json.0", "device_0/sample.json",
        "device_0/start_info.0", "device_0/end_info.0", "device_0/host_start.log.0",
        "device_0/dev_start.log.0"}) {
    const std::string name =
        file.substr(0, file.find('/')) + "_" + fs::path(file).filename().string();
    constexpr const char* kTexts[] = {"", "{", "{\"a\": 1}"};
    for (std::size_t i = 0; i < std::size(kTexts); ++i) {
      chip.write_with(writer, name + "-text" + std::to_string(i), file, kTexts[i]);
    }
    chip.write(writer, name + "-missing", [&](Files& files) { files.erase(file); });
  }
  std::string lines = chip.files.at("host/info.json");
  for (std::size_t at = 0; (at = lines.find(", ", at)) != std::string::npos; ++at) {
    lines.replace(at, 2, ",\r\n\t");
  }
  chip.write_with(writer, "info-lines", "host/info.json", "\xEF\xBB\xBF\n" + lines + "\n\n");
  chip.write_with(writer, "info-two", "device_0/info.json.1",
                  chip.files.at("device_0/info.json.0"));
}

// Cuts a slice into three, numbered 2, 10 and 9, so that the records are out of order when slices
// are read by number.
void cut_into_slices(Files& files, const RecordFile& file) {
  const std::string bytes = files.at(file.file);
  const std::size_t third = bytes.size() / file.size / 3 * file.size;
  const std::string stem = file.file.substr(0, file.file.size() - 1);
  files[stem + "2"] = bytes.substr(0, third);
  files[stem + "10"] = bytes.substr(third, third);
  files[stem + "9"] = bytes.substr(2 * third);
  for (const char* number : {"2", "10", "9"}) files[stem + number + ".done"] = "";
  files.erase(file.file);
  files.erase(file.file + ".done");
}

void write_folders(CaptureWriter& writer, const CannTemplate& chip) {
  const auto all = record_files(chip.is_stars);
  chip.write(writer, "folder-slices", [&](Files& files) {
    for (const RecordFile& file : all) {
      if (files.at(file.file).size() / file.size >= 3) cut_into_slices(files, file);
    }
  });
  chip.write(writer, "folder-straddle", [&](Files& files) {
    for (const RecordFile& file : all) {
      const std::string bytes = files.at(file.file);
      if (bytes.size() < 2 * file.size) continue;
      const std::string next = file.file.substr(0, file.file.size() - 1) + "1";
      const std::size_t cut = bytes.size() / file.size / 2 * file.size + file.size / 2 + 3;
      files[file.file] = bytes.substr(0, cut);
      files[next] = bytes.substr(cut);
      files[next + ".done"] = "";
    }
  });
  chip.write(writer, "folder-companions", [&](Files& files) {
    for (const RecordFile& file : all) {
      files[file.file + ".zip"] = files.at(file.file);
      files[file.file + ".complete"] = "";
    }
    files["host/data/all_file.complete"] = "";
  });
  chip.write(writer, "folder-strangers", [&](Files& files) {
    files["device_0/data/hbm.data.0.slice_0"] = std::string(240, 'h');
    files["host/data/aging.additional.brand_new.slice_0"] = "new";
    files["notes/data/todo.txt"] = "nothing";
    files["device_x/readme"] = "nothing";
  });
  chip.write(writer, "folder-no_device", [](Files& files) {
    std::erase_if(files, [](const auto& file) { return file.first.starts_with("device_0/"); });
  });
  chip.write(writer, "folder-no_host", [](Files& files) {
    std::erase_if(files, [](const auto& file) { return file.first.starts_with("host/"); });
  });
  chip.write(writer, "folder-nothing", [](Files& files) { files.clear(); });
  chip.write(writer, "folder-link", [](Files&) {});
  const fs::path linked = writer.folder("damage_cann/" + chip.name + "-folder-link");
  fs::rename(linked / kProf / "device_0", linked / "elsewhere");
  fs::create_directory_symlink("../elsewhere", linked / kProf / "device_0");
}

void write_platforms(CaptureWriter& writer) {
  for (const std::string platform : {"0", "7", "15", "99", "-1", "abc", ""}) {
    prof::ProfSetup setup;
    setup.platform = platform;
    prof::RunShape shape;
    shape.tasks = 60;
    writer.write("damage_cann/platform" + platform, kProf, run_files(setup, shape));
  }
}

void write_cann_damage(CaptureWriter& writer) {
  const CannTemplate stars("910b", true, {});
  const CannTemplate hwts("910a", false, prof::setup_910a());
  const CannTemplate other("310p", false, prof::setup_310p());
  write_fields(writer, stars);
  write_fields(writer, other);
  write_records(writer, stars);
  write_records(writer, hwts);
  write_counts(writer, stars);
  write_dictionaries(writer, stars);
  write_info_files(writer, stars);
  write_folders(writer, stars);
  write_folders(writer, hwts);
  write_platforms(writer);
}

// ---- damaged JOB folders ----

// Makes the same changes to each file of records: to its header, its fields, its end and its .done.
void write_job_damage(CaptureWriter& writer) {
  const Files whole = face_files();
  const auto put = [&](const std::string& name, const std::string& file, const std::string& bytes) {
    Files files = whole;
    files[file] = bytes;
    writer.write("damage_svp/" + name, kJob, files);
  };
  const auto put_missing = [&](const std::string& name, const std::string& file) {
    Files files = whole;
    files.erase(file);
    writer.write("damage_svp/" + name, kJob, files);
  };
  constexpr char kFills[] = {'\0', '\xff', '\x7f'};
  constexpr std::size_t kHeader = 16;
  for (const auto& [file, bytes] : whole) {
    const std::string stem = short_name(file);
    put_missing(stem + "-missing", file);
    put(stem + "-empty", file, "");
    put(stem + "-half", file, bytes.substr(0, bytes.size() / 2));
    if (!bytes.starts_with("MSVP")) {
      put(stem + "-nonsense", file, "\xff\xfe{[\n\tx\n" + bytes);
      continue;
    }
    const std::size_t record = file.find("/aicore.") != std::string::npos ? 112 : 32;
    for (std::size_t at = 0; at < kHeader; at += 2) {
      put(stem + "-header" + std::to_string(at), file, patched(bytes, at, "\x07\x00"));
    }
    for (std::size_t at = 0; at + 8 <= record; at += 8) {
      put(stem + "-field" + std::to_string(at), file,
          patched(bytes, kHeader + record + at, std::string(8, kFills[at / 8 % 3])));
    }
    put(stem + "-impossible", file, patched(bytes, kHeader + record, u32_bytes(1'000'001)));
    put(stem + "-lost", file, without(bytes, kHeader + record + 5, 1));
    put(stem + "-extra", file, with_extra(bytes, kHeader + record + 5));
    put(stem + "-trailing", file, bytes + "1234567");
    put(stem + "-cut", file, bytes.substr(0, bytes.size() - 9));
  }
}

// ---- random damage ----

void write_soak(CaptureWriter& writer, std::uint64_t count) {
  prof::RunShape shape;
  shape.tasks = 120;
  shape.flip_at = 48;
  shape.slice_limit = 16u << 10;
  const std::pair<std::string, Files> templates[] = {{kJob, face_files()},
                                                     {kProf, run_files({}, shape)},
                                                     {kProf, run_files(prof::setup_910a(), shape)},
                                                     {kProf, run_files(prof::setup_310p(), shape)}};
  for (std::uint64_t number = 0; number < count; ++number) {
    SoakRandom random(1000 + number);
    Damage damage(random);
    auto [capture, files] = templates[number % std::size(templates)];
    std::string story;
    damage.apply(files, story);
    writer.write("soak/trial" + numbered(number), capture, files);
  }
}

// ---- inputs of the fuzz targets ----

std::vector<std::string> list_inputs(const std::string& target, const fs::path& corpus) {
  auto inputs = fuzz::seeds(target);
  for (std::string& kept : fuzz::hex_corpus(corpus, target)) inputs.push_back(std::move(kept));
  return inputs;
}

// Lays out the input as fuzz_job_folder does.
Files make_job_folder(std::string_view input) {
  Files files;
  fuzz::Pieces pieces(input);
  while (!pieces.empty()) {
    const bool in_data = pieces.number(1) % 2 == 1;
    const std::string name(pieces.take(pieces.number(1)));
    const std::string content(pieces.take(pieces.number(2)));
    const bool is_name = !name.empty() && name != "." && name != ".." &&
                         name.find_first_of(std::string_view("/\0", 2)) == std::string::npos;
    if (!is_name || (!in_data && name == "data")) continue;
    files[in_data ? "data/" + name : name] = content;
  }
  return files;
}

void write_fuzz(CaptureWriter& writer, const fs::path& corpus) {
  std::size_t number = 0;
  for (const std::string& input : list_inputs("job_folder", corpus)) {
    writer.write("fuzz/job_folder" + numbered(number), kJob, make_job_folder(input));
    fs::create_directories(writer.folder("fuzz/job_folder" + numbered(number)) / kJob / "data");
    ++number;
  }
  std::vector<Files> chips;
  for (const fuzz::CannChip chip : fuzz::kCannChips) chips.push_back(small_files(chip));
  for (const std::string target : {"cann_host", "cann_device", "cann_texts"}) {
    const auto names = fuzz::cann_file_names(target);
    number = 0;
    for (const std::string& input : list_inputs(target, corpus)) {
      fuzz::Pieces pieces(input);
      Files files = chips[target == "cann_device" ? pieces.number(1) % chips.size() : 0];
      while (!pieces.empty()) {
        const std::string& name = names[pieces.number(1) % names.size()];
        files[name] = pieces.take(pieces.number(2));
      }
      writer.write("fuzz/" + target + numbered(number++), kProf, files);
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fputs("usage: identity_captures OUT CORPUS\n", stderr);
    return 2;
  }
  CaptureWriter writer(argv[1]);
  write_scenes(writer);
  write_cann_damage(writer);
  write_job_damage(writer);
  write_soak(writer, 80);
  write_fuzz(writer, argv[2]);
  std::printf("%d\n", writer.count());
  return 0;
}
